// The persistent schedules. geometry.hpp defines which columns a warp has, exchange.cuh how windows
// exchange costs, this file how a warp walks down the rows. A variant supplies the two things in
// which strategies differ:
//
//   Wall   How wall rows arrive, seen by the warps that compute.
//            `prologue(stages)`    Starts the first of so many stages.
//            `consumer_wait()`     The next stage can be read by this warp.
//            `load(r, c)`          Four walls of row r, the lane's columns c ... c+3.
//            `consumer_release()`  This warp has read the stage.
//            `engine`              The copy engine signals arrival; waiting reads no global memory.
//          Where warps only copy, Wall::produce(storage, walk) is all they do.
//   Mail   How windows of a group exchange costs, in two halves, send() and receive(): BlockMail,
//          or across blocks ClusterWords and ClusterMail.
//
// In a tall grid a warp is alone on its scheduler and nothing hides an instruction between one row
// and the next, so the loop is kept bare: addresses in registers, one branch per stage.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/pathfinder/exchange.cuh"
#include "apps/pathfinder/geometry.hpp"
#include "apps/pathfinder/kernel.cuh"
#include "apps/pathfinder/schedules.hpp"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/global_memory.cuh"
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

/// ROWS rows of wall from row r of the current stage. Columns outside the grid become outside_wall:
/// a way around outside is then never cheaper than staying at the edge.
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
        if (!(inside >> c & 1)) round.height[i][c + ROWS - 1] = outside_wall;
      }
    }
  }
  spread(round);
}

/// Rounds from row R on; `now` is the wall of the first of them. A recursion, because nvcc
/// 12.4 leaves a loop of so many rounds a loop, and its walls in local memory.
template <class S, bool EDGE, int R = 0, class Wall, class Round>
__device__ __forceinline__ void walk_rounds(Walker<S>& walker, Wall& wall, Round& now,
                                            Round& next) {
  constexpr int behind = R + S::round;
  if constexpr (behind < S::stage_rows) {
    load_round<S, S::round, EDGE>(next, wall, behind, walker.inside);
  }
  advance(walker.cost, now);
  if constexpr (behind < S::stage_rows) walk_rounds<S, EDGE, behind>(walker, wall, next, now);
}

/// A full stage; the next round's wall is read, and spread, while this round is computed. AHEAD:
/// the first one has been read already.
template <class S, bool EDGE, bool AHEAD, class Wall>
__device__ __forceinline__ void walk_stage(Walker<S>& walker, Wall& wall,
                                           const WallRound<S::lane_columns, S::round>& first) {
  WallRound<S::lane_columns, S::round> round[2];
  if constexpr (AHEAD) {
    round[0] = first;
  } else {
    load_round<S, S::round, EDGE>(round[0], wall, 0, walker.inside);
  }
  walk_rounds<S, EDGE>(walker, wall, round[0], round[1]);
}

/// Asks L2 for the window's part of stage n, a line by each lane.
template <class S>
__device__ __forceinline__ void prefetch_stage(const Walk& walk, const Walker<S>& walker, int n) {
  constexpr int line = 32, lines = S::window / line;  // columns; of a row
  const std::int64_t window = walker.column - walker.lane * S::lane_columns;
  for (int i = walker.lane; i < S::stage_rows * lines; i += 32) {
    const int row = n * S::stage_rows + i / lines;
    const std::int64_t column = window + i % lines * line;
    if (row < walk.steps && column >= 0 && column < walk.wall.columns) {
      global::prefetch_line(&walk.wall.at(walk.first_row + row, column));
    }
  }
}

/// Which warps replace walls outside the grid: none or all of the block, or each looks for itself.
/// Known beforehand it costs a tall walk no branch; but a block has many wide warps, and few at the
/// edge.
enum class Edge { none, all, some };

/// Is the next stage read while costs travel? In tall grids, where the copy engine signals its
/// arrival. Where threads copy it or meet for it, they do so afterwards: what they ask memory for
/// would be in front of the words that the outer exchange waits for.
template <class S, class Wall>
constexpr bool reads_ahead = (Wall::engine && S::tall);

/// An inner epoch of halo rows, an exchange, and so on, until at most halo rows are left. Counts
/// the outer epochs and the rows that are left.
template <class S, Edge EDGE, class Wall, class Mail>
__device__ __forceinline__ void walk_epochs(const Walk& walk, Walker<S>& walker, Wall& wall,
                                            Mail& mail, unsigned& epoch, int& left) {
  const bool at_edge = __any_sync(all_lanes, walker.inside != (1u << S::lane_columns) - 1);
  const bool edge = EDGE == Edge::all || (EDGE == Edge::some && at_edge);
  constexpr bool ahead = reads_ahead<S, Wall>;
  WallRound<S::lane_columns, S::round> first;  // of the stage that is walked next, read ahead
  [[maybe_unused]] int turned = 0;
  const auto turn_to_next_stage = [&] {
    if constexpr (S::Movement::l2_ahead > 0) {
      prefetch_stage<S>(walk, walker, turned++ + S::Movement::l2_ahead);
    }
    wall.consumer_wait();
    if constexpr (ahead) {
      load_round<S, S::round, EDGE == Edge::all>(first, wall, 0, walker.inside);
    }
  };
  constexpr int stages = S::halo / S::stage_rows;
  const LaneWords<S> words(walk.exchange, walker.column);
  int until_outer = S::exchanges;
  if (ahead && left > 0) turn_to_next_stage();
  for (int e = 0; left > S::halo; ++e) {
#pragma unroll 1
    for (int stage = 0; stage < stages; ++stage) {
      if (!ahead || stage > 0) turn_to_next_stage();
      if (edge) {
        walk_stage<S, true, ahead>(walker, wall, first);
      } else {
        walk_stage<S, false, ahead>(walker, wall, first);
      }
      if (!ahead || stage < stages - 1) wall.consumer_release();
    }
    left -= S::halo;
    if (edge) cut_costs(walker);
    const bool outer = --until_outer == 0;
    if (outer) publish(walker, words, ++epoch);
    mail.send(e, walker);
    if (ahead) {
      wall.consumer_release();
      turn_to_next_stage();
    }
    mail.receive(e, walker);
    if (outer) {
      ask(walker, words, epoch);
      until_outer = S::exchanges;
    }
  }
}

/// The last rows, at most halo, one by one; a row of wall is read while the one before it is
/// computed.
template <class S, class Wall>
__device__ __forceinline__ void walk_rest(Walker<S>& walker, Wall& wall, int left) {
  for (bool turned = reads_ahead<S, Wall>; left > 0; turned = false) {
    const int rows = left < S::stage_rows ? left : S::stage_rows;
    if (!turned) wall.consumer_wait();
    WallRound<S::lane_columns, 1> now, next;
    load_round<S, 1, true>(next, wall, 0, walker.inside);
#pragma unroll 1
    for (int row = 1; row <= rows; ++row) {
      now = next;
      if (row < rows) load_round<S, 1, true>(next, wall, row, walker.inside);
      advance(walker.cost, now);
    }
    wall.consumer_release();
    left -= rows;
  }
}

/// The whole walk of a block's computing warps.
template <class S, class Wall, class Mail>
__device__ __forceinline__ void walk_strips(const Walk& walk, Walker<S>& walker, Wall& wall,
                                            Mail& mail) {
  constexpr int C = S::lane_columns;
  // Prologue: wall stages on their way, source row into registers
  wall.prologue(S::stages_of(walk.steps));
  const bool exchanging = S::outer_exchanges(walk.steps) > 0;
  unsigned epoch = exchanging ? walk.exchange.clock[0] : 0;
#pragma unroll
  for (int c = 0; c < C; ++c) {
    walker.cost[c] = walker.inside >> c & 1 ? walk.source[walker.column + c] : unreachable;
  }

  // Main loop
  int left = walk.steps;
  if constexpr (!S::tall) {
    walk_epochs<S, Edge::some>(walk, walker, wall, mail, epoch, left);
  } else {  // a choice of the block, whose warps meet at barriers in there
    const std::int64_t tile = S::tile_column(blockIdx.x);
    if (tile < 0 || tile + S::tile_columns > walk.wall.columns) {
      walk_epochs<S, Edge::all>(walk, walker, wall, mail, epoch, left);
    } else {
      walk_epochs<S, Edge::none>(walk, walker, wall, mail, epoch, left);
    }
  }
  walk_rest(walker, wall, left);

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

/// The kernel of the strategies whose blocks work alone: Wall(storage, walk) is what the computing
/// warps read the wall through, Wall::produce what producer warps do.
template <class S, class Wall, class Mail = BlockMail<S>>
struct SharedStorage {
  typename Wall::Storage wall;
  typename Mail::Storage mail;
};

template <class S, class Wall>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) copied_strips(Walk walk) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<SharedStorage<S, Wall>*>(memory);
  if constexpr (S::producers > 0) {
    if (!computes<S>()) return Wall::produce(shared.wall, walk);
  }
  Wall wall(shared.wall, walk);
  Walker<S> walker(walk.wall.columns);
  BlockMail<S> mail(shared.mail, walker);
  walk_strips<S>(walk, walker, wall, mail);
}

/// What strategies decline whose blocks work alone.
inline const std::vector<Declined> needs_groups{
    {std::string(Tall3Cluster::name),
     "3 windows that finish 84 columns have no halo of whole epochs: it takes a cluster"}};

/// The name of a movement among those of a schedule, such as "producers-2x14-rows": `who` moves,
/// and on tall schedules stages and their rows, unless a stage is a whole halo.
template <class S>
std::string movement_name(const std::string& who) {
  if (S::Movement::l2_ahead > 0) return who.empty() ? "l2" : who + "-l2";
  if (!S::tall || S::stage_rows == S::halo) return who;
  const std::string stages =
      std::to_string(S::stages) + "x" + std::to_string(S::stage_rows) + "-rows";
  return who.empty() ? stages : who + "-" + stages;
}

/// Config of a strip kernel. All rows in one cooperative launch where every window is resident at
/// once. Otherwise wide lanes take a launch per outer_halo rows, which needs no exchange, and
/// narrow lanes decline: most of what their windows would read then is halo. `who`, if not empty,
/// names in the config's name who moves; movement_name() adds to it. `arguments` makes what the
/// kernel takes besides the walk (a tensor map), as a tuple.
template <class S, class Kernel, class Arguments = NoArguments>
ConfigOf<Problem> strips_config(const std::string& who, Kernel kernel, std::size_t shared_bytes,
                                int stages_in_flight, Arguments arguments = {}) {
  ConfigOf<Problem> config;
  const std::size_t wall_bytes =
      sizeof(int) * static_cast<std::size_t>(stages_in_flight) * S::stage_rows * S::tile_columns;
  const std::string schedule(S::Schedule::name);
  const std::string movement = movement_name<S>(who);
  config.info.name = movement.empty() ? schedule : schedule + "/" + movement;
  config.info.geometry = {{"warps", S::warps},           {"lane_columns", S::lane_columns},
                          {"owned_columns", S::owned},   {"halo", S::halo},
                          {"outer_halo", S::outer_halo}, {"round", S::round},
                          {"cluster", S::cluster}};
  config.info.kernels = {
      {reinterpret_cast<const void*>(kernel), S::threads, shared_bytes, S::cluster, wall_bytes}};
  config.info.schedule = schedule;
  config.info.movement = {{"stage_rows", S::stage_rows},
                          {"stages", S::stages},
                          {"producer_warps", S::Movement::producer_warps},
                          {"depth", S::Movement::depth},
                          {"l2_ahead", S::Movement::l2_ahead}};
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

}  // namespace amasia::pathfinder
