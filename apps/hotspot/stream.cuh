// The streaming schedules (strip.hpp) as device code, common to all strategies. A strategy brings a
// pipeline, which says how rows get from global memory to the warp that needs them:
//
//   consumer_wait(n)     row-block n has arrived and may be read; later ones may be under way
//   temperature(i)       the lane's four cells of row i of the row-block, power(i) likewise
//   store(n, i, cells)   a finished row: four cells per lane, some lanes' are halo
//   consumer_release(n)  row-block n has been read
//   exchange(cascade)    what neighbouring windows tell each other before the next (dsm alone)
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/hotspot/kernel.cuh"
#include "apps/hotspot/schedules.hpp"
#include "apps/hotspot/strip.hpp"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::hotspot {

/// Arguments of one pass.
struct PassView {
  Grid<const float> temperature;
  Grid<const float> power;
  Grid<float> result;
  Coefficients coefficients;
  int chunk_rows;
};

/// The rows of STEPS consecutive time steps that a lane holds, COLUMNS cells of each. Loops over it
/// must be unrolled completely: an index known only at run time would move it to local memory.
template <int STEPS, int COLUMNS = chunk_columns>
struct Cascade {
  float older[STEPS][COLUMNS] = {};   // the last row but one of each step
  float newer[STEPS][COLUMNS] = {};   // its last row, whose south is still missing
  float source[STEPS][COLUMNS] = {};  // source terms of the last STEPS rows, in turn

  /// Takes row ROW (modulo Strip::unroll) of step 0 and leaves row ROW - STEPS of step STEPS in its
  /// place. The source terms of row ROW have to follow.
  template <int ROW>
  __device__ __forceinline__ void push(float (&cells)[COLUMNS], const Coefficients& k) {
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
      const float* row = newer[s];
      // Of a row that has been here since the last call: the shuffles are issued well ahead.
      const float west = __shfl_up_sync(0xffffffffu, row[COLUMNS - 1], 1);
      const float east = __shfl_down_sync(0xffffffffu, row[0], 1);
      float finished[COLUMNS];
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        finished[c] = advance(row[c], older[s][c], cells[c], c > 0 ? row[c - 1] : west,
                              c < COLUMNS - 1 ? row[c + 1] : east,
                              source[(ROW % STEPS + STEPS - s - 1) % STEPS][c], k);
      }
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        older[s][c] = newer[s][c];
        newer[s][c] = cells[c];
        cells[c] = finished[c];
      }
    }
  }
  template <int ROW>
  __device__ __forceinline__ void add_source(int j, float4 terms) {
    float* to = &source[ROW % STEPS][j * chunk_columns];
    to[0] = terms.x, to[1] = terms.y, to[2] = terms.z, to[3] = terms.w;
  }
};

/// A lane's cells of one row.
template <int COLUMNS>
struct LaneRow {
  float cells[COLUMNS];
  __device__ float4 chunk(int j) const {
    return make_float4(cells[4 * j], cells[4 * j + 1], cells[4 * j + 2], cells[4 * j + 3]);
  }
  __device__ void set(int j, float4 v) {
    cells[4 * j] = v.x;
    cells[4 * j + 1] = v.y;
    cells[4 * j + 2] = v.z;
    cells[4 * j + 3] = v.w;
  }
};
template <class S>
using RowOf = LaneRow<S::columns_per_lane>;
template <class S>
using CascadeOf = Cascade<S::steps_per_link, S::columns_per_lane>;

/// The source terms of a row that has arrived.
template <class S, class Rows>
__device__ __forceinline__ float4 arrived_source(const Rows& pipeline, int i, int j,
                                                 const Coefficients& k) {
  const float4 watts = pipeline.power(i, j);
  return make_float4(source_term(watts.x, k), source_term(watts.y, k), source_term(watts.z, k),
                     source_term(watts.w, k));
}

template <class S, int ROW, class Rows>
__device__ __forceinline__ void stream_row(Rows& pipeline, CascadeOf<S>& cascade, int n, int i,
                                           const Coefficients& k) {
  RowOf<S> row;
#pragma unroll
  for (int j = 0; j < S::chunks_per_lane; ++j) row.set(j, pipeline.temperature(i, j));
  cascade.template push<ROW>(row.cells, k);
#pragma unroll
  for (int j = 0; j < S::chunks_per_lane; ++j) {
    cascade.template add_source<ROW>(j, arrived_source<S>(pipeline, i, j, k));
    pipeline.store(n, i, j, row.chunk(j));
  }
}

/// The row-blocks of one period of the register roles, PHASE being the first row's place in it. The
/// roles are template arguments, not the index of a loop that the compiler may leave rolled.
/// Returns false after the last row-block.
template <class S, int PHASE, class Rows, int... ROW>
__device__ __forceinline__ bool stream_period(Rows& pipeline, CascadeOf<S>& cascade, int& n,
                                              int blocks, const Coefficients& k,
                                              std::integer_sequence<int, ROW...> rows) {
  pipeline.consumer_wait(n);
  (stream_row<S, PHASE + ROW>(pipeline, cascade, n, ROW, k), ...);
  pipeline.consumer_release(n);
  if (++n == blocks) return false;
  pipeline.exchange(cascade);
  if constexpr (PHASE + S::rows < S::unroll) {
    return stream_period<S, PHASE + S::rows>(pipeline, cascade, n, blocks, k, rows);
  }
  return true;
}

/// What the links of a window tell each other, in shared memory.
template <class S>
struct ChainStorage {
  static constexpr int depth = (S::links - 1) * S::link_delay + 1;  // row-blocks on their way
  using Rows = float4[S::rows][S::chunks_per_lane][lanes];
  struct Window {
    Rows handed[2][S::links - 1];  // results of each link, written in one turn and read in the next
    Rows source[depth];            // source terms, read by every link in its turn
  };
  Window windows[S::windows];
};

/// A warp's place in the chain. Addresses are 32-bit shared ones, of the lane's first chunk.
template <class S>
struct Link {
  static constexpr unsigned chunk = lanes * sizeof(float4), row = S::chunks_per_lane * chunk,
                            rows = S::rows * row;
  static constexpr unsigned swap = (S::links - 1) * rows;  // between the two slots of `handed`
  int link;
  unsigned storage;  // of the window
  unsigned source;   // offset of the row-block's source terms

  __device__ explicit Link(ChainStorage<S>& all) : link(threadIdx.x / lanes % S::links) {
    auto& window = all.windows[threadIdx.x / lanes / S::links];
    storage = async::held_address(&window.handed[0][0][0][0][threadIdx.x % lanes]);
    constexpr int depth = ChainStorage<S>::depth;
    source = (S::links * depth - link * S::link_delay) % depth * rows;
  }

  template <int ROW, int PARITY, class Rows>
  __device__ __forceinline__ void advance_row(Rows& pipeline, CascadeOf<S>& cascade, unsigned in,
                                              unsigned in_chunk, int n, int i,
                                              const Coefficients& k) {
    RowOf<S> cells;
#pragma unroll
    for (int j = 0; j < S::chunks_per_lane; ++j) {
      cells.set(j, async::load_float4(in + i * row + j * in_chunk));
    }
    cascade.template push<ROW>(cells.cells, k);
#pragma unroll
    for (int j = 0; j < S::chunks_per_lane; ++j) {
      cascade.template add_source<ROW>(
          j, async::load_float4(storage + source + 2 * swap + i * row + j * chunk));
      if (link < S::links - 1) {
        async::store_float4(storage + link * rows + PARITY * swap + i * row + j * chunk,
                            cells.chunk(j));
      }
      pipeline.store(n, i, j, cells.chunk(j));
    }
  }
  template <int PHASE, class Rows, int... ROW>
  __device__ __forceinline__ void advance(Rows& pipeline, CascadeOf<S>& cascade, int turn,
                                          const Coefficients& k,
                                          std::integer_sequence<int, ROW...>) {
    constexpr int parity = PHASE / S::rows % 2;
    static_assert(S::unroll / S::rows % 2 == 0, "turns alternate");
    unsigned in = storage + (link - 1) * rows + (1 - parity) * swap;
    unsigned in_chunk = chunk;
    if (link == 0) {
      in = async::shared_address(pipeline.first_chunk());
      in_chunk = Rows::chunk_stride;
#pragma unroll
      for (int i = 0; i < S::rows; ++i) {
#pragma unroll
        for (int j = 0; j < S::chunks_per_lane; ++j) {
          async::store_float4(storage + source + 2 * swap + i * row + j * chunk,
                              arrived_source<S>(pipeline, i, j, k));
        }
      }
    }
    const int n = turn - link * S::link_delay;
    (advance_row<PHASE + ROW, parity>(pipeline, cascade, in, in_chunk, n, ROW, k), ...);
    source = source == (ChainStorage<S>::depth - 1) * rows ? 0 : source + rows;
  }
};

template <class S, int PHASE, class Rows>
__device__ __forceinline__ void chain_period(Rows& pipeline, CascadeOf<S>& cascade, Link<S>& link,
                                             int turn, int blocks, const Coefficients& k) {
  const bool takes = link.link == 0 && turn < blocks;  // an arrival
  if constexpr (Rows::waits_as_block) {
    pipeline.consumer_wait(turn);
  } else {
    __syncthreads();
    if (takes) pipeline.consumer_wait(turn);
  }
  link.template advance<PHASE>(pipeline, cascade, turn, k,
                               std::make_integer_sequence<int, S::rows>{});
  if (Rows::waits_as_block || takes) pipeline.consumer_release(turn);
  if constexpr (PHASE + S::rows < S::unroll) {
    chain_period<S, PHASE + S::rows>(pipeline, cascade, link, turn + 1, blocks, k);
  }
}

/// Main loop of all strategies: walks a warp down its window.
template <class S, class Rows>
__device__ __forceinline__ void stream(Rows& pipeline, int blocks, const Coefficients& k) {
  CascadeOf<S> cascade;
  if constexpr (S::links == 1) {
    int n = 0;
    while (stream_period<S, 0>(pipeline, cascade, n, blocks, k,
                               std::make_integer_sequence<int, S::rows>{})) {
    }
  } else {
    __shared__ ChainStorage<S> storage;
    Link<S> link(storage);
    // Links that have nothing to do yet, or no more, advance what they find: nobody reads it.
    for (int turn = 0; turn < blocks + S::links - 1; turn += S::unroll / S::rows) {
      chain_period<S, 0>(pipeline, cascade, link, turn, blocks, k);
    }
  }
}

/// Where a block works: its row run and the first column of its tile, a multiple of four, -halo at
/// the west edge.
template <class S>
struct Place {
  RowRun run;
  int first_column;
  int grid_rows, grid_columns;
  bool at_edge;  // some column of the tile lies outside the grid

  __device__ explicit Place(const PassView& pass)
      : run(row_run<S>(blockIdx.y, pass.chunk_rows, static_cast<int>(pass.result.rows))),
        first_column(S::first_column(static_cast<int>(blockIdx.x))),
        grid_rows(static_cast<int>(pass.result.rows)),
        grid_columns(static_cast<int>(pass.result.columns)),
        at_edge(first_column < 0 || first_column + S::tile_columns > grid_columns) {}

  __device__ int lane_column() const {
    return S::lane_column(static_cast<int>(blockIdx.x), window_in_block(),
                          static_cast<int>(threadIdx.x) % lanes);
  }
  __device__ static int window_in_block() {
    return static_cast<int>(threadIdx.x) / lanes / S::links;
  }
  /// Bit j: the lane's chunk j is in the grid and finished by this warp, rather than halo or
  /// another link's.
  __device__ unsigned finished_chunks() const {
    if (static_cast<int>(threadIdx.x) / lanes % S::links < S::links - 1) return 0;
    unsigned chunks = 0;
    for (int j = 0; j < S::chunks_per_lane; ++j) {
      if (S::lane_finishes(static_cast<int>(threadIdx.x) % lanes, j) &&
          lane_column() + j * chunk_columns < grid_columns) {
        chunks |= 1u << j;
      }
    }
    return chunks;
  }
};

/// Stores the lane's finished cells to global memory, 16 bytes at once; the padding behind a row
/// takes what exceeds the grid.
template <class S>
struct DirectStore {
  const PassView& pass;
  const RowRun& run;
  int column;       // of the lane
  unsigned chunks;  // bit j: the lane stores its chunk j

  __device__ DirectStore(const PassView& view, const RowRun& rows, int lane_column,
                         unsigned finished)
      : pass(view), run(rows), column(lane_column), chunks(finished) {}

  __device__ void store(int n, int i, int j, float4 finished) const {
    const int row = run.begin - S::first_result + n * S::rows + i;
    if (row >= run.begin && row < run.end && (chunks >> j & 1) != 0) {
      *reinterpret_cast<float4*>(pass.result.data + row * pass.result.pitch + column +
                                 j * chunk_columns) = finished;
    }
  }
  __device__ void exchange(const CascadeOf<S>&) const {}
};

/// Grid, block and shared memory of a pass by `kernel`, whose chunks fill the device.
template <class S>
LaunchShape pass_shape(const void* kernel, const Problem& problem, const Device& device,
                       std::size_t shared_bytes, int& chunk_rows) {
  LaunchShape shape;
  shape.block = dim3(S::threads);
  shape.dynamic_shared_bytes = shared_bytes;
  shape.cluster_blocks = S::cluster_blocks;
  allow_launch(kernel, shape);
  const std::int64_t across =
      ceil_div(problem.result.columns, S::cluster_columns) * S::cluster_blocks;
  const int resident = resident_blocks(kernel, shape, device.sm_count);
  chunk_rows = best_chunk_rows<S>(problem.result.rows, across, resident);
  shape.grid = dim3(static_cast<unsigned>(across),
                    static_cast<unsigned>(ceil_div(problem.result.rows, chunk_rows)));
  return shape;
}

/// A pass whose kernel takes a PassView and nothing else.
template <class S>
Launch enqueue_pass(void (*kernel)(PassView), const Problem& problem, const Pass& pass,
                    const Device& device, std::size_t shared_bytes) {
  PassView view{pass.source, problem.power, pass.destination, problem.coefficients, 0};
  const LaunchShape shape = pass_shape<S>(reinterpret_cast<const void*>(kernel), problem, device,
                                          shared_bytes, view.chunk_rows);
  return [=](Stream stream) { launch(kernel, shape, stream, view); };
}

/// A strategy under one streaming schedule. Kernels supplies, for a Strip S, use<S>(), the
/// KernelUse, and pass<S>(problem, pass, device), the launch of a pass. `suffix`, "/producer" say,
/// tells the movement from another of the same schedule.
template <class Kernels, class Move, class Schedule, std::size_t... I>
ConfigOf<Problem> streaming(const std::string& suffix, std::index_sequence<I...>) {
  static constexpr auto steps = Schedule::steps;
  static constexpr int longest = steps.back();
  ConfigOf<Problem> config;
  config.info.schedule = std::string(Schedule::name);
  config.info.name = config.info.schedule + suffix;
  constexpr Shape shape = Schedule::shape(longest);
  config.info.geometry = {{"warps", shape.windows * shape.links},
                          {"columns_per_lane", shape.columns_per_lane},
                          {"steps_per_pass", longest},
                          {"blocks_per_sm", blocks_per_sm<longest, Schedule, Move>()}};
  config.info.movement = {{"stages", Move::stages},
                          {"stage_rows", StripOf<longest, Schedule, Move>::rows},
                          {"producer_warps", Move::producer_warps}};
  config.info.kernels = {Kernels::template use<StripOf<steps[I], Schedule, Move>>()...};
  config.prepare = [](const Problem& problem, const Device& device) {
    std::vector<Launch> launches;
    for (const Pass& pass : ping_pong(problem, plan_passes(problem.steps, {steps[I]...}))) {
      (void)((pass.steps == steps[I] &&
              (launches.push_back(Kernels::template pass<StripOf<steps[I], Schedule, Move>>(
                   problem, pass, device)),
               true)) ||
             ...);
    }
    return [launches = std::move(launches)](Stream stream) {
      for (const Launch& one : launches) one(stream);
    };
  };
  return config;
}

/// Adds the strategy with this movement under each of these schedules.
template <class Kernels, class Move, class Schedules = StreamingSchedules>
void add_streaming(std::vector<ConfigOf<Problem>>& configs, const std::string& suffix = "") {
  std::apply(
      [&](auto... schedule) {
        (configs.push_back(streaming<Kernels, Move, decltype(schedule)>(
             suffix, std::make_index_sequence<decltype(schedule)::steps.size()>{})),
         ...);
      },
      Schedules{});
}

}  // namespace amasia::hotspot
