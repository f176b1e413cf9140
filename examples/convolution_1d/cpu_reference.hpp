// The CPU reference of convolution_1d, and a second one that checks it.
#pragma once

#include <cstdint>
#include <vector>

#include "convolution_1d.hpp"
#include "harness/app.hpp"

namespace amasia::convolution_1d {

/// Row `row` of the result of a matrix of `columns` columns whose elements are those of input_at().
std::vector<float> reference_row(const Filter& filter, std::uint64_t seed, std::int64_t row,
                                 std::int64_t columns);

/// reference_row() against the sum in fp64, over all rows: within what 17 roundings can make.
Verdict check_reference_rows(std::uint64_t seed, std::int64_t rows, std::int64_t columns);

}  // namespace amasia::convolution_1d
