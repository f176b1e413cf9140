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
/// on occupancy: more registers for each thread are fewer blocks on an SM. 20 steps are 12 + 8:
/// their halos are whole multiples of four columns, that of 10 steps is not.
template <int WARPS, int REGISTERS, int... STEPS>
struct Streaming {
  static constexpr int warps = WARPS;
  static constexpr int registers_beyond_cells = REGISTERS;
  static constexpr std::array<int, sizeof...(STEPS)> steps{STEPS...};
  /// Whether 12 steps are code for a row-block, with register moves, rather than for a period of
  /// the register roles: a third of the instructions to be fetched, 5 % more to be executed.
  static constexpr bool rolled = WARPS <= 4;
};

struct FourWarps : Streaming<4, 40, 1, 5, 8, 12> {
  static constexpr std::string_view name = "4-warps";
};
/// Enough for threads that hold the next row-block in registers while they compute.
struct FourWarpsRoomy : Streaming<4, 80, 1, 5, 8, 12> {
  static constexpr std::string_view name = "4-warps-roomy";
};
/// A small grid is over before a long pass has streamed in its halo.
struct FourWarpsShort : Streaming<4, 56, 1, 4, 8> {
  static constexpr std::string_view name = "4-warps-8-steps";
};
struct EightWarps : Streaming<8, 40, 1, 5, 8, 12> {
  static constexpr std::string_view name = "8-warps";
};
/// The passes for which a producer warp has registers enough: it has to be given as many as a warp
/// that computes.
struct EightWarpsShort : Streaming<8, 40, 1, 5> {
  static constexpr std::string_view name = "8-warps-5-steps";
};

using StreamingSchedules =
    std::tuple<FourWarps, FourWarpsRoomy, FourWarpsShort, EightWarps, EightWarpsShort>;

inline constexpr std::string_view iso_name = "iso", iso_walk_name = "iso-walk",
                                  square_name = "64x64";

inline constexpr Schedule schedules[] = {
    {iso_name, "Rodinia's: 16 x 16 threads, one tile per block, two steps per launch"},
    {iso_walk_name, "iso's tiles and steps, but as many blocks as fit walk the tiles"},
    {FourWarps::name,
     "windows of 128 columns stream down the grid, 4 warps a block, up to 12 steps a pass"},
    {FourWarpsRoomy::name, "4-warps with 40 more registers for each thread, so fewer blocks an SM"},
    {FourWarpsShort::name, "4-warps with passes of 8 steps at most, for small grids"},
    {EightWarps::name, "blocks of 8 warps, up to 12 steps a pass"},
    {EightWarpsShort::name, "8-warps with passes of 5 steps at most"},
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
