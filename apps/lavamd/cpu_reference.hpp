// The forces on the CPU, by two implementations written apart from each other and from the kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/lavamd/lavamd.hpp"

namespace amasia::lavamd {

struct Setup {
  std::uint64_t seed;
  int input;
  int boxes1d;
  int particles;
};

struct Force {
  double component[4];  // v, x, y, z
  /// Sum of |charge(j)| exp(...): errors are measured against it, because sums may cancel.
  double scale;
};

/// The forces on the particles of one box, each pair as the formula has it, added in long double.
std::vector<Force> reference_forces(const Setup& setup, int home);

/// The same from sums over j of w, w x, w y, w z, with neighbours found by comparing coordinates of
/// all boxes: for small cubes.
std::vector<Force> reference_forces_from_sums(const Setup& setup, int home);

/// Largest error of one component over its scale. u = 2^-53, positions and v at most 1.
///   The exponent: its four products and sums are at most 3 in magnitude, eight roundings: 24 u.
///   The exponential: 2^x from table and polynomial of degree 5 truncates 20 u, rounds 6 u more;
///   libraries' exp is better. One more factor for what depends on i alone: 6 u.
///   A sum of n terms in any order: n u of the sum of magnitudes.
/// A component is 2 (x(i) S0 - Sx) at worst, two sums with |x| <= 1, and the factor 2: four times
/// that. Both sides of the comparison have it: twice.
constexpr double error_bound(double terms) { return 8 * (terms + 64) * 0x1p-53; }

/// Boxes that the CPU checks, at most `most`: all of them, or corners, and others at random.
std::vector<int> sampled_boxes(int boxes1d, int most, std::uint64_t seed);

/// Largest difference of two components over the scale of `right`.
double largest_error(const Force& got, const Force& right);

/// Adds a box to a verdict, whose bound is set.
void compare_box(int box, const std::vector<Force>& got, const std::vector<Force>& right,
                 Verdict& v);

Verdict check_references(const Parameters& p, std::uint64_t seed);

}  // namespace amasia::lavamd
