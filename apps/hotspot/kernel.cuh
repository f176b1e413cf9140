// The computation of hotspot, written once: every variant and the CPU tests call these functions.
#pragma once

#include <cmath>

#include "apps/hotspot/hotspot.hpp"
#include "variants/host_device.hpp"

namespace amasia::hotspot {

/// What a cell gains in one step from its power and the surroundings: constant over time.
AMASIA_HD inline float source_term(float power, const Coefficients& k) {
  return fmaf(k.power, power, k.ambient);
}

/// The new temperature but for the south neighbour: all that can be said when rows arrive from the
/// north one by one.
AMASIA_HD inline float open_cell(float centre, float north, float west, float east, float source,
                                 const Coefficients& k) {
  return fmaf(k.centre, centre, fmaf(k.vertical, north, fmaf(k.horizontal, west + east, source)));
}

/// Adds the south neighbour.
AMASIA_HD inline float close_cell(float opened, float south, const Coefficients& k) {
  return fmaf(k.vertical, south, opened);
}

/// One step of one cell.
AMASIA_HD inline float advance(float centre, float north, float south, float west, float east,
                               float source, const Coefficients& k) {
  return close_cell(open_cell(centre, north, west, east, source, k), south, k);
}

}  // namespace amasia::hotspot
