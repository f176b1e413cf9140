// Every schedule of lavamd, for all strategies. All have a block of four warps for each home box,
// which walks that box's list; how positions and charges of the boxes travel is no part of it.
#pragma once

#include <vector>

#include "harness/app.hpp"

namespace amasia::lavamd {

inline constexpr int warps = 4, threads = 32 * warps;

inline constexpr const char *iso_name = "iso", *vector_name = "vector", *tensor_name = "tensor";

inline std::vector<Schedule> all_schedules() {
  return {
      {iso_name,
       "Rodinia's: 128 threads per home box, a particle each, all particles of each neighbour in "
       "turn"},
      {tensor_name,
       "a warp has all home particles and every fourth group of eight neighbours; distances and "
       "sums on the fp64 tensor cores, 2^x from a table in registers"},
      {vector_name,
       "as tensor without tensor cores: a lane has seven home particles, half a warp each second "
       "neighbour"},
  };
}

/// Groups of eight neighbours in a box.
AMASIA_HD constexpr int groups_of(int particles) { return (particles + group - 1) / group; }

/// Group `index` of tile `tile` counts over all tiles of a block, and goes to warps in turn. The
/// first group of a tile that warp `warp` has.
AMASIA_HD constexpr int first_group(int tile, int groups, int warp) {
  return (warp - tile * groups % warps + warps) % warps;
}

}  // namespace amasia::lavamd
