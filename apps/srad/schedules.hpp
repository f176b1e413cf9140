// Every schedule of srad, named once for all strategies, and which arrays the launches of a run
// read and write. Nothing here says how data moves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/srad/srad.hpp"

namespace amasia::srad {

inline constexpr std::string_view iso_name = "iso", strips_name = "strips",
                                  dependent_name = "strips-dependent";

inline constexpr Schedule schedules[] = {
    {iso_name, "Rodinia's: 16 x 16 threads, a tile per block, two launches per iteration"},
    {strips_name,
     "one launch per iteration; warps walk strips of 128 columns, down and up in turns"},
    {dependent_name, "strips by programmatic dependent launch"}};

/// One iteration of `strips`. Iterations alternate between scratch and result, so that the last one
/// writes result and none writes the input. Rows that were written last may still be in the L2, so
/// every second iteration starts where the one before it ended.
struct Iteration {
  Grid<const float> source;
  Grid<float> destination;
  bool upwards = false;
};
inline std::vector<Iteration> ping_pong(const Problem& problem) {
  std::vector<Iteration> all;
  Grid<const float> source = problem.image;
  for (int i = 0; i < problem.iterations; ++i) {
    const Grid<float>& to =
        (problem.iterations - 1 - i) % 2 == 0 ? problem.result : problem.scratch;
    all.push_back({source, to, i % 2 == 1});
    source = {to.data, to.rows, to.columns, to.pitch};
  }
  return all;
}

}  // namespace amasia::srad
