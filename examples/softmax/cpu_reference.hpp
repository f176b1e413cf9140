// The CPU reference of softmax, and a second one that checks it.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/app.hpp"
#include "softmax.hpp"

namespace amasia::softmax {

/// Row `row` of the result of a matrix of `columns` columns whose elements are those of input_at(),
/// in fp64.
std::vector<double> reference_row(std::uint64_t seed, std::int64_t row, std::int64_t columns);

/// reference_row() against the logarithm of the sum, over all rows.
Verdict check_reference_rows(std::uint64_t seed, std::int64_t rows, std::int64_t columns);

}  // namespace amasia::softmax
