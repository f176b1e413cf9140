// The persistent schedule of all six `best` variants: geometry.hpp says which columns a warp has,
// this file how it walks and how windows exchange what their neighbours lack. A variant supplies
// the two things in which strategies differ:
//
//   Wall   how wall rows arrive:   begin(stages)     start filling the ring; that many will be read
//                                  wait(stage)       the stage's rows can be read by this warp
//                                  load(r, c, out)   4 walls of row r, lane's columns c ... c+3
//                                  release(stage)    this warp has read the stage
//   Mail   how windows of a group tell each other costs: exchange(e, walker), see BlockMail.
#pragma once

#include <string>
#include <tuple>
#include <utility>

#include "apps/pathfinder/geometry.hpp"
#include "apps/pathfinder/kernel.cuh"
#include "harness/variant.hpp"
#include "variants/launch.hpp"

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

/// One 8-byte word carries a cost and its epoch: accesses of that size are single-copy atomic (PTX
/// ISA, memory consistency model), so a reader that sees the epoch has the cost that was stored
/// with it.
__device__ inline void store_word(unsigned long long* word, int cost, unsigned epoch) {
  const unsigned long long value =
      static_cast<unsigned long long>(epoch) << 32 | static_cast<unsigned>(cost);
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;\n" ::"l"(word), "l"(value) : "memory");
}
__device__ inline unsigned long long load_word(const unsigned long long* word) {
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];\n" : "=l"(value) : "l"(word) : "memory");
  return value;
}

/// A warp on its way down: the costs of its window and which of them it must tell or be told.
template <class S>
struct Walker {
  static constexpr int C = S::lane_columns;
  int cost[C];
  int lane, window;        // window: of the group
  int tile_column;         // of the lane's first cost in the block's tile
  std::int64_t column;     // of the lane's first cost in the grid; may lie outside
  unsigned inside = 0;     // bit c: column + c lies in the grid
  unsigned kept = 0;       // this window keeps it for its group
  unsigned asked = 0;      // outer exchange: another group owns it
  unsigned published = 0;  // outer exchange: other groups need it

  __device__ explicit Walker(std::int64_t grid_columns) {
    lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    window = blockIdx.x % S::cluster * S::warps + warp;
    tile_column = warp * S::stride + lane * C;
    column = S::tile_column(blockIdx.x) + tile_column;
#pragma unroll
    for (int c = 0; c < C; ++c) {
      const int position = window * S::stride + lane * C + c;
      const bool in = column + c >= 0 && column + c < grid_columns;
      const bool keep = S::keeper(position) == window;
      inside |= unsigned{in} << c;
      kept |= unsigned{keep} << c;
      asked |= unsigned{in && !S::is_owned(position)} << c;
      published |= unsigned{in && keep && S::is_published(position)} << c;
    }
  }
  __device__ bool owns(int c) const { return (inside & kept & ~asked) >> c & 1; }
};

/// Between groups: publish, then ask until every word of this epoch has come. Buffers alternate: a
/// word is overwritten two epochs later, when the writer has had the next epoch's words from
/// everyone who reads its own - and those were stored after the reading.
template <class S>
__device__ void exchange_outer(Walker<S>& walker, const Exchange& exchange, unsigned epoch) {
  constexpr int C = S::lane_columns;
  unsigned long long* words = exchange.words + (epoch & 1 ? exchange.columns : 0) + walker.column;
#pragma unroll
  for (int c = 0; c < C; ++c) {
    if (walker.published >> c & 1) store_word(words + c, walker.cost[c], epoch);
  }
  for (unsigned missing = walker.asked; missing != 0;) {
    unsigned long long word[C];
#pragma unroll
    for (int c = 0; c < C; ++c) word[c] = missing >> c & 1 ? load_word(words + c) : 0;
#pragma unroll
    for (int c = 0; c < C; ++c) {
      if ((missing >> c & 1) && static_cast<unsigned>(word[c] >> 32) == epoch) {
        walker.cost[c] = static_cast<int>(word[c]);
        missing &= ~(1u << c);
      }
    }
  }
  __syncwarp();
}

/// Between windows of one block: costs of the block's tile in shared memory, two buffers in turn,
/// so one barrier per exchange suffices.
template <class S>
struct BlockMail {
  struct Storage {
    int cost[2][S::tile_columns];
  };
  Storage& mail;
  __device__ void begin() {}
  __device__ void exchange(int e, Walker<S>& walker) {
    if constexpr (S::warps > 1) {
      int* box = mail.cost[e & 1] + walker.tile_column;
      put(box, walker);
      __syncthreads();
      get(box, walker);
    }
  }
  __device__ void end() {}
  __device__ static void put(int* box, const Walker<S>& walker) {
#pragma unroll
    for (int c = 0; c < S::lane_columns; ++c) {
      if (walker.kept >> c & 1) box[c] = walker.cost[c];
    }
  }
  __device__ static void get(const int* box, Walker<S>& walker) {
#pragma unroll
    for (int c = 0; c < S::lane_columns; ++c) {
      if (!(walker.kept >> c & 1)) walker.cost[c] = box[c];
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

/// The whole walk of a block.
template <class S, class Wall, class Mail>
__device__ __forceinline__ void walk_strips(const Walk& walk, Wall& wall, Mail& mail) {
  constexpr int C = S::lane_columns;
  Walker<S> walker(walk.wall.columns);
  const bool edge = __any_sync(0xffffffffu, walker.inside != (1u << C) - 1);

  // Prologue: wall stages on their way, source row into registers
  mail.begin();
  wall.begin(static_cast<int>(ceil_div(walk.steps, S::stage_rows)));
  const bool exchanging = S::outer_exchanges(walk.steps) > 0;
  unsigned epoch = exchanging ? walk.exchange.clock[0] : 0;
#pragma unroll
  for (int c = 0; c < C; ++c) {
    walker.cost[c] = walker.inside >> c & 1 ? walk.source[walker.column + c] : unreachable;
  }

  // Main loop: an inner epoch of halo rows, then an exchange
  int stage = 0;
  for (int row = 0, e = 0; row < walk.steps; ++e) {
    const int end = walk.steps - row < S::halo ? walk.steps : row + S::halo;
    for (; row < end; row += S::stage_rows, ++stage) {
      wall.wait(stage);
      if (end - row >= S::stage_rows) {
        if (edge) {
          walk_stage<S, true>(walker, wall);
        } else {
          walk_stage<S, false>(walker, wall);
        }
      } else {
        for (int r = 0; r < end - row; ++r) {
          WallRound<C, 1> last;
          load_round<S, 1, true>(last, wall, r, walker.inside);
          advance(walker.cost, last);
        }
      }
      wall.release(stage);
    }
    if (row >= walk.steps) break;
    mail.exchange(e, walker);
    if ((e + 1) % S::exchanges == 0) exchange_outer(walker, walk.exchange, ++epoch);
  }

  // Epilogue: own costs out; the last block to finish moves the clock on
  mail.end();
#pragma unroll
  for (int c = 0; c < C; ++c) {
    if (walker.owns(c)) walk.result[walker.column + c] = walker.cost[c];
  }
  if (exchanging) {
    __syncthreads();  // every thread has read the clock
    if (threadIdx.x == 0 && atomicAdd(&walk.exchange.clock[1], 1u) == gridDim.x - 1) {
      walk.exchange.clock[1] = 0;
      walk.exchange.clock[0] = epoch;
    }
  }
}

/// Config of a strip kernel. All rows in one cooperative launch where every window is resident at
/// once; otherwise a launch per outer_halo rows, which needs no exchange. `arguments` makes what
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
  config.prepare = [kernel, shared_bytes, arguments](const Problem& p,
                                                     const Device& device) -> Launch {
    LaunchShape shape;
    shape.grid = dim3(static_cast<unsigned>(S::blocks(p.wall.columns)));
    shape.block = dim3(S::threads);
    shape.dynamic_shared_bytes = shared_bytes;
    shape.cluster_blocks = S::cluster;
    const auto* function = reinterpret_cast<const void*>(kernel);
    allow_launch(function, shape);
    const std::int64_t resident = resident_blocks(function, shape, device.sm_count);
    const std::int64_t steps = p.wall.rows - 1;
    const bool persistent = p.exchange.words != nullptr && device.cooperative_launch &&
                            shape.grid.x <= resident && S::outer_exchanges(steps) > 0;
    shape.cooperative = persistent;
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

}  // namespace amasia::pathfinder
