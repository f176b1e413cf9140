// Every schedule of nw: what a config does besides moving data. Each is named here once, for all
// strategies; geometry.hpp has the index arithmetic that follows from these numbers.
#pragma once

#include <string_view>
#include <vector>

#include "harness/app.hpp"

namespace amasia::nw {

/// The original (Rodinia): tiles of 16 x 16 cells, a block of 16 threads per tile, and a launch per
/// anti-diagonal of tiles.
struct Iso {
  static constexpr std::string_view name = "iso";
  static constexpr int tiles = 1;  // one below the other, per launch and column of tiles
};

/// Two tiles, one below the other, per launch: fewer launches, each as long as two tiles.
struct IsoPairs {
  static constexpr std::string_view name = "iso-pairs";
  static constexpr int tiles = 2;
};

/// One persistent launch: a warp walks a band of 32 * lane_rows rows from left to right, a lane
/// makes lane_rows x 4 cells a step, and the bottom row goes to the band below hand_columns at a
/// time.
struct Bands128x32 {
  static constexpr std::string_view name = "bands-128x32";
  static constexpr int lane_rows = 4;
  static constexpr int hand_columns = 32;
};
/// One persistent launch: a warp walks a band of 128 columns down the rows, a lane makes a row of 4
/// cells a step, and the last column goes to the band to the right four rows at a time.
struct Columns128 {
  static constexpr std::string_view name = "columns-128";
};

/// The fewest rows that a band has in any schedule: what handing over needs most memory for.
inline constexpr int fewest_band_rows = 32 * Bands128x32::lane_rows;

inline std::vector<Schedule> all_schedules() {
  return {
      {Iso::name, "the original: 16 x 16 tiles, a launch per anti-diagonal of tiles"},
      {IsoPairs::name,
       "two 16 x 16 tiles, one below the other, in each launch: three quarters of the launches"},
      {Bands128x32::name,
       "one persistent launch of bands of 128 rows, 4 x 4 cells a step, bottom rows handed down 32 "
       "columns at a time"},
      {Columns128::name,
       "one persistent launch of bands of 128 columns, walked down the rows, 1 x 4 cells a step, "
       "last columns handed on four rows at a time"},
  };
}

}  // namespace amasia::nw
