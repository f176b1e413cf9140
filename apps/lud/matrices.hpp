// The matrices of lud on the host: generated, Rodinia's, or from a file; the instance on the
// device, without CUDA headers.
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
  double condition = 1;  // Trial::condition of a matrix from a file
};

/// The instance behind the app's own exports.
class LudInstance : public InstanceOf<Problem> {
 public:
  /// L and U of the last run in one matrix, as they lie in memory. Synchronous.
  virtual HostMatrix download_result() const = 0;
};

/// Whether it is strictly diagonally dominant, by rows or by columns: then nothing grows in
/// elimination, and L and U are well-conditioned. Of any other matrix two right decompositions may
/// differ in every digit, so it is judged by its backward error alone.
bool is_dominant(const HostMatrix& matrix);

/// Element (i, j) of Rodinia's matrix is table[|i - j|]: 10 exp(-0.001 |i - j|), the exponent in
/// fp32, exp in fp64, the product rounded to fp32 (lud/common of Rodinia 3.1, create_matrix). It is
/// a Kac-Murdock-Szego matrix: positive definite, and not diagonally dominant.
std::vector<float> rodinia_table(std::int64_t n);

/// The input on the host: generated, or read from the file the parameters name. Throws UsageError
/// for a bad file, one of another order, and a matrix that must not be decomposed without pivoting.
HostMatrix host_matrix(const Parameters& p, std::uint64_t seed);

/// What a trial elimination in fp64 found.
struct Trial {
  /// Why elimination without pivoting must not be trusted with this matrix; empty when it may.
  std::optional<std::string> objection{};
  /// The largest element of |T| |T^-1| over the diagonal sub-blocks T, of solve_edge lines, of L
  /// and U. Who multiplies by an inverse of T instead of solving has a backward error as many times
  /// larger. 1 where the matrix is dominant.
  double condition = 1;
};

/// A dominant matrix needs no trial. Any other is eliminated in fp64. Objections, with the step:
///
/// - a pivot that is zero
/// - a pivot no larger than the fp32 rounding of the numbers it is the difference of: none of its
///   digits would be right
/// - |L| |U| more than `largest_growth` times the largest element
Trial trial_of(const HostMatrix& matrix);
inline constexpr double largest_growth = 1e3;  // three of fp32's seven digits
/// Largest order of a matrix that is not dominant: the trial is O(n^3) on the CPU.
inline constexpr std::int64_t largest_trial = 4096;

}  // namespace amasia::lud
