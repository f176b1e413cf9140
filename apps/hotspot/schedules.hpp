// Every schedule of hotspot, named once for all strategies: how the grid is cut, who computes what,
// and how many time steps a pass over memory advances. Nothing here says how data moves.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "apps/common/start.hpp"
#include "apps/hotspot/hotspot.hpp"

namespace amasia::hotspot {

inline constexpr Start starts[] = {Start::in_turn, Start::dependent};
/// The name of a schedule that exists with both.
inline std::string schedule_name(std::string_view schedule, Start start) {
  return std::string(schedule) + (start == Start::dependent ? "-dependent" : "");
}

/// A streaming schedule (geometry.hpp): warps side by side in a block, the steps that a pass may
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
  static constexpr Start start = Start::in_turn;
};

struct FourWarps : Streaming<4, 40, 1, 5, 8, 12> {
  static constexpr std::string_view name = "4-warps";
};
/// Enough for threads that hold the next row-block in registers while they compute.
struct FourWarpsRoomy : Streaming<4, 80, 1, 5, 8, 12> {
  static constexpr std::string_view name = "4-warps-roomy";
};
struct FourWarpsDependent : FourWarps {
  static constexpr std::string_view name = "4-warps-dependent";
  static constexpr Start start = Start::dependent;
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
    std::tuple<FourWarps, FourWarpsRoomy, FourWarpsDependent, EightWarps, EightWarpsShort>;

inline constexpr std::string_view iso_name = "iso", iso_walk_name = "iso-walk",
                                  square_name = "64x64", square_dependent_name = "64x64-dependent";

inline constexpr Schedule schedules[] = {
    {iso_name, "Rodinia's: 16 x 16 threads, one tile per block, two steps per launch"},
    {iso_walk_name, "iso's tiles and steps, but as many blocks as fit walk the tiles"},
    {FourWarps::name,
     "windows of 128 columns stream down the grid, 4 warps a block, up to 12 steps a pass"},
    {FourWarpsRoomy::name, "4-warps with 40 more registers for each thread, so fewer blocks an SM"},
    {FourWarpsDependent::name, "4-warps by programmatic dependent launch"},
    {EightWarps::name, "blocks of 8 warps, up to 12 steps a pass"},
    {EightWarpsShort::name, "8-warps with passes of 5 steps at most"},
    {square_name,
     "squares of 64 x 64 cells in registers, up to 20 steps a launch, for small grids"},
    {square_dependent_name, "64x64 by programmatic dependent launch"}};

/// `steps` as a sum of available passes with as few terms as possible, the most even such sum (a
/// pass of more steps has wider halos, so evenness costs least), in decreasing order. `available`
/// contains 1.
std::vector<int> plan_passes(int steps, const std::vector<int>& available);

/// Why a schedule that adds pairs of neighbours (kernel.cuh) and is started so cannot run the
/// problem on the device; nothing if it can.
std::optional<std::string> pair_objection(const Problem& problem, Start start,
                                          const Device& device);

struct Pass {
  int steps;
  Grid<const float> source;
  Grid<float> destination;
  bool early = false;  // Start::dependent
};

/// Alternates between scratch and result so that the last pass writes result and none writes an
/// input.
std::vector<Pass> ping_pong(const Problem& problem, const std::vector<int>& steps);

}  // namespace amasia::hotspot
