// Every schedule of lud: what a config does besides moving data. Each is named here once, for all
// strategies; blocked.hpp has the arithmetic that follows from a grouping.
#pragma once

#include <string_view>
#include <vector>

#include "apps/lud/blocked.hpp"
#include "harness/app.hpp"

namespace amasia::lud {

/// Rodinia's: tiles of 16 x 16, and of the internal ones TILES, side by side, to a block.
template <int TILES>
struct Rodinia {
  static constexpr int tiles = TILES;
  static constexpr std::string_view name = TILES == 1 ? "iso" : "iso-walk";
};
using Iso = Rodinia<1>;
using IsoWalk = Rodinia<8>;

/// Whether a launch may start while the one before it ends: none, those of the chain, updates too.
enum class Start { in_turn, dependent, all_dependent };

/// Blocks of 128 columns.
struct Blocked {
  std::string_view name;
  Grouping grouping;
  Start start;
  PanelTiles panels;
  std::string_view summary;
  Arithmetic arithmetic = Arithmetic::fp32;
};

inline constexpr Blocked blocked_schedules[] = {
    {"blocked-128x1",
     {1, 1},
     Start::in_turn,
     PanelTiles::small,
     "blocks of 128, updated after every panel"},
    {"blocked-128-shrinking", shrinking, Start::in_turn, PanelTiles::small,
     "blocks of 128, the trailing matrix updated by groups of up to ten panels, fewer as it "
     "shrinks"},
    {"blocked-128-shrinking-panels-128", shrinking, Start::in_turn, PanelTiles::large_where_many,
     "as blocked-128-shrinking, long panels in tiles of 128 x 128"},
    {"blocked-128-shrinking-panels-128-dependent", shrinking, Start::dependent,
     PanelTiles::large_where_many,
     "as blocked-128-shrinking-panels-128, by programmatic dependent launch"},
    {"blocked-128-shrinking-panels-128-all-dependent", shrinking, Start::all_dependent,
     PanelTiles::large_where_many,
     "as blocked-128-shrinking-panels-128-dependent, updates begin while the last one ends"},
    {"blocked-128-shrinking-panels-128-dependent-tf32x3", shrinking, Start::dependent,
     PanelTiles::large_where_many,
     "as blocked-128-shrinking-panels-128-dependent, updates by three products of tf32 (wgmma)",
     Arithmetic::tf32x3},
    {"blocked-128-shrinking-panels-128-all-dependent-tf32x3", shrinking, Start::all_dependent,
     PanelTiles::large_where_many, "the same, updates begin while the last one ends",
     Arithmetic::tf32x3},
};

/// A schedule's groups have no more panels than the problem has room for.
constexpr bool fit_into_parts() {
  for (const Blocked& b : blocked_schedules) {
    if (b.grouping.most > most_panels) return false;
  }
  return true;
}
static_assert(fit_into_parts());

/// Those of an arithmetic.
inline std::vector<std::string_view> blocked_names(Arithmetic arithmetic) {
  std::vector<std::string_view> names;
  for (const Blocked& b : blocked_schedules) {
    if (b.arithmetic == arithmetic) names.push_back(b.name);
  }
  return names;
}

inline std::vector<Schedule> all_schedules() {
  std::vector<Schedule> all{
      {Iso::name,
       "the original: 16 x 16 tiles, three launches per 16 columns, a block for each "
       "internal tile"},
      {IsoWalk::name, "the same, with a block for eight internal tiles of a row, which share L's"}};
  for (const Blocked& b : blocked_schedules) all.push_back({b.name, b.summary});
  return all;
}

}  // namespace amasia::lud
