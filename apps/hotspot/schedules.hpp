// Every schedule of hotspot, named once for all strategies: how the grid is cut, who computes what,
// and how many time steps a pass over memory advances. Nothing here says how data moves.
#pragma once

#include <array>
#include <string_view>
#include <tuple>
#include <vector>

#include "apps/hotspot/hotspot.hpp"

namespace amasia::hotspot {

/// A streaming schedule (strip.hpp): warps side by side in a block, the steps that a pass may
/// advance, and how many registers a thread gets beyond the cells it holds. The last is the bound
/// on occupancy: more registers for each thread are fewer blocks on an SM.
template <int WARPS, int REGISTERS, int... STEPS>
struct Streaming {
  static constexpr int warps = WARPS;
  static constexpr int registers_beyond_cells = REGISTERS;
  static constexpr std::array<int, sizeof...(STEPS)> steps{STEPS...};
};

struct FourWarps : Streaming<4, 40, 1, 2, 5, 10, 12> {
  static constexpr std::string_view name = "4-warps";
};
/// Enough for threads that hold the next row-block in registers while they compute.
struct FourWarpsRoomy : Streaming<4, 80, 1, 2, 5, 10, 12> {
  static constexpr std::string_view name = "4-warps-roomy";
};
/// The halos of 8 and of 12 steps are whole multiples of four columns, that of 10 is not: 20 steps
/// as 12 + 8 stream 4 % fewer columns than as 10 + 10.
struct FourWarpsUneven : Streaming<4, 40, 1, 2, 5, 8, 12> {
  static constexpr std::string_view name = "4-warps-12-8";
};
/// A small grid is over before a long pass has streamed in its halo.
struct FourWarpsShort : Streaming<4, 56, 1, 2, 4, 8> {
  static constexpr std::string_view name = "4-warps-8-steps";
};
/// 560 or 520 columns a block: 8192 are 15 or 16 blocks and waste 2.5 or 1.6 % (8 warps: 9 %). No
/// pass of 12 steps: two of its warps would share a quarter of an SM, and of 16,384 registers.
struct FiveWarps : Streaming<5, 40, 1, 2, 5, 10> {
  static constexpr std::string_view name = "5-warps";
};
struct EightWarps : Streaming<8, 40, 1, 2, 5, 10, 12> {
  static constexpr std::string_view name = "8-warps";
};

using StreamingSchedules =
    std::tuple<FourWarps, FourWarpsRoomy, FourWarpsUneven, FourWarpsShort, FiveWarps, EightWarps>;

inline constexpr std::string_view iso_name = "iso", iso_walk_name = "iso-walk",
                                  square_name = "64x64";

inline constexpr Schedule schedules[] = {
    {iso_name, "Rodinia's: 16 x 16 threads, one tile per block, two steps per launch"},
    {iso_walk_name, "iso's tiles and steps, but as many blocks as fit walk the tiles"},
    {FourWarps::name,
     "windows of 128 columns stream down the grid, 4 warps a block, up to 12 steps a pass"},
    {FourWarpsRoomy::name, "4-warps with 40 more registers for each thread, so fewer blocks an SM"},
    {FourWarpsUneven::name, "4-warps with passes of 12 and 8 steps rather than of 10"},
    {FourWarpsShort::name, "4-warps with passes of 8 steps at most, for small grids"},
    {FiveWarps::name, "blocks of 5 warps, up to 10 steps a pass"},
    {EightWarps::name, "blocks of 8 warps, up to 12 steps a pass"},
    {square_name,
     "squares of 64 x 64 cells in registers, up to 20 steps a launch, for small grids"}};

/// `steps` as a sum of available passes with as few terms as possible, the most even such sum (a
/// pass of more steps has wider halos, so evenness costs least), in decreasing order. `available`
/// contains 1.
std::vector<int> plan_passes(int steps, const std::vector<int>& available);

struct Pass {
  int steps;
  Grid<const float> source;
  Grid<float> destination;
};

/// Alternates between scratch and result so that the last pass writes result and none writes an
/// input.
std::vector<Pass> ping_pong(const Problem& problem, const std::vector<int>& steps);

}  // namespace amasia::hotspot
