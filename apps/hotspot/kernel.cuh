// The computation of hotspot, written once: every variant, the reference on the device and the CPU
// tests call these functions.
//
// North and south, and west and east, enter as sums. Addition commutes, so a cell and its mirror
// image beyond an edge go through the same roundings, and all variants, whatever their tiles,
// passes and halos, compute every cell bit for bit alike. Verification relies on it.
#pragma once

#include <cmath>

#include "apps/hotspot/hotspot.hpp"
#include "variants/host_device.hpp"

namespace amasia::hotspot {

/// What a cell gains in one step from its power and the surroundings: constant over time.
AMASIA_HD inline float source_term(float power, const Coefficients& k) {
  return fmaf(k.power, power, k.ambient);
}

/// One step of one cell.
AMASIA_HD inline float advance(float centre, float north, float south, float west, float east,
                               float source, const Coefficients& k) {
  return fmaf(k.vertical, north + south,
              fmaf(k.centre, centre, fmaf(k.horizontal, west + east, source)));
}

}  // namespace amasia::hotspot
