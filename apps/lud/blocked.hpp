// Arithmetic of the blocked schedule: what is launched in which order, and which 128 x 128 tiles a
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

#include "apps/gemm/geometry.hpp"
#include "apps/lud/lud.hpp"
#include "harness/host_device.hpp"
#include "variants/ring.hpp"

namespace amasia::lud {

enum class Region { panels, strip, rest };

/// Where an operand or result tile lies: in the matrix, or in one of the inverses of a diagonal
/// block.
enum class Source { matrix, lower_inverse, upper_inverse };

/// One tile's work: c = a b (panels) or c -= a b; a and b are `panels` times panel_width deep. Rows
/// and columns are those of the top left elements. Blocks of a cluster that lie side by side share
/// `a`, those one below the other share `b`.
struct TileProduct {
  Source a_source = Source::matrix, b_source = Source::matrix;
  int a_row = 0, a_column = 0, b_row = 0, b_column = 0, c_row = 0, c_column = 0;
  int panels = 1;
  bool subtract = true;
  bool shares_a = false;
  bool inside = true;  // false: the cluster reaches beyond the matrix here
};

AMASIA_HD constexpr int tiles_of(std::int64_t n) {
  return static_cast<int>((n + panel_width - 1) / panel_width);
}

/// The tiles of one launch.
struct Products {
  Region region = Region::panels;
  int tiles = 0;  // of the matrix, each way
  int first = 0;  // panel: the one that is made (panels), or the first one of an update
  int count = 1;  // panels of an update
  int begin = 0;  // first row and column of tiles that are computed
  int end = 0;    // of a strip: behind its last row and column

  AMASIA_HD constexpr int side() const { return tiles - begin; }
  AMASIA_HD constexpr int width() const { return end - begin; }
  AMASIA_HD static constexpr int whole(int count, int cluster) {
    return static_cast<int>(round_up(count, cluster));
  }

  /// Blocks of the launch, a multiple of `cluster`.
  AMASIA_HD constexpr int blocks(int cluster) const {
    switch (region) {
      case Region::panels:
        return 2 * whole(side(), cluster);
      case Region::strip:
        return width() * (whole(side(), cluster) + whole(side() - width(), cluster));
      default:
        return whole(side(), cluster) * side();
    }
  }

  /// The work of one block. Neighbours in a cluster have consecutive numbers.
  AMASIA_HD constexpr TileProduct tile(int cluster, int block) const {
    TileProduct t;
    int row = 0, column = 0;
    if (region == Region::rest) {
      // Squares of tiles, so that the panels of the blocks that run at one time stay in L2.
      const gemm::TilePlace place =
          gemm::tile_place(block / cluster, whole(side(), cluster) / cluster, side(),
                           gemm::rows_walked_together / panel_width / cluster);
      row = begin + place.row * cluster + block % cluster;
      column = begin + place.column;
    } else {
      const int lines = region == Region::strip ? width() : 1;
      const int across = whole(side(), cluster);
      t.shares_a = block < lines * across;
      if (t.shares_a) {  // beside the diagonal
        row = region == Region::strip ? begin + block / across : first;
        column = begin + block % across;
      } else {  // below
        const int below = region == Region::strip ? end : begin;
        const int down = whole(tiles - below, cluster);
        block -= lines * across;
        column = region == Region::strip ? begin + block / down : first;
        row = below + block % down;
      }
    }
    t.inside = row < tiles && column < tiles;
    t.a_row = t.c_row = row * panel_width;
    t.b_column = t.c_column = column * panel_width;
    t.a_column = t.b_row = first * panel_width;
    t.panels = count;
    if (region == Region::panels) {
      t.subtract = false;
      if (t.shares_a) {  // U = L^-1 A
        t.a_source = Source::lower_inverse;
        t.a_row = t.a_column = 0;
      } else {  // L = A U^-1
        t.b_source = Source::upper_inverse;
        t.b_row = t.b_column = 0;
      }
    }
    return t;
  }
};

/// One launch of the schedule, on the stream that runs ahead or on the main one.
struct Launched {
  bool diagonal = false;  // the diagonal block `products.first` instead of products
  bool ahead = true;
  Products products;
  bool waits = false;    // for the latest launch on the other stream that signals
  bool signals = false;  // to the other stream when it is done
};

/// How many panels make a group: a share of what is left of the matrix, in tiles, but not more than
/// `most`. With a share of 1 all groups have `most`; with a smaller one they shrink as the updates
/// do that the chain of diagonal blocks and panels has to hide behind.
struct Grouping {
  int most = 1;
  int share = 1;  // one in so many
  int panels(int left) const {
    const int wanted = left / share < most ? left / share : most;
    return wanted > 1 ? wanted : 1;
  }
};

/// The launches of a run in order, for a matrix of tiles x tiles.
inline std::vector<Launched> schedule(int tiles, Grouping grouping) {
  std::vector<Launched> launches;
  for (int first = 0, end = 0; first < tiles; first = end) {
    end = first + grouping.panels(tiles - first);
    for (int step = first; step < end; ++step) {
      launches.push_back({true, true, {Region::panels, tiles, step}});
      if (step + 1 == tiles) return launches;
      const bool last = step + 1 == end;
      launches.push_back({false, true, {Region::panels, tiles, step, 1, step + 1}, false, last});
      if (last) break;
      launches.push_back(
          {false, true, {Region::strip, tiles, first, step + 1 - first, step + 1, step + 2}});
    }
    // The strips were in the last group's rest.
    const int next = end + grouping.panels(tiles - end);
    const Products strips{Region::strip, tiles, first, end - first, end, next};
    launches.push_back({false, true, strips, first > 0});
    if (next == tiles) continue;
    launches.push_back({false, false, {Region::rest, tiles, first, end - first, next}, true, true});
  }
  return launches;
}

}  // namespace amasia::lud
