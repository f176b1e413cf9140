// Every schedule of pathfinder, for all strategies: how the grid is cut, in which order its cells
// are computed and what is launched. How walls and costs move is no part of it (geometry.hpp,
// Movement).
//
// `iso` is the original (geometry.hpp, Pyramid). The others are strips (geometry.hpp, Strips):
// windows of 32 * lane_columns costs, a warp each, `stride` columns apart; a block of `warps`
// windows exchanges with other blocks after every `exchanges` exchanges of its own.
//
// Tall ones are for grids that the chain from row to row bounds. One or two rows of them take a
// latency, so there are few windows per SM and all of them have to be resident at once. Wide ones
// are for grids that memory bounds: 12 columns per lane, an odd multiple of 16 bytes, so that lanes
// meet in no bank of shared memory.
#pragma once

#include <string_view>
#include <vector>

#include "apps/common/start.hpp"
#include "harness/app.hpp"

namespace amasia::pathfinder {

template <int WARPS, int LANE_COLUMNS, int STRIDE, int EXCHANGES, int ROUND, int BLOCKS_PER_SM = 1>
struct StripSchedule {
  static constexpr int warps = WARPS;
  static constexpr int lane_columns = LANE_COLUMNS;
  static constexpr int stride = STRIDE;
  static constexpr int exchanges = EXCHANGES;
  static constexpr int round = ROUND;                  // rows per round of shuffles
  static constexpr int blocks_per_sm = BLOCKS_PER_SM;  // that registers must allow
  static constexpr bool tall = LANE_COLUMNS < 12;
};

struct Tall2 : StripSchedule<2, 4, 72, 2, 2> {
  static constexpr std::string_view name = "tall-2";
  static constexpr std::string_view summary =
      "persistent strips: 2 windows of 128 columns per block, 72 apart";
};
struct Tall3 : StripSchedule<3, 4, 56, 2, 2> {
  static constexpr std::string_view name = "tall-3";
  static constexpr std::string_view summary =
      "persistent strips: 3 windows of 128 columns per block, 56 apart";
};
struct Tall3Close : StripSchedule<3, 4, 48, 2, 2, 2> {
  static constexpr std::string_view name = "tall-3-48";
  static constexpr std::string_view summary =
      "as tall-3 with windows 48 apart, a wider halo and fewer exchanges; 2 blocks per SM";
};
struct Tall3Cluster : StripSchedule<3, 4, 48, 7, 2> {
  static constexpr std::string_view name = "tall-3-84";
  static constexpr std::string_view summary =
      "tall-3-48 with 84 columns finished per block, not 64, and fewer outer exchanges; needs "
      "groups "
      "of blocks";
};
struct Middle : StripSchedule<3, 12, 320, 1, 1> {
  static constexpr std::string_view name = "middle";
  static constexpr std::string_view summary =
      "strips: 3 windows of 384 columns per block, 320 apart; persistent where all are resident";
};
struct MiddleClose : StripSchedule<3, 12, 304, 1, 1> {
  static constexpr std::string_view name = "middle-304";
  static constexpr std::string_view summary =
      "as middle with windows 304 apart: a wider halo and fewer exchanges";
};
struct Wide8 : StripSchedule<8, 12, 320, 1, 1, 3> {
  static constexpr std::string_view name = "wide-8";
  static constexpr std::string_view summary =
      "strips: 8 windows of 384 columns per block, 3 blocks per SM; persistent where all are "
      "resident";
};
struct Wide25 : StripSchedule<25, 12, 320, 1, 1> {
  static constexpr std::string_view name = "wide-25";
  static constexpr std::string_view summary =
      "strips: 25 windows of 384 columns, 8000 columns finished per block; persistent where all "
      "are resident";
};

inline constexpr const char *iso_name = "iso", *iso_dependent_name = "iso-dependent";

template <class... Strip>
std::vector<Schedule> iso_and() {
  return {{iso_name, "Rodinia's pyramid: 256 threads, a column each, 20 rows per launch"},
          {iso_dependent_name, "iso by programmatic dependent launch"},
          {Strip::name, Strip::summary}...};
}

inline std::vector<Schedule> all_schedules() {
  return iso_and<Tall2, Tall3, Tall3Close, Tall3Cluster, Middle, MiddleClose, Wide8, Wide25>();
}

}  // namespace amasia::pathfinder
