// lud: LU decomposition without pivoting, in place, fp32 (Rodinia's LUD). A = L U, L with a unit
// diagonal:
//
//   for k:  for i > k:     A(i,k) /= A(k,k)                 a column of L
//           for i, j > k:  A(i,j) -= A(i,k) A(k,j)          the trailing update
//
// afterwards U is A on and above the diagonal, L below it. Without pivoting it is for matrices that
// do not need it: Input says which are generated, and a matrix from a file has to pass a trial
// elimination.
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
/// Order of the sub-blocks on its diagonal, with which is solved: a row, or column, per lane of a
/// warp when the block itself is decomposed.
inline constexpr int solve_edge = 32;

/// Panels that a schedule updates with at most (blocked.hpp).
inline constexpr int most_panels = 10;

/// What trailing updates are computed with: FFMA, or three products of tf32, as accurate as fp32
/// (apps/common/tf32.hpp), on tensor cores. Everything else is FFMA in either.
enum class Arithmetic { fp32, tf32x3 };

/// What a variant works on. Device pointers. `matrix` holds A and ends with L and U in its place;
/// the padding behind its rows may be read and overwritten. The scratch blocks are free for the
/// variant; the blocked schedule keeps what panels are solved with in them: the diagonal block's L
/// and U, of which the diagonal sub-blocks of U lie as SolveTile::substitute() reads them.
struct Problem {
  Grid<float> matrix;
  Grid<float> lower;  // (panel_width, panel_width)
  Grid<float> upper;  // (panel_width, panel_width)
  Arithmetic arithmetic = Arithmetic::fp32;
  // Of tf32x3, free for the variant: room for the panels of two groups as parts (row_of_hi()), of
  // L, and of U transposed. A group has as many rows as whole blocks have, and most_panels *
  // panel_width columns.
  Grid<float> left[2], right[2];
};

/// random: strictly diagonally dominant. rodinia: what Rodinia's create_matrix makes. The others
/// are not dominant, and show whether a decomposition is backward stable:
///
/// - uniform: all elements alike, [-1, 1). They grow in elimination.
/// - graded: uniform times a power of two that rises from 2^-10 to 1 along the diagonal. The first
///   pivots are small.
/// - ill_conditioned: the random matrix, between a lower and an upper triangle that make its
///   diagonal sub-blocks ill-conditioned (TriangleFactor). Nothing grows, and no pivot is small.
enum class Input { random, rodinia, uniform, graded, ill_conditioned };

const std::vector<ParameterSpec>& parameter_specs();
Input input_of(const Parameters& p);
Arithmetic arithmetic_of(const Parameters& p);

/// Diagonal of the random matrix before its sign and spread. The other elements of a row are
/// uniform in [-1, 1): their magnitudes add up to n / 2 with a standard deviation of 0.29 sqrt(n),
/// so that n / 2 + 4 sqrt(n) exceeds the sum by 13 deviations (and the guaranteed n where that is
/// less). The diagonal is no larger than it must be: elements of L are then as large as dominance
/// allows (about 1 / n), and an update that was left out stands as far above rounding as it can.
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

AMASIA_HD inline float uniform_element(std::uint64_t seed, std::int64_t n, std::int64_t i,
                                       std::int64_t j) {
  return 2 * random_unit(seed, 0, static_cast<std::uint64_t>(i * n + j)) - 1;
}

/// Element (i, j) of the graded matrix: exact, because the factor is a power of two.
AMASIA_HD inline float graded_element(std::uint64_t seed, std::int64_t n, std::int64_t i,
                                      std::int64_t j) {
  constexpr int powers = 10;
  const std::int64_t before_last = n - 1 - (i > j ? i : j);
  return uniform_element(seed, n, i, j) /
         static_cast<float>(1 << static_cast<int>(powers * before_last / n));
}

/// The factors of the ill-conditioned matrix F C G, with C the random one: unit triangles with one
/// element per line besides the diagonal's, next to it. F is lower and has it in every other
/// sub-block of solve_edge lines, G is upper and has it in the others. C = L U is dominant, so F L
/// and U G are what F C G decomposes into, with U's pivots. Of the triangles T that panels are
/// solved with, |T| |T^-1| is up to 32^3, already within the first four lines of a sub-block; who
/// multiplies by an inverse, of 32 lines or of four, has errors as many times larger.
struct TriangleFactor {
  static constexpr int large = 32;  // three times in a row; one in a sub-block's other lines
  bool lower;
  AMASIA_HD constexpr int beside_diagonal(std::int64_t line) const {
    const auto in_block = static_cast<int>(line % solve_edge);
    if ((line / solve_edge % 2 == 0) != lower || in_block == 0) return 0;
    return in_block < 4 ? large : 1;
  }
};

/// Element (i, j) of the ill-conditioned matrix. Sums of four in fp64, rounded once.
AMASIA_HD inline float ill_conditioned_element(std::uint64_t seed, std::int64_t n, std::int64_t i,
                                               std::int64_t j, float diagonal) {
  const auto c = [&](std::int64_t row, std::int64_t column) {
    return static_cast<double>(random_element(seed, n, row, column, diagonal));
  };
  const int f = TriangleFactor{true}.beside_diagonal(i);
  const int g = TriangleFactor{false}.beside_diagonal(j);
  double sum = c(i, j);
  if (f != 0) sum += f * c(i - 1, j);
  if (g != 0) sum += g * c(i, j - 1);
  if (f != 0 && g != 0) sum += f * g * c(i - 1, j - 1);
  return static_cast<float>(sum);
}

/// Element (i, j) of any generated matrix but Rodinia's, which is a table (matrices.hpp);
/// `diagonal`: least_diagonal().
AMASIA_HD inline float generated_element(Input input, std::uint64_t seed, std::int64_t n,
                                         std::int64_t i, std::int64_t j, float diagonal) {
  switch (input) {
    case Input::uniform:
      return uniform_element(seed, n, i, j);
    case Input::graded:
      return graded_element(seed, n, i, j);
    case Input::ill_conditioned:
      return ill_conditioned_element(seed, n, i, j, diagonal);
    default:
      return random_element(seed, n, i, j, diagonal);
  }
}

}  // namespace amasia::lud
