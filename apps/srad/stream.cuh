// strips: a warp walks down or up its window row by row. Rows stay in registers as long as they are
// needed; west and east come by shuffle. How a row reaches its lanes is the strategy's, a class
// Rows:
//   Rows(memory, view, place)  starts the first copies
//   wait(n)                    until the n-th group of `stage_rows` rows is there
//   row(n, i)                  the lane's four pixels of its i-th row
//   release(n)                 the group has been read
//   finish()                   and all have
#pragma once

#include "apps/common/start.hpp"
#include "apps/srad/schedules.hpp"
#include "apps/srad/strip.hpp"
#include "apps/srad/sums.cuh"
#include "apps/srad/walker.cuh"
#include "harness/variant.hpp"
#include "variants/device/dependent_launch.cuh"

namespace amasia::srad {

struct StripView : Iteration {
  Sums* sums;  // and behind them those of the next iteration
  float quarter_lambda;
  Division division;
};

/// The lane's first pixel of a row; where its columns lie outside, others that are readable.
__device__ inline const float* lane_pixels(const Grid<const float>& image, int row, int column) {
  const int last = static_cast<int>(image.pitch) - per_lane;
  return image.data + row * image.pitch + (column < 0 ? 0 : column > last ? last : column);
}

template <class Rows, bool UPWARDS>
__global__ void __launch_bounds__(strip_threads, strip_blocks_per_sm) strip_kernel(StripView v) {
  extern __shared__ __align__(128) unsigned char memory[];
  const Place place(static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x),
                    v.division.chunk_rows, v.division.chunk_places, v.source.rows,
                    v.source.columns);

  // Prologue: the rows travel while the sums are made a Speckle
  follow_predecessor();
  typename Rows::template Mover<UPWARDS> rows(memory, v, place);
  const Speckle k = speckle_of_sums(v.sums, v.source.rows * v.source.columns);

  // Main loop
  Walker<UPWARDS> walker;
  PixelSums<> sums;
  const int groups = (place.row_count + Rows::stage_rows - 1) / Rows::stage_rows;
#pragma unroll 1
  for (int n = 0; n < groups; ++n) {
    rows.wait(n);
#pragma unroll
    for (int i = 0; i < Rows::stage_rows; ++i) {
      const int number = n * Rows::stage_rows + i;
      float4 row = rows.row(n, i);
      if (place.at_edge) row = with_edges(row, place);
      const float4 done = walker.take(row, k, v.quarter_lambda);
      if (!place.finishes || number < halo_rows || number >= place.row_count) continue;
      const int at = place.finished_row<UPWARDS>(number);
      *reinterpret_cast<float4*>(&v.destination.at(at, place.column)) = done;
      sums.add(done.x);
      if (place.column + 1 < place.columns) sums.add(done.y);
      if (place.column + 2 < place.columns) sums.add(done.z);
      if (place.column + 3 < place.columns) sums.add(done.w);
    }
    rows.release(n);
  }

  // Epilogue
  rows.finish();
  add_block<strip_warps>(sums, v.sums + slots);
}

/// A row of a block as the strategies with a common tile keep it.
using TileRow = float[tile_columns];
/// The lane's place in it.
__device__ inline int tile_place() {
  return static_cast<int>(threadIdx.x) / lanes * finished_columns +
         static_cast<int>(threadIdx.x) % lanes * per_lane;
}

template <class Rows>
KernelUse strip_use(bool upwards) {
  return {upwards ? reinterpret_cast<const void*>(strip_kernel<Rows, true>)
                  : reinterpret_cast<const void*>(strip_kernel<Rows, false>),
          strip_threads, Rows::shared_bytes, Rows::cluster, Rows::bytes_in_flight};
}

/// Adds strips and strips-dependent. `suffix`: "/..." where the strategy has several.
template <class Rows>
void add_strips(std::vector<ConfigOf<Problem>>& configs, const std::string& suffix = "") {
  for (const std::string_view schedule : {strips_name, dependent_name}) {
    const bool dependent = schedule == dependent_name;
    ConfigOf<Problem> c;
    c.info.schedule = std::string(schedule);
    c.info.name = c.info.schedule + suffix;
    c.info.geometry = {{"threads", strip_threads}, {"columns", block_columns}};
    if (Rows::cluster > 1) c.info.geometry.push_back({"cluster_blocks", Rows::cluster});
    c.info.kernels = {strip_use<Rows>(false), strip_use<Rows>(true)};
    c.info.movement = {{"stages", Rows::stages},
                       {"stage_rows", Rows::stage_rows},
                       {"producer_warps", 0},
                       {"l2_ahead", Rows::l2_ahead}};
    if (dependent) {
      c.unsupported = [](const Problem&, const Device& d) {
        return start_objection(Start::dependent, d);
      };
    }
    c.prepare = [dependent](const Problem& p, const Device& device) -> Launch {
      const Division d =
          Division::of(p.image.rows, p.image.columns, device.sm_count, Rows::cluster);
      FollowingShape shape;
      static_cast<LaunchShape&>(shape) = {dim3(static_cast<unsigned>(d.blocks())),
                                          dim3(strip_threads), Rows::shared_bytes, Rows::cluster};
      for (const bool up : {false, true}) allow_launch(strip_use<Rows>(up).function, shape);
      return [=, iterations = ping_pong(p)](Stream stream) {
        begin_run(p, stream);
        std::int64_t i = 0;
        FollowingShape following = shape;
        for (const Iteration& it : iterations) {
          const StripView view{it, p.sums + i * slots, p.quarter_lambda, d};
          following.early = dependent && i > 0;
          launch(it.upwards ? strip_kernel<Rows, true> : strip_kernel<Rows, false>, following,
                 stream, view);
          ++i;
        }
      };
    };
    configs.push_back(std::move(c));
  }
}

}  // namespace amasia::srad
