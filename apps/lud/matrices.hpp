// The matrices of lud on the host: generated, Rodinia's, or from a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/lud/lud.hpp"

namespace amasia::lud {

/// A square matrix on the host, dense.
struct HostMatrix {
  std::int64_t n = 0;
  std::vector<float> elements;
};

/// Element (i, j) of Rodinia's matrix is table[|i - j|]: 10 exp(-0.001 |i - j|), the exponent in
/// fp32, exp in fp64, the product rounded to fp32 (lud/common of Rodinia 3.1, create_matrix). It is
/// a Kac-Murdock-Szego matrix: positive definite, and not diagonally dominant.
std::vector<float> rodinia_table(std::int64_t n);

/// The input on the host: generated, or read from the file the parameters name. Throws UsageError
/// for a bad file, one of another order, and a matrix that must not be decomposed without pivoting.
HostMatrix host_matrix(const Parameters& p, std::uint64_t seed);

/// Why elimination without pivoting must not be trusted with this matrix; empty when it may. A
/// row-wise or column-wise strictly dominant matrix needs no trial. Any other is eliminated in
/// fp64, and a reason is, with the step: a zero pivot; one no larger than what an fp32 rounding
/// leaves of the numbers that it is the difference of, so that none of its digits would be right;
/// |L| |U| more than `largest_growth` times the largest element.
std::optional<std::string> objection_to(const HostMatrix& matrix);
inline constexpr double largest_growth = 1e3;  // three of fp32's seven digits
/// Largest order of a matrix that is not dominant: the trial is O(n^3) on the CPU.
inline constexpr std::int64_t largest_trial = 4096;

}  // namespace amasia::lud
