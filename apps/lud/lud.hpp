// lud: LU decomposition without pivoting, in place, fp32 (Rodinia's LUD). A = L U, L with a unit
// diagonal:
//
//   for k:  for i > k:     A(i,k) /= A(k,k)                 a column of L
//           for i, j > k:  A(i,j) -= A(i,k) A(k,j)          the trailing update
//
// afterwards U is A on and above the diagonal, L below it. Without pivoting it is for matrices that
// do not need it: the generated ones are strictly diagonally dominant, Rodinia's own is symmetric
// positive definite, and a matrix from a file has to pass a trial elimination.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/app.hpp"
#include "inputs/random.hpp"
#include "variants/geometry/tile.hpp"

namespace amasia::lud {

/// Order of the diagonal blocks of the blocked schedule (blocked.hpp); here because the scratch
/// below is one such block each.
inline constexpr int panel_width = 128;
/// Order of the sub-blocks on its diagonal that are inverted: a row, or column, per lane of a warp.
inline constexpr int solve_edge = 32;

/// What a variant works on. Device pointers. `matrix` holds A and ends with L and U in its place;
/// the padding behind its rows may be read and overwritten. The scratch blocks are free for the
/// variant; the blocked schedule keeps what panels are solved with in them: the diagonal block's L
/// and U, with the inverses of their diagonal sub-blocks in place of these.
struct Problem {
  Grid<float> matrix;
  Grid<float> lower;  // (panel_width, panel_width)
  Grid<float> upper;  // (panel_width, panel_width)
};

/// random: strictly diagonally dominant. rodinia: what Rodinia's create_matrix makes.
enum class Input { random, rodinia };

const std::vector<ParameterSpec>& parameter_specs();
Input input_of(const Parameters& p);

/// Diagonal of the random matrix before its sign and spread. The other elements of a row are
/// uniform in
/// [-1, 1): their magnitudes add up to n / 2 with a standard deviation of 0.29 sqrt(n), so that n /
/// 2
/// + 4 sqrt(n) exceeds the sum by 13 deviations (and the guaranteed n where that is less). The
/// diagonal is no larger than it must be: elements of L are then as large as dominance allows
/// (about 1 / n), and an update that was left out stands as far above rounding as it can.
inline float least_diagonal(std::int64_t n, float root_of_n) {
  const float x = static_cast<float>(n);
  const float sufficient = 0.5f * x + 4 * root_of_n;
  return sufficient < x ? sufficient : x;
}

/// Element (i, j) of the random matrix.
AMASIA_HD inline float random_element(std::uint64_t seed, std::int64_t n, std::int64_t i,
                                      std::int64_t j, float diagonal) {
  const std::uint64_t cell = static_cast<std::uint64_t>(i * n + j);
  const float unit = random_unit(seed, 0, cell);
  if (i != j) return 2 * unit - 1;
  const float magnitude = diagonal * (1 + 0.25f * unit);
  return random_bits(seed, 1, cell) % 2 == 0 ? magnitude : -magnitude;
}

}  // namespace amasia::lud
