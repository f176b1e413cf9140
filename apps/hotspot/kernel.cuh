// The computation of hotspot, written once: every variant, the reference on the device and the CPU
// tests call these functions.
//
// The four neighbours of a cell enter as two pairs. Where row + column is even they are north +
// west and south + east, elsewhere north + east and south + west. The pair around the south of one
// cell is then the pair around the north of another, one row below:
//
//   even cell (r, c):  S + E = T(r+1, c) + T(r, c+1) = W + N of cell (r+1, c+1)
//   odd cell (r, c):   S + W = T(r+1, c) + T(r, c-1) = E + N of cell (r+1, c-1)
//
// A kernel that walks down rows computes each pair once, so a cell costs two additions and two
// FMAs.
//
// Addition commutes, and mirroring a cell about an edge changes its parity and exchanges west and
// east, or north and south. So a cell and its mirror image go through the same roundings, and all
// variants, whatever their tiles, passes and halos, compute every cell bit for bit alike.
// Verification relies on it.
#pragma once

#include <cmath>
#include <type_traits>

#include "apps/hotspot/hotspot.hpp"
#include "variants/host_device.hpp"

namespace amasia::hotspot {

/// What a cell gains in one step from its power and the surroundings: constant over time.
AMASIA_HD inline float source_term(float power, const Coefficients& k) {
  return fmaf(k.power, power, k.ambient);
}

AMASIA_HD constexpr bool is_even(std::int64_t row, std::int64_t column) {
  return ((static_cast<unsigned>(row) ^ static_cast<unsigned>(column)) & 1) == 0;
}

/// One step of one cell from its two pairs of neighbours; only where isotropic(k).
AMASIA_HD inline float advance_pairs(float centre, float north_pair, float south_pair, float source,
                                     const Coefficients& k) {
  return fmaf(k.vertical, north_pair + south_pair, fmaf(k.centre, centre, source));
}

/// One step of one cell. `with_north` and `with_south` are the neighbours in the cell's own row:
/// west and east of an even cell, east and west of an odd one.
template <bool ISOTROPIC>
AMASIA_HD inline float advance(float centre, float north, float south, float with_north,
                               float with_south, float source, const Coefficients& k) {
  if (ISOTROPIC) return advance_pairs(centre, north + with_north, south + with_south, source, k);
  return fmaf(k.vertical, north + south,
              fmaf(k.centre, centre, fmaf(k.horizontal, with_north + with_south, source)));
}

/// Calls steps(std::true_type) or steps(std::false_type): a loop over steps asks once, before it.
template <class Steps>
AMASIA_HD auto by_isotropy(const Coefficients& k, const Steps& steps) {
  return isotropic(k) ? steps(std::true_type{}) : steps(std::false_type{});
}

}  // namespace amasia::hotspot
