// Arithmetic of the blocked schedule: what is launched in which order, and which tiles of C a
// launch computes from which panels. Plain arithmetic, the same on host and device; the CPU tests
// replay whole runs with it.
//
// Step k finishes the diagonal block (k, k) and then the panels beside and below it. The trailing
// matrix is updated once per group of panels, so that its tiles are read and written once for so
// many columns. Inside a group, the next step's row and column of tiles (a strip) catch up with the
// panels so far. At its end the next group's strips are updated first; the rest of the matrix is
// updated on a second stream beside the next group's steps (look-ahead).
#pragma once

#include <cstdint>
#include <vector>

#include "apps/common/tile_walk.hpp"
#include "apps/lud/lud.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/host_device.hpp"

namespace amasia::lud {

enum class Region { panels, strip, rest };

/// Where an operand lies: in the matrix, or in L or U of a diagonal block (Problem::lower, upper).
enum class Source { matrix, lower, upper };

/// A small tile of C is four squares of 32 x 32, a warp's each. In a strip they form a square, too.
/// In a panel they form a line as long as the panel is wide: panels are computed in place, and a
/// block must not write what another one still reads.
inline constexpr int warp_edge = 32, chain_warps = 4;
static_assert(warp_edge * chain_warps == panel_width);

/// One tile's work: the c that solves a c = b or c b = a with a triangle of the diagonal block
/// (panels; SolveTile), or c -= a b, summed over `depth` columns of a. Rows and
/// columns are those of the top left elements. Blocks of a cluster that lie side by side share `a`,
/// those one below the other share `b`.
struct TileProduct {
  Source a_source = Source::matrix, b_source = Source::matrix;
  int a_row = 0, a_column = 0, b_row = 0, b_column = 0, c_row = 0, c_column = 0;
  int rows = panel_width, columns = panel_width;  // of c
  int depth = panel_width;
  bool subtract = true;
  bool shares_a = false;
  bool inside = true;  // false: the cluster reaches beyond the matrix here
};

/// A rectangle of elements.
struct Area {
  int row = 0, column = 0, rows = 0, columns = 0;
};

/// Powers of two, so that a block finds its tile without dividing by them.
struct TileShape {
  int log2_rows, log2_columns;
};
static_assert(panel_width == 1 << 7 && warp_edge == 1 << 5);

/// The tiles of one launch. Panels are counted in blocks of panel_width.
struct Products {
  Region region = Region::panels;
  int n = 0;             // order of the matrix
  int first = 0;         // panel: the one that is made (panels), or the first one of an update
  int count = 1;         // panels of an update
  int begin = 0;         // first row and column of blocks that are computed
  int end = 0;           // of a strip: behind its last row and column
  bool small = false;    // tiles: as a chain has them, or 128 x 128
  int room = 0;          // of an update: where its panels' parts go, in turns
  bool follows = false;  // an update that begins while the one before it ends

  AMASIA_HD constexpr int from() const { return begin * panel_width; }
  AMASIA_HD constexpr int to() const { return end * panel_width < n ? end * panel_width : n; }
  /// What is computed: all from the diagonal on to the right, and the rest below it.
  AMASIA_HD constexpr Area beside() const {
    if (region == Region::panels) return {first * panel_width, from(), panel_width, n - from()};
    return {from(), from(), (region == Region::strip ? to() : n) - from(), n - from()};
  }
  AMASIA_HD constexpr Area below() const {
    if (region == Region::panels) return {from(), first * panel_width, n - from(), panel_width};
    if (region == Region::strip) return {to(), from(), n - to(), to() - from()};
    return {};
  }
  AMASIA_HD constexpr TileShape tile_beside() const {
    if (!small) return {7, 7};
    return region == Region::strip ? TileShape{6, 6} : TileShape{7, 5};
  }
  AMASIA_HD constexpr TileShape tile_below() const {
    const TileShape t = tile_beside();
    return {t.log2_columns, t.log2_rows};
  }

  /// Tiles along an edge of an area, rounded up to whole clusters if they lie along it.
  AMASIA_HD static constexpr int tiles(int elements, int log2_edge, int cluster = 1) {
    const int count = (elements + (1 << log2_edge) - 1) >> log2_edge;
    return (count + cluster - 1) / cluster * cluster;
  }
  AMASIA_HD constexpr int blocks_beside(int cluster) const {
    const Area area = beside();
    const TileShape t = tile_beside();
    return region == Region::rest
               ? tiles(area.rows, t.log2_rows, cluster) * tiles(area.columns, t.log2_columns)
               : tiles(area.rows, t.log2_rows) * tiles(area.columns, t.log2_columns, cluster);
  }
  /// Blocks of the launch, a multiple of `cluster`.
  AMASIA_HD constexpr int blocks(int cluster) const {
    const Area area = below();
    const TileShape t = tile_below();
    return blocks_beside(cluster) +
           tiles(area.rows, t.log2_rows, cluster) * tiles(area.columns, t.log2_columns);
  }

  /// The work of one block. Neighbours in a cluster have consecutive numbers.
  AMASIA_HD constexpr TileProduct tile(int cluster, int block) const {
    TileProduct t;
    int row = 0, column = 0;  // in tiles of the area
    const int before = blocks_beside(cluster);
    t.shares_a = region != Region::rest && block < before;
    const bool is_beside = block < before;
    const Area area = is_beside ? beside() : below();
    const TileShape shape = is_beside ? tile_beside() : tile_below();
    if (region == Region::rest) {
      // Squares of tiles, so that the panels of the blocks that run at one time stay in L2.
      const matrix::TilePlace place =
          matrix::tile_place(block / cluster, tiles(area.rows, shape.log2_rows, cluster) / cluster,
                             tiles(area.columns, shape.log2_columns),
                             matrix::rows_walked_together / panel_width / cluster);
      row = place.row * cluster + block % cluster;
      column = place.column;
    } else if (is_beside) {
      const int across = tiles(area.columns, shape.log2_columns, cluster);
      row = block / across;
      column = block % across;
    } else {
      const int down = tiles(area.rows, shape.log2_rows, cluster);
      row = (block - before) % down;
      column = (block - before) / down;
    }
    t.rows = 1 << shape.log2_rows;
    t.columns = 1 << shape.log2_columns;
    t.c_row = area.row + row * t.rows;
    t.c_column = area.column + column * t.columns;
    t.inside = t.c_row < n && t.c_column < n;
    t.a_row = t.c_row;
    t.b_column = t.c_column;
    t.a_column = t.b_row = first * panel_width;
    t.depth = count * panel_width;
    if (region == Region::panels) {
      t.subtract = false;
      if (t.shares_a) {  // U = L^-1 A
        t.a_source = Source::lower;
        t.a_row = t.a_column = 0;
      } else {  // L = A U^-1
        t.b_source = Source::upper;
        t.b_row = t.b_column = 0;
      }
    }
    return t;
  }
};

/// How a schedule cuts its panels.
enum class PanelTiles { small, large_where_many };

/// Strips in small tiles where the large ones would leave half of the `sms` SMs idle. Where they do
/// not, the large ones need fewer loads for the same work. Panels in large tiles, if at all, where
/// the small ones would not have an SM each: a large one takes longer, but less of an SM.
AMASIA_HD constexpr Products for_chain(Products products, int sms, PanelTiles panels) {
  const int whole = products.blocks(1);
  products.small = products.region == Region::panels
                       ? panels == PanelTiles::small || whole <= sms / chain_warps
                       : whole <= sms / 2;
  return products;
}

/// One launch of the schedule, on the stream that runs ahead or on the main one.
struct Launched {
  bool diagonal = false;  // the diagonal block `products.first` instead of products
  bool ahead = true;
  Products products;
  bool waits = false;    // for the latest launch on the other stream that signals
  bool signals = false;  // to the other stream when it is done
  /// It may start while the launch before it on its stream ends (programmatic dependent launch). On
  /// the stream that runs ahead: it needs nothing but that one, and what that one needed. An
  /// update: it needs that one for C alone.
  bool follows = false;
};

/// How many panels make a group: a share of what is left of the matrix, in blocks, but not more
/// than `most`. With a share of 1 all groups have `most`; with a smaller one they shrink as the
/// updates do that the chain of diagonal blocks and panels has to hide behind.
struct Grouping {
  int most = 1;
  int share = 1;  // one in so many
  int panels(int left) const {
    const int wanted = left / share < most ? left / share : most;
    return wanted > 1 ? wanted : 1;
  }
};

/// Groups that shrink. Larger ones make updates faster and the chain slower, which pays the longer
/// the updates hide it. Of 8 to 16 panels at most and shares of a tenth to a sixteenth this was
/// fastest on an H200 from 4096 on; up to 2048 they are alike (README, Tried).
inline constexpr Grouping shrinking{10, 12};

AMASIA_HD constexpr int blocks_of(int n) { return static_cast<int>(ceil_div(n, panel_width)); }

/// Marks the launches that follow another one, and gives updates their room.
inline std::vector<Launched> with_followers(std::vector<Launched> launches) {
  int updates = 0;
  for (std::size_t i = 1; i < launches.size(); ++i) {
    Launched& l = launches[i];
    l.follows = l.ahead ? !l.waits : updates > 0;
    if (!l.ahead) l.products.room = updates++ % 2;
  }
  return launches;
}

/// The launches of a run in order, for a matrix of order n on a device of `sms` SMs.
inline std::vector<Launched> schedule(int n, Grouping grouping, int sms, PanelTiles panels) {
  const int blocks = blocks_of(n);
  const auto chain = [&](Products p) { return for_chain(p, sms, panels); };
  std::vector<Launched> launches;
  for (int first = 0, end = 0; first < blocks; first = end) {
    end = first + grouping.panels(blocks - first);
    for (int step = first; step < end; ++step) {
      launches.push_back({true, true, {Region::panels, n, step}});
      if (step + 1 == blocks) return with_followers(launches);
      const bool last = step + 1 == end;
      launches.push_back({false, true, chain({Region::panels, n, step, 1, step + 1}), false, last});
      if (last) break;
      launches.push_back(
          {false, true, chain({Region::strip, n, first, step + 1 - first, step + 1, step + 2})});
    }
    // The strips were in the last group's rest.
    const int next = end + grouping.panels(blocks - end);
    const Products strips{Region::strip, n, first, end - first, end, next};
    launches.push_back({false, true, chain(strips), first > 0});
    if (next == blocks) continue;
    launches.push_back({false, false, {Region::rest, n, first, end - first, next}, true, true});
  }
  return with_followers(launches);
}

}  // namespace amasia::lud
