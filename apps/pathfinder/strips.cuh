// The persistent schedule of all six `best` variants: geometry.hpp says which columns a warp has,
// this file how it walks and how windows exchange what their neighbours lack. A variant supplies
// the two things in which strategies differ:
//
//   Wall   how wall rows arrive:   begin(stages)  start filling the ring; that many will be read
//                                  wait()         the next stage can be read by this warp
//                                  load(r, c)     4 walls of its row r, lane's columns c ... c+3
//                                  release()      this warp has read it
//   Mail   how windows of a group tell each other costs: BlockMail, or across blocks in dsm.cu.
//
// In a tall grid a warp is alone on its scheduler and nothing hides an instruction between one row
// and the next, so the loop is kept bare: addresses in registers, one branch per stage.
#pragma once

#include <string>
#include <tuple>
#include <utility>

#include "apps/pathfinder/geometry.hpp"
#include "apps/pathfinder/kernel.cuh"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::pathfinder {

/// Arguments of one launch: from the costs `source` of row first_row - 1, over `steps` rows, to
/// `result`.
struct Walk {
  Grid<const int> wall;
  const int* source = nullptr;
  int* result = nullptr;
  std::int64_t first_row = 1;
  int steps = 0;
  Exchange exchange;
};

/// A lane's columns in pieces of four: everything is stored, sent and asked for in pieces.
using Piece = int4;

/// Publishes four costs. One 8-byte word carries a cost and its epoch: accesses of that size are
/// single-copy atomic (PTX ISA, memory consistency model), so a reader that sees the epoch has the
/// cost that was stored with it.
__device__ inline void store_words(unsigned long long* words, Piece cost, unsigned epoch) {
  const auto word = [epoch](int value) {
    return static_cast<unsigned long long>(epoch) << 32 | static_cast<unsigned>(value);
  };
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};\n" ::"l"(words), "l"(word(cost.x)),
               "l"(word(cost.y))
               : "memory");
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};\n" ::"l"(words + 2), "l"(word(cost.z)),
               "l"(word(cost.w))
               : "memory");
}

/// Four words as they are now.
struct Words {
  unsigned long long word[4];
  __device__ explicit Words(const unsigned long long* words) {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];\n"
                 : "=l"(word[0]), "=l"(word[1])
                 : "l"(words)
                 : "memory");
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];\n"
                 : "=l"(word[2]), "=l"(word[3])
                 : "l"(words + 2)
                 : "memory");
  }
  __device__ bool all_of(unsigned epoch) const {
    return word[0] >> 32 == epoch && word[1] >> 32 == epoch && word[2] >> 32 == epoch &&
           word[3] >> 32 == epoch;
  }
  __device__ Piece costs() const {
    return {static_cast<int>(word[0]), static_cast<int>(word[1]), static_cast<int>(word[2]),
            static_cast<int>(word[3])};
  }
};

/// A warp on its way down: the costs of its window and which of them it must tell or be told.
template <class S>
struct Walker {
  static constexpr int C = S::lane_columns;
  static constexpr int pieces = C / 4;
  int cost[C];
  int lane, warp;
  std::int64_t column;  // of the lane's first cost in the grid; may lie outside
  unsigned inside = 0;  // bit c: column + c lies in the grid
  // Bit p, for piece p of the lane:
  unsigned kept = 0;       // this window keeps it for its group
  unsigned asked = 0;      // outer exchange: another group owns it
  unsigned published = 0;  // outer exchange: other groups need it

  __device__ explicit Walker(std::int64_t grid_columns) {
    lane = threadIdx.x % 32;
    warp = threadIdx.x / 32;
    const int window = blockIdx.x % S::cluster * S::warps + warp;
    column = S::tile_column(blockIdx.x) + warp * S::stride + lane * C;
#pragma unroll
    for (int c = 0; c < C; ++c) {
      inside |= unsigned{column + c >= 0 && column + c < grid_columns} << c;
    }
#pragma unroll
    for (int p = 0; p < pieces; ++p) {
      // Pieces start at multiples of 4 in the grid: inside means the first column is.
      const bool in = inside >> 4 * p & 1;
      const int position = window * S::stride + at(p);
      const bool keep = S::keeps(window, at(p));
      kept |= unsigned{keep} << p;
      asked |= unsigned{in && !S::is_owned(position)} << p;
      published |= unsigned{in && keep && S::is_published(position)} << p;
    }
  }
  /// Column of piece p in the window.
  __device__ int at(int p) const { return lane * C + 4 * p; }
  __device__ Piece piece(int p) const {
    return {cost[4 * p], cost[4 * p + 1], cost[4 * p + 2], cost[4 * p + 3]};
  }
  __device__ void set(int p, Piece v) {
    cost[4 * p] = v.x, cost[4 * p + 1] = v.y, cost[4 * p + 2] = v.z, cost[4 * p + 3] = v.w;
  }
  __device__ bool owns(int c) const { return (inside >> c & 1) && ((kept & ~asked) >> c / 4 & 1); }
};

/// Between groups, first half: publish what others need. Before the inner exchange, so that the
/// words travel while it takes place; the inner exchange changes only what this window does not
/// keep.
template <class S>
__device__ void publish(const Walker<S>& walker, const Exchange& exchange, unsigned epoch) {
  unsigned long long* words = exchange.words + (epoch & 1 ? exchange.columns : 0) + walker.column;
#pragma unroll
  for (int p = 0; p < walker.pieces; ++p) {
    if (walker.published >> p & 1) store_words(words + 4 * p, walker.piece(p), epoch);
  }
}

/// Second half: ask until every word of this epoch has come. Buffers alternate: a word is
/// overwritten two epochs later, when the writer has had the next epoch's words from everyone who
/// reads its own - and those were stored after the reading.
template <class S>
__device__ void ask(Walker<S>& walker, const Exchange& exchange, unsigned epoch) {
  const unsigned long long* words =
      exchange.words + (epoch & 1 ? exchange.columns : 0) + walker.column;
#pragma unroll
  for (int p = 0; p < walker.pieces; ++p) {
    if (walker.asked >> p & 1) {
      for (;;) {
        const Words now(words + 4 * p);
        if (now.all_of(epoch)) {
          walker.set(p, now.costs());
          break;
        }
      }
    }
  }
  __syncwarp();
}

/// A barrier of the warps that compute: a producer warp takes no part in exchanges.
template <class S>
__device__ void walkers_barrier() {
  asm volatile("bar.sync 1, %0;\n" ::"n"(S::walkers) : "memory");
}

/// Costs on their way to a window, from the window before it and from the one after.
template <class S>
struct Inbox {
  Piece cost[2][S::halo / 4];
};

/// Where a lane's pieces go and come from in an exchange: 32-bit shared addresses in the first of
/// the two sets of inboxes, 0 for none. Worked out once, so that an exchange is a few predicated
/// accesses.
template <class S>
struct Route {
  static constexpr int pieces = S::lane_columns / 4;
  unsigned to_left[pieces], to_right[pieces], from[pieces];

  /// inbox_of(-1), (0), (1): address of the inbox of the window before, of this one, of the one
  /// after.
  template <class InboxOf>
  __device__ Route(const Walker<S>& walker, InboxOf inbox_of) {
    constexpr unsigned side_bytes = S::halo * sizeof(int);
#pragma unroll
    for (int p = 0; p < pieces; ++p) {
      const int at = walker.at(p);
      const bool left = at >= S::halo && at < 2 * S::halo;
      const bool right = at >= S::stride && at < S::stride + S::halo;
      const unsigned before = inbox_of(-1), own = inbox_of(0), after = inbox_of(1);
      to_left[p] = left && before != 0 ? before + side_bytes + 4 * (at - S::halo) : 0;
      to_right[p] = right && after != 0 ? after + 4 * (at - S::stride) : 0;
      from[p] = walker.kept >> p & 1 ? 0
                : at < S::halo       ? own + 4 * at
                                     : own + side_bytes + 4 * (at - S::halo - S::stride);
    }
  }
};

/// Between windows of one block: an inbox per window in shared memory, two sets in turn, so that
/// one barrier per exchange suffices.
template <class S>
struct BlockMail {
  struct Storage {
    Inbox<S> inbox[2][S::warps];
  };
  static constexpr unsigned set_bytes = S::warps * sizeof(Inbox<S>);
  Route<S> route;

  struct InboxOf {
    Storage& mail;
    int warp;
    __device__ unsigned operator()(int step) const {
      const int to = warp + step;
      return to < 0 || to >= S::warps ? 0 : async::shared_address(&mail.inbox[0][to]);
    }
  };
  __device__ BlockMail(Storage& mail, const Walker<S>& walker)
      : route(walker, InboxOf{mail, walker.warp}) {}

  __device__ void exchange(int e, Walker<S>& walker) {
    if constexpr (S::warps > 1) {
      const unsigned set = e & 1 ? set_bytes : 0;
#pragma unroll
      for (int p = 0; p < walker.pieces; ++p) {
        if (route.to_left[p] != 0) async::store16(route.to_left[p] + set, walker.piece(p));
        if (route.to_right[p] != 0) async::store16(route.to_right[p] + set, walker.piece(p));
      }
      walkers_barrier<S>();
#pragma unroll
      for (int p = 0; p < walker.pieces; ++p) {
        if (route.from[p] != 0) walker.set(p, async::load16(route.from[p] + set));
      }
    }
  }
};

/// ROWS rows of wall from row r of the current stage. Columns outside the grid become the highest
/// wall: a way around outside is then never cheaper than staying at the edge, and no infinity can
/// overflow.
template <class S, int ROWS, bool EDGE, class Wall>
__device__ __forceinline__ void load_round(WallRound<S::lane_columns, ROWS>& round, Wall& wall,
                                           int r, unsigned inside) {
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
#pragma unroll
    for (int c = 0; c < S::lane_columns; c += 4) {
      const int4 four = wall.load(r + i, c);
      int* out = round.height[i] + c + ROWS - 1;
      out[0] = four.x, out[1] = four.y, out[2] = four.z, out[3] = four.w;
    }
    if constexpr (EDGE) {
#pragma unroll
      for (int c = 0; c < S::lane_columns; ++c) {
        if (!(inside >> c & 1)) round.height[i][c + ROWS - 1] = highest_wall;
      }
    }
  }
  spread(round);
}

/// A full stage; the next round's wall is read, and spread, while this round is computed.
template <class S, bool EDGE, class Wall>
__device__ __forceinline__ void walk_stage(Walker<S>& walker, Wall& wall) {
  WallRound<S::lane_columns, S::round> round[2];
  load_round<S, S::round, EDGE>(round[0], wall, 0, walker.inside);
#pragma unroll
  for (int r = 0; r < S::stage_rows; r += S::round) {
    const int now = r / S::round % 2;
    if (r + S::round < S::stage_rows) {
      load_round<S, S::round, EDGE>(round[1 - now], wall, r + S::round, walker.inside);
    }
    advance(walker.cost, round[now]);
  }
}

/// Which warps replace walls outside the grid: none or all of the block, or each looks for itself.
/// Known beforehand it costs a tall walk no branch; but a block has many wide warps, and few at the
/// edge.
enum class Edge { none, all, some };

/// All rows of a walk: an inner epoch of halo rows, an exchange, and so on. Returns the outer
/// epochs.
template <class S, Edge EDGE, class Wall, class Mail>
__device__ __forceinline__ unsigned walk_rows(const Walk& walk, Walker<S>& walker, Wall& wall,
                                              Mail& mail, unsigned epoch) {
  const bool edge = __any_sync(0xffffffffu, walker.inside != (1u << S::lane_columns) - 1);
  int left = walk.steps;
  int until_outer = S::exchanges;
  for (int e = 0; left > S::halo; ++e) {
#pragma unroll 1
    for (int stage = 0; stage < S::halo / S::stage_rows; ++stage) {
      wall.wait();
      if (EDGE == Edge::all || (EDGE == Edge::some && edge)) {
        walk_stage<S, true>(walker, wall);
      } else {
        walk_stage<S, false>(walker, wall);
      }
      wall.release();
    }
    left -= S::halo;
    const bool outer = --until_outer == 0;
    if (outer) publish(walker, walk.exchange, ++epoch);
    mail.exchange(e, walker);
    if (outer) {
      ask(walker, walk.exchange, epoch);
      until_outer = S::exchanges;
    }
  }
  // What is left, at most halo rows, one by one
#pragma unroll 1
  for (int row = 0; row < left; ++row) {
    if (row % S::stage_rows == 0) wall.wait();
    WallRound<S::lane_columns, 1> round;
    load_round<S, 1, true>(round, wall, row % S::stage_rows, walker.inside);
    advance(walker.cost, round);
    if ((row + 1) % S::stage_rows == 0) wall.release();
  }
  return epoch;
}

/// The whole walk of a block's computing warps.
template <class S, class Wall, class Mail>
__device__ __forceinline__ void walk_strips(const Walk& walk, Walker<S>& walker, Wall& wall,
                                            Mail& mail) {
  constexpr int C = S::lane_columns;
  // Prologue: wall stages on their way, source row into registers
  wall.begin(static_cast<int>(ceil_div(walk.steps, S::stage_rows)));
  const bool exchanging = S::outer_exchanges(walk.steps) > 0;
  unsigned epoch = exchanging ? walk.exchange.clock[0] : 0;
#pragma unroll
  for (int c = 0; c < C; ++c) {
    walker.cost[c] = walker.inside >> c & 1 ? walk.source[walker.column + c] : unreachable;
  }

  // Main loop
  if constexpr (!S::tall) {
    epoch = walk_rows<S, Edge::some>(walk, walker, wall, mail, epoch);
  } else {  // a choice of the block, whose warps meet at barriers in there
    const std::int64_t tile = S::tile_column(blockIdx.x);
    if (tile < 0 || tile + S::tile_columns > walk.wall.columns) {
      epoch = walk_rows<S, Edge::all>(walk, walker, wall, mail, epoch);
    } else {
      epoch = walk_rows<S, Edge::none>(walk, walker, wall, mail, epoch);
    }
  }

  // Epilogue: own costs out; the last block to finish moves the clock on
#pragma unroll
  for (int c = 0; c < C; ++c) {
    if (walker.owns(c)) walk.result[walker.column + c] = walker.cost[c];
  }
  if (exchanging) {
    walkers_barrier<S>();  // every thread has read the clock
    if (threadIdx.x == 0 && atomicAdd(&walk.exchange.clock[1], 1u) == gridDim.x - 1) {
      walk.exchange.clock[1] = 0;
      walk.exchange.clock[0] = epoch;
    }
  }
}

/// The kernel of the strategies whose computing warps bring the wall themselves: Wall(storage,
/// walk) is what the block's warps read it through.
template <class S, class Wall>
struct CopiedStrips {
  typename Wall::Storage wall;
  typename BlockMail<S>::Storage mail;
};

template <class S, class Wall>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) copied_strips(Walk walk) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<CopiedStrips<S, Wall>*>(memory);
  Wall wall(shared.wall, walk);
  Walker<S> walker(walk.wall.columns);
  BlockMail<S> mail(shared.mail, walker);
  walk_strips<S>(walk, walker, wall, mail);
}

/// Config of a strip kernel. All rows in one cooperative launch where every window is resident at
/// once. Otherwise wide lanes take a launch per outer_halo rows, which needs no exchange, and
/// narrow lanes decline: most of what their windows would read then is halo. `arguments` makes what
/// the kernel takes besides the walk (a tensor map), as a tuple.
template <class S, class Kernel, class Arguments = NoArguments>
ConfigOf<Problem> strips_config(std::string name, Kernel kernel, std::size_t shared_bytes,
                                Arguments arguments = {}) {
  ConfigOf<Problem> config;
  const std::size_t wall_bytes = std::size_t{S::stages} * S::stage_elements * sizeof(int);
  config.info = {
      std::move(name),
      {{"warps", S::warps},
       {"lane_columns", S::lane_columns},
       {"owned_columns", S::owned},
       {"halo", S::halo},
       {"outer_halo", S::outer_halo},
       {"stage_rows", S::stage_rows},
       {"stages", S::stages},
       {"round", S::round},
       {"cluster", S::cluster}},
      {{reinterpret_cast<const void*>(kernel), S::threads, shared_bytes, S::cluster, wall_bytes}}};
  const auto shape_for = [kernel, shared_bytes](const Problem& p, const Device& device) {
    LaunchShape shape;
    shape.grid = dim3(static_cast<unsigned>(S::blocks(p.wall.columns)));
    shape.block = dim3(S::threads);
    shape.dynamic_shared_bytes = shared_bytes;
    shape.cluster_blocks = S::cluster;
    const auto* function = reinterpret_cast<const void*>(kernel);
    allow_launch(function, shape);
    const std::int64_t resident = resident_blocks(function, shape, device.sm_count);
    shape.cooperative = p.exchange.words != nullptr && device.cooperative_launch &&
                        S::blocks(p.wall.columns) <= resident &&
                        S::outer_exchanges(p.wall.rows - 1) > 0;
    return shape;
  };
  if (S::tall) {
    config.unsupported = [shape_for](const Problem& p,
                                     const Device& device) -> std::optional<std::string> {
      if (S::outer_exchanges(p.wall.rows - 1) == 0 || shape_for(p, device).cooperative) return {};
      return "its " + std::to_string(S::blocks(p.wall.columns)) + " blocks of " +
             std::to_string(S::owned) +
             " columns do not fit on this device at once; a wide config does not need that";
    };
  }
  config.prepare = [kernel, shape_for, arguments](const Problem& p,
                                                  const Device& device) -> Launch {
    const LaunchShape shape = shape_for(p, device);
    const bool persistent = shape.cooperative;
    const std::int64_t steps = p.wall.rows - 1;
    const std::int64_t per_launch = persistent ? steps : S::outer_halo;
    return [=, extra = arguments(p)](Stream stream) {
      const std::int64_t launches = steps > 0 ? ceil_div(steps, per_launch) : 1;
      Walk walk;
      walk.wall = p.wall;
      walk.source = p.wall.data;
      walk.exchange = p.exchange;
      for (std::int64_t i = 0; i < launches; ++i) {
        walk.first_row = 1 + i * per_launch;
        const std::int64_t left = steps - i * per_launch;
        walk.steps = static_cast<int>(left < per_launch ? left : per_launch);
        walk.result = (launches - 1 - i) % 2 == 0 ? p.result : p.scratch;
        std::apply([&](const auto&... more) { launch(kernel, shape, stream, walk, more...); },
                   extra);
        walk.source = walk.result;
      }
    };
  };
  return config;
}

template <class S, class Wall>
ConfigOf<Problem> copied_strips_config(const char* name) {
  return strips_config<S>(name, copied_strips<S, Wall>, sizeof(CopiedStrips<S, Wall>));
}

}  // namespace amasia::pathfinder
