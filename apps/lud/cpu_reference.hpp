// The CPU references of lud, two of them, and how a result is judged by them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/lud/lud.hpp"
#include "apps/lud/matrices.hpp"

namespace amasia::lud {

/// The reference: row-oriented elimination (Doolittle) in fp64.
std::vector<double> reference(const HostMatrix& matrix);

/// Which of the two triangles has the unit diagonal. cuSOLVER, which is column-major, leaves
/// Crout's.
enum class Normalisation { unit_lower, unit_upper };
constexpr const char* name_of(Normalisation which) {
  return which == Normalisation::unit_lower ? "unit diagonal in L" : "unit diagonal in U";
}

/// Largest accepted |A - L U| (i,j) / (|L| |U|) (i,j) over all elements, the componentwise backward
/// error. An element is rounded at most n times for its products and n / 16 for its updates, each
/// time by at most u = 2^-24 of something no larger than (|L| |U|)(i,j). Independent roundings add
/// up as sqrt(n) u with overwhelming probability (Higham and Mary 2019); 4 of these deviations
/// cover n^2 elements whose partial sums are far below their bound, and 32 u the panels at small n.
double error_bound(std::int64_t n);
/// Largest accepted root of the mean square of the same errors. It refuses what is a little wrong
/// everywhere, such as factors rounded to 16 bits, which the largest error can let pass. Plain
/// elimination in fp32 has at most 0.035 error_bound(): all inputs, orders up to 2000.
double rms_bound(std::int64_t n);

/// What both bounds are multiplied by for a result. One: the strategies claim to be backward
/// stable on every matrix, and a method that solves with inverses of triangles is refused. A
/// library leaves the unit diagonal in U, and need not claim that: on a matrix that is not dominant
/// it is given the condition of the triangles. Input::ill_conditioned says how large that is for a
/// generated matrix, the trial elimination for one from a file. A file's may be beyond all bounds,
/// so that its slack ends where the bound is `largest_library_bound`.
double slack_of(Normalisation which, Input input);
double slack_of(Normalisation which, const HostMatrix& from_file);
/// Of |L| |U|. A slice of 16 columns that one update misses is an error of 0.1 and more up to order
/// 256, where all elements are alike.
inline constexpr double largest_library_bound = 0.01;

/// How far a decomposition without pivoting was from needing it.
struct Growth {
  double factor = 0;          // max |L| |U| / max |A|
  double smallest_pivot = 0;  // its magnitude / max |A|
  std::int64_t step = 0;      // that pivot's, from 1
};

/// Completes a verdict on all elements' errors: its norm shows the normalisation, growth, smallest
/// pivot and `rms` of the errors, which is judged as well. `slack`: of the bounds.
Verdict with_rms(Verdict verdict, Normalisation which, const Growth& growth, double rms,
                 std::int64_t n, double slack);

/// Componentwise backward error of `got` (n x n, rows `pitch` apart) in fp64 on the CPU; for small
/// n. `slack`: of the bound.
Verdict compare(const float* got, std::int64_t pitch, const HostMatrix& matrix, Normalisation which,
                double slack = 1);
/// The normalisation that reproduces the first row and column better.
Normalisation normalisation_of(const float* got, std::int64_t pitch, const HostMatrix& matrix);

/// The verdict of `verify --reference`. On a dominant matrix the two references are compared with
/// each other. On any other, each is judged by its componentwise backward error.
Verdict check_references(const Parameters& p, std::uint64_t seed);

}  // namespace amasia::lud
