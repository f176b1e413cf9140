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
  static constexpr int style = 1;
  static constexpr int registers_beyond_cells = REGISTERS;
  static constexpr std::array<int, sizeof...(STEPS)> steps{STEPS...};
};

struct FourWarps : Streaming<4, 40, 1, 5, 8, 12> {
  static constexpr std::string_view name = "4-warps";
};
struct FourWarpsRoomy : Streaming<4, 80, 1, 5, 8, 12> {
  static constexpr std::string_view name = "4-warps-roomy";
};
struct FourWarpsShort : Streaming<4, 56, 1, 4, 8> {
  static constexpr std::string_view name = "4-warps-8-steps";
};
struct EightWarps : Streaming<8, 40, 1, 5, 8, 12> {
  static constexpr std::string_view name = "8-warps";
};
struct EightWarpsShort : Streaming<8, 40, 1, 5> {
  static constexpr std::string_view name = "8-warps-5-steps";
};
template <int STYLE> struct X4 : Streaming<4, 40, 1, 5, 8, 12> {
  static constexpr int style = STYLE;
  static constexpr char text[] = {'x', '4', '-', 'a' + STYLE, 0};
  static constexpr std::string_view name = text;
};
template <int STYLE> struct XR : Streaming<4, 80, 1, 5, 8, 12> {
  static constexpr int style = STYLE;
  static constexpr char text[] = {'x', 'r', '-', 'a' + STYLE, 0};
  static constexpr std::string_view name = text;
};
template <int STYLE> struct X8 : Streaming<8, 40, 1, 5, 8, 12> {
  static constexpr int style = STYLE;
  static constexpr char text[] = {'x', '8', '-', 'a' + STYLE, 0};
  static constexpr std::string_view name = text;
};
using StreamingSchedules = std::tuple<FourWarps, FourWarpsRoomy, FourWarpsShort, EightWarps, EightWarpsShort, X4<2>, X4<3>, X8<3>>;

inline constexpr std::string_view iso_name = "iso", iso_walk_name = "iso-walk",
                                  square_name = "64x64";

inline constexpr Schedule schedules[] = {
    {iso_name, "Rodinia's: 16 x 16 threads, one tile per block, two steps per launch"},
    {iso_walk_name, "iso's tiles and steps, but as many blocks as fit walk the tiles"},
    {FourWarps::name,"x"}, {FourWarpsRoomy::name,"x"}, {FourWarpsShort::name,"x"}, {EightWarps::name,"x"}, {EightWarpsShort::name,"x"}, {"x4-a", "x"}, {"y5-v", "x"}, {"y5-r", "x"},
    {"x4-b", "x"},
    {"x4-c", "x"},
    {"x4-d", "x"},
    {"x4-e", "x"},
    {"x4-f", "x"},
    {"x4-g", "x"},
    {"x4-h", "x"},
    {"x4-i", "x"},
    {"x4-j", "x"},
    {"x4-k", "x"},
    {"x4-l", "x"},
    {"x4-m", "x"},
    {"x4-n", "x"},
    {"x4-o", "x"},
    {"x4-p", "x"},
    {"x4-q", "x"},
    {"x4-r", "x"},
    {"x4-s", "x"},
    {"x4-t", "x"},
    {"x4-u", "x"},
    {"x4-v", "x"},
    {"x4-w", "x"},
    {"x4-x", "x"},
    {"x4-y", "x"},
    {"x4-z", "x"},
    {"x4-{", "x"},
    {"x4-|", "x"},
    {"x4-}", "x"},
    {"x4-~", "x"},
    {"x4-", "x"},
    {"x4-", "x"},
    {"x5-a", "x"},
    {"x5-b", "x"},
    {"x5-c", "x"},
    {"x5-d", "x"},
    {"x5-e", "x"},
    {"x5-f", "x"},
    {"x5-g", "x"},
    {"x5-h", "x"},
    {"x5-i", "x"},
    {"x5-j", "x"},
    {"x5-k", "x"},
    {"x5-l", "x"},
    {"x5-m", "x"},
    {"x5-n", "x"},
    {"x5-o", "x"},
    {"x5-p", "x"},
    {"x5-q", "x"},
    {"x5-r", "x"},
    {"x5-s", "x"},
    {"x5-t", "x"},
    {"x5-u", "x"},
    {"x5-v", "x"},
    {"x5-w", "x"},
    {"x5-x", "x"},
    {"x5-y", "x"},
    {"x5-z", "x"},
    {"x5-{", "x"},
    {"x5-|", "x"},
    {"x5-}", "x"},
    {"x5-~", "x"},
    {"x5-", "x"},
    {"x5-", "x"},
    {"x8-a", "x"},
    {"x8-b", "x"},
    {"x8-c", "x"},
    {"x8-d", "x"},
    {"x8-e", "x"},
    {"x8-f", "x"},
    {"x8-g", "x"},
    {"x8-h", "x"},
    {"x8-i", "x"},
    {"x8-j", "x"},
    {"x8-k", "x"},
    {"x8-l", "x"},
    {"x8-m", "x"},
    {"x8-n", "x"},
    {"x8-o", "x"},
    {"x8-p", "x"},
    {"x8-q", "x"},
    {"x8-r", "x"},
    {"x8-s", "x"},
    {"x8-t", "x"},
    {"x8-u", "x"},
    {"x8-v", "x"},
    {"x8-w", "x"},
    {"x8-x", "x"},
    {"x8-y", "x"},
    {"x8-z", "x"},
    {"x8-{", "x"},
    {"x8-|", "x"},
    {"x8-}", "x"},
    {"x8-~", "x"},
    {"x8-", "x"},
    {"x8-", "x"},
    {"xr-a", "x"},
    {"xr-b", "x"},
    {"xr-c", "x"},
    {"xr-d", "x"},
    {"xr-e", "x"},
    {"xr-f", "x"},
    {"xr-g", "x"},
    {"xr-h", "x"},
    {"xr-i", "x"},
    {"xr-j", "x"},
    {"xr-k", "x"},
    {"xr-l", "x"},
    {"xr-m", "x"},
    {"xr-n", "x"},
    {"xr-o", "x"},
    {"xr-p", "x"},
    {"xr-q", "x"},
    {"xr-r", "x"},
    {"xr-s", "x"},
    {"xr-t", "x"},
    {"xr-u", "x"},
    {"xr-v", "x"},
    {"xr-w", "x"},
    {"xr-x", "x"},
    {"xr-y", "x"},
    {"xr-z", "x"},
    {"xr-{", "x"},
    {"xr-|", "x"},
    {"xr-}", "x"},
    {"xr-~", "x"},
    {"xr-", "x"},
    {"xr-", "x"},
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
