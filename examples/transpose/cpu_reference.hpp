// The CPU reference of transpose, and a second one that checks it.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/app.hpp"
#include "transpose.hpp"

namespace amasia::transpose {

/// Matrix `matrix` of the batch whose elements are those of input_at(), transposed.
std::vector<float> reference_matrix(std::uint64_t seed, std::int64_t matrix, int n);

/// reference_matrix() against the place that source_of() names, for all matrices of the batch.
Verdict check_reference_matrices(std::uint64_t seed, std::int64_t count, int n);

}  // namespace amasia::transpose
