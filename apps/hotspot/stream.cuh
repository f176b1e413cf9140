// The streaming schedules (geometry.hpp) as device code, common to all strategies. A strategy
// supplies a pipeline, which moves rows from global memory to the warp that needs them:
//
//   `consumer_wait(n)`     Row-block n has arrived and may be read. Later ones may be in flight.
//   `temperature(i)`       The lane's four cells of row i of the row-block; `power(i)` likewise.
//   `begin(n)`             The results that follow are those of row-block n.
//   `store(i, cells)`      A finished row: four cells per lane, in some lanes halo.
//   `consumer_release(n)`  Row-block n has been read.
//   `exchange(cascade)`    Neighbouring windows exchange halos before the next row-block (dsm).
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/hotspot/geometry.hpp"
#include "apps/hotspot/kernel.cuh"
#include "apps/hotspot/schedules.hpp"
#include "harness/variant.hpp"
#include "variants/device/dependent_launch.cuh"
#include "variants/geometry/ring.hpp"

namespace amasia::hotspot {

/// Arguments of one pass.
struct PassView {
  Grid<const float> temperature;
  Grid<const float> power;
  Grid<float> result;
  Coefficients coefficients;
  int chunk_rows;
  int zero = 0;  // nothing else; see Cascade::moved()
};

/// Calls copy(i, offset) for the rows of a row-block that begins at row `first`: row first + i, or
/// its mirror image, begins `offset` elements after row `first`. Rows inside the grid lie at equal
/// distances, which costs an addition per row instead of a search for the image. UNROLLED: `copy`
/// needs its `i` at compile time.
template <class S, bool UNROLLED = false, class Copy>
__device__ __forceinline__ void each_row(int first, int grid_rows, int pitch, const Copy& copy) {
  if (first >= 0 && first + S::rows <= grid_rows) {
#pragma unroll
    for (int i = 0; i < S::rows; ++i) copy(i, std::int64_t{pitch} * i);
  } else {
#pragma unroll(UNROLLED ? S::rows : 1)
    for (int i = 0; i < S::rows; ++i) {
      copy(i, std::int64_t{pitch} * (mirror(first + i, grid_rows) - first));
    }
  }
}

/// The rows of STEPS consecutive time steps that a lane holds, four cells of each. Loops over it
/// must be unrolled completely: an index known only at run time would move it to local memory.
///
/// After PERIOD rows all registers are in the roles that they began with. The rows of a step
/// alternate between two sets. The source terms of a row keep their place for STEPS rows if the
/// period is a multiple of STEPS; otherwise they move by PERIOD places as rows arrive.
///
/// ODD: the first row of a period is an odd row of the grid.
template <int STEPS, int PERIOD, bool ODD>
struct Cascade {
  static_assert(PERIOD % 2 == 0 && (PERIOD % STEPS == 0 || STEPS % PERIOD == 0));
  float pairs[STEPS][columns_per_lane] =
      {};  // the north pairs of the cells of `newer` (kernel.cuh)
  float newer[STEPS][columns_per_lane] = {};   // its last row, whose south is still missing
  float source[STEPS][columns_per_lane] = {};  // source terms of the last STEPS rows

  /// The place of the source terms of row `row` when rows up to `now` - 1 have been taken; rows
  /// count from the beginning of the period, those before it are negative.
  static constexpr int place_of(int row, int now) {
    if (PERIOD % STEPS == 0) return (row + STEPS) % STEPS;
    if (row >= 0) return STEPS - PERIOD + row;
    const int place = row + STEPS;
    return place % PERIOD < now ? place - PERIOD : place;
  }
  /// Is this row of the period an odd one of the grid? Rows before the period are negative.
  static constexpr bool odd_row(int row) { return ((row + ODD) & 1) != 0; }
  /// The same value in another register. The assembler does not know that `zero` is 0. Of plain
  /// moves it knows that they are, puts all of them at the end of the period, and spills.
  static __device__ __forceinline__ float moved(float value, int zero) {
    return __int_as_float(__float_as_int(value) | zero);
  }

  /// Takes row ROW of the period at step 0 and returns row ROW - STEPS of step STEPS.
  template <int ROW>
  __device__ __forceinline__ float4 push(float4 temperature, float4 power, const PassView& pass) {
    const Coefficients& k = pass.coefficients;
    constexpr unsigned all = 0xffffffffu;
    float arriving[columns_per_lane] = {temperature.x, temperature.y, temperature.z, temperature.w};
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
      const float* row = newer[s];
      // The south pair of a lane's first cell needs its west in an odd row, that of its last cell
      // its east; in an even row both need cells of their own lane.
      const bool odd = odd_row(ROW - s - 1);
      float west = 0, east = 0;
      if (odd) {  // of a row that has been here since the last call: issued well ahead
        west = __shfl_up_sync(all, row[columns_per_lane - 1], 1);
        east = __shfl_down_sync(all, row[0], 1);
      }
      float south_pair[columns_per_lane], finished[columns_per_lane];
#pragma unroll
      for (int c = 0; c < columns_per_lane; ++c) {
        const int beside = is_even(odd, c) ? c + 1 : c - 1;
        const float with_south = beside < 0 ? west
                                 : beside == columns_per_lane
                                     ? east
                                     : row[beside & (columns_per_lane - 1)];
        south_pair[c] = arriving[c] + with_south;
        finished[c] = advance_pairs(row[c], pairs[s][c], south_pair[c],
                                    source[place_of(ROW - s - 1, ROW)][c], k);
      }
      // South pairs are the north pairs of the row below, one column on: to the east from even
      // cells, to the west from odd ones.
      if (odd) {
        pairs[s][0] = __shfl_up_sync(all, south_pair[3], 1);
        pairs[s][1] = south_pair[2];
        pairs[s][2] = south_pair[1];
        pairs[s][3] = __shfl_down_sync(all, south_pair[0], 1);
      } else {
        pairs[s][0] = south_pair[1];
        pairs[s][1] = south_pair[0];
        pairs[s][2] = south_pair[3];
        pairs[s][3] = south_pair[2];
      }
#pragma unroll
      for (int c = 0; c < columns_per_lane; ++c) {
        newer[s][c] = arriving[c];
        arriving[c] = finished[c];
      }
    }
    const float watts[columns_per_lane] = {power.x, power.y, power.z, power.w};
#pragma unroll
    for (int c = 0; c < columns_per_lane; ++c) {
#pragma unroll
      for (int place = ROW; place + PERIOD < STEPS; place += PERIOD) {
        source[place][c] = moved(source[place + PERIOD][c], pass.zero);
      }
      source[place_of(ROW, ROW + 1)][c] = source_term(watts[c], k);
    }
    return make_float4(arriving[0], arriving[1], arriving[2], arriving[3]);
  }
};

template <class S>
using CascadeOf = Cascade<S::steps, S::unroll, ((S::steps - S::warm_up) & 1) != 0>;  // row_run()

/// A row on its way into the cascade.
struct Arrival {
  float4 temperature, power;
  template <class Rows>
  __device__ __forceinline__ Arrival(const Rows& pipeline, int i)
      : temperature(pipeline.temperature(i)), power(pipeline.power(i)) {}
};

/// Row ROW of row-block n, FIRST being the place of the row-block's first row in the period. Where
/// the pass reads ahead, the next row is read before the arithmetic of this one, across the
/// hand-over of row-blocks too, so that its latency is hidden.
template <class S, int FIRST, int ROW, class Rows>
__device__ __forceinline__ void stream_row(Rows& pipeline, CascadeOf<S>& cascade, Arrival& arrival,
                                           int n, int blocks, const PassView& pass) {
  if constexpr (!S::reads_ahead) arrival = Arrival(pipeline, ROW);
  const Arrival row = arrival;
  if constexpr (ROW + 1 == S::rows) {
    pipeline.consumer_release(n);
    if constexpr (S::reads_ahead) {
      if (n + 1 < blocks) pipeline.consumer_wait(n + 1);
      arrival = Arrival(pipeline, 0);  // after the last row-block, of a stage that nobody uses
    }
  } else if constexpr (S::reads_ahead) {
    arrival = Arrival(pipeline, ROW + 1);
  }
  pipeline.store(ROW, cascade.template push<FIRST + ROW>(row.temperature, row.power, pass));
}

/// Row-block n. Returns false after the last one.
template <class S, int FIRST, class Rows, int... ROW>
__device__ __forceinline__ bool stream_rows(Rows& pipeline, CascadeOf<S>& cascade, Arrival& arrival,
                                            int& n, int blocks, const PassView& pass,
                                            std::integer_sequence<int, ROW...>) {
  if constexpr (!S::reads_ahead) pipeline.consumer_wait(n);
  pipeline.begin(n);
  (stream_row<S, FIRST, ROW>(pipeline, cascade, arrival, n, blocks, pass), ...);
  if (++n == blocks) return false;
  pipeline.exchange(cascade);
  return true;
}

/// Main loop of all strategies: walks a warp down its window. The places in the period are template
/// arguments, not the index of a loop that the compiler may leave rolled.
template <class S, class Rows, int... BLOCK>
__device__ __forceinline__ void stream(Rows& pipeline, int blocks, const PassView& pass,
                                       std::integer_sequence<int, BLOCK...>) {
  constexpr auto rows = std::make_integer_sequence<int, S::rows>{};
  CascadeOf<S> cascade;
  int n = 0;
  if constexpr (S::reads_ahead) pipeline.consumer_wait(n);
  Arrival arrival(pipeline, 0);
#pragma unroll 1
  while (
      (stream_rows<S, BLOCK * S::rows>(pipeline, cascade, arrival, n, blocks, pass, rows) && ...)) {
  }
}
template <class S, class Rows>
__device__ __forceinline__ void stream(Rows& pipeline, int blocks, const PassView& pass) {
  stream<S>(pipeline, blocks, pass, std::make_integer_sequence<int, S::unroll / S::rows>{});
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
        at_edge(first_column < 0 || first_column + S::tile_columns > grid_columns) {
    follow_predecessor();
  }

  __device__ int lane_column() const {
    return S::lane_column(static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x) / lanes,
                          static_cast<int>(threadIdx.x) % lanes);
  }
  __device__ static bool lane_finishes() {
    return S::lane_finishes(static_cast<int>(threadIdx.x) % lanes);
  }
};

/// Stores the lane's finished cells to global memory, 16 bytes at once; the padding behind a row
/// takes what exceeds the grid.
template <class S>
struct DirectStore {
  float* cells;  // the lane's column in the row that the first arrival finishes
  int pitch;
  int rows;   // rows up to the end of the results; 0 for a lane that holds halo
  float* to;  // the same of the row-block under way
  int left;   // and its rows up to the end of the results

  __device__ DirectStore(const PassView& pass, const RowRun& run, int column, bool finishes)
      : cells(pass.result.data + (std::int64_t{run.begin} - S::warm_up) * pass.result.pitch +
              column),
        pitch(static_cast<int>(pass.result.pitch)),
        rows(finishes && column < pass.result.columns ? run.end - run.begin + S::warm_up : 0) {}

  __device__ void begin(int n) {
    const int row = n * S::rows;
    left = row >= S::warm_up ? rows - row : 0;
    to = cells + std::int64_t{row} * pitch;
  }
  __device__ void store(int i, float4 finished) const {
    if (i < left) *reinterpret_cast<float4*>(to + std::int64_t{pitch} * i) = finished;
  }
  __device__ void exchange(const CascadeOf<S>&) const {}
};

/// What kernels that take a PassView and nothing else need not say.
struct PlainKernels {
  /// The strip that the kernel makes of a schedule's.
  template <class S>
  using Of = S;
  /// What the kernel takes besides the pass.
  template <class S>
  static std::tuple<> arguments(const Problem&, const Pass&) {
    return {};
  }
};

/// A pass whose chunks fill the device.
template <class Kernels, class S>
Launch enqueue_pass(const Problem& problem, const Pass& pass, const Device& device) {
  const auto kernel = Kernels::template kernel<S>();
  FollowingShape shape;
  shape.early = pass.early;
  shape.block = dim3(S::threads);
  shape.dynamic_shared_bytes = Kernels::template shared_bytes<S>;
  shape.cluster_blocks = S::cluster_blocks;
  allow_launch(reinterpret_cast<const void*>(kernel), shape);
  const std::int64_t across =
      ceil_div(problem.result.columns, S::cluster_columns) * S::cluster_blocks;
  const int resident =
      resident_blocks(reinterpret_cast<const void*>(kernel), shape, device.sm_count);
  const int chunk_rows = best_chunk_rows<S>(problem.result.rows, across, resident);
  shape.grid = dim3(static_cast<unsigned>(across),
                    static_cast<unsigned>(ceil_div(problem.result.rows, chunk_rows)));
  const PassView view{pass.source, problem.power, pass.destination, problem.coefficients,
                      chunk_rows};
  return [=, more = Kernels::template arguments<S>(problem, pass)](Stream stream) {
    std::apply([&](const auto&... each) { launch(kernel, shape, stream, view, each...); }, more);
  };
}

template <class Kernels, class S>
KernelUse use_of() {
  return {reinterpret_cast<const void*>(Kernels::template kernel<S>()), S::threads,
          Kernels::template shared_bytes<S>, S::cluster_blocks, Kernels::template in_flight<S>};
}

/// A strategy under one streaming schedule. Kernels, a PlainKernels, has for a Strip S the
/// kernel<S>(), its dynamic shared_bytes<S>, and in_flight<S>, the bytes that a block can have
/// outstanding. `suffix` names the movement where a schedule has several: "/period".
template <class Kernels, class Move, class Schedule, std::size_t... I>
ConfigOf<Problem> streaming(const std::string& suffix, std::index_sequence<I...>) {
  static constexpr auto steps = Schedule::steps;
  static constexpr int longest = steps.back();
  ConfigOf<Problem> config;
  config.info.schedule = std::string(Schedule::name);
  config.info.name = config.info.schedule + suffix;
  config.info.geometry = {{"warps", Schedule::warps},
                          {"columns_per_lane", columns_per_lane},
                          {"steps_per_pass", longest},
                          {"blocks_per_sm", blocks_per_sm<longest, Schedule, Move>()}};
  config.info.movement = {{"stages", Move::stages},
                          {"stage_rows", Move::rows(longest)},
                          {"producer_warps", Move::producer_warps}};
  config.info.kernels = {
      use_of<Kernels, typename Kernels::template Of<StripOf<steps[I], Schedule, Move>>>()...};
  config.unsupported = [](const Problem& problem, const Device& device) {
    return pair_objection(problem, Schedule::start, device);
  };
  config.prepare = [](const Problem& problem, const Device& device) {
    std::vector<Launch> launches;
    for (Pass pass : ping_pong(problem, plan_passes(problem.steps, {steps[I]...}))) {
      pass.early = Schedule::start == Start::dependent && !launches.empty();
      (void)((pass.steps == steps[I] &&
              (launches.push_back(
                   enqueue_pass<Kernels,
                                typename Kernels::template Of<StripOf<steps[I], Schedule, Move>>>(
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
