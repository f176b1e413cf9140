// How many time steps each pass advances, and which grids it reads and writes. Host code.
#pragma once

#include <initializer_list>
#include <vector>

#include "apps/hotspot/hotspot.hpp"

namespace amasia::hotspot {

/// `steps` as a sum of available passes with as few terms as possible, the most even such sum (a
/// pass of more steps has wider halos, so evenness costs least), in decreasing order. `available`
/// contains 1.
std::vector<int> plan_passes(int steps, std::initializer_list<int> available);

struct Pass {
  int steps;
  Grid<const float> source;
  Grid<float> destination;
};

/// Alternates between scratch and result so that the last pass writes result and none writes an
/// input.
std::vector<Pass> ping_pong(const Problem& problem, const std::vector<int>& steps);

}  // namespace amasia::hotspot
