// Private slots: the pipeline of drop_off, and of dsm, whose cells are private but for what the
// windows exchange.
#pragma once

#include "apps/hotspot/stream.cuh"
#include "variants/geometry/pipeline_state.hpp"
#include "variants/ptx/cp_async.cuh"

namespace amasia::hotspot {

/// Slots for the lane's four columns of a row-block. Each thread copies its own cells with
/// cp.async, waits for its own copies and reads its own slots: no barrier of any kind.
template <class S>
struct Slots : DirectStore<S> {
  struct Slot {
    float4 temperature[S::rows][S::threads];
    float4 power[S::rows][S::threads];
  };
  Slot* slots;  // (stages)
  const PassView& pass;
  const RowRun& run;
  // The lane's columns; those outside the grid are replaced by their mirror images. At an edge that
  // is a multiple of four columns away the images are an aligned chunk backwards, else they are
  // copied singly.
  int column;
  int chunk;  // first column of the aligned chunk, -1 where there is none
  bool backwards;
  const float *temperatures, *powers;
  PipelineState<S::stages> state;

  __device__ Slots(Slot* of_block, const PassView& view, const RowRun& rows, int lane_column,
                   bool finishes)
      : DirectStore<S>(view, rows, lane_column, finishes),
        slots(of_block),
        pass(view),
        run(rows),
        column(lane_column) {
    const int first = image(0), last = image(columns_per_lane - 1);
    const int least = first < last ? first : last, most = first < last ? last : first;
    const bool whole = most - least == columns_per_lane - 1 && least % columns_per_lane == 0;
    chunk = whole ? least : -1;
    const std::int64_t from = rows.first * view.result.pitch + (whole ? least : 0);
    temperatures = view.temperature.data + from;
    powers = view.power.data + from;
    backwards = whole && last < first;
#pragma unroll
    for (int n = 0; n < S::stages - 1; ++n) copy(n, PipelineState<S::stages>::after(n));
  }
  __device__ int image(int c) const {
    return mirror(column + c, static_cast<int>(pass.result.columns));
  }
  __device__ void copy(int n, PipelineState<S::stages> into) {
    if (n < run.blocks) {
      Slot& slot = slots[into.index];
      each_row<S>(run.first + n * S::rows, static_cast<int>(pass.result.rows), pass.result.pitch,
                  [&](int i, std::int64_t row) {
        float4* temperature = &slot.temperature[i][threadIdx.x];
        float4* power = &slot.power[i][threadIdx.x];
        if constexpr (S::lean) {
          if (chunk >= 0) {  // through L1, where the next warp finds the halo columns
            async::copy16<async::Cache::l1_too>(async::shared_address(temperature),
                                                temperatures + row);
            async::copy16<async::Cache::l1_too>(async::shared_address(power), powers + row);
          } else {
#pragma unroll 1
            for (int c = 0; c < columns_per_lane; ++c) {
              const std::int64_t from = row + image(c);
              async::copy<4>(reinterpret_cast<float*>(temperature) + c, temperatures + from);
              async::copy<4>(reinterpret_cast<float*>(power) + c, powers + from);
            }
          }
        } else
        if (chunk >= 0) {  // through L1, where the next warp finds the halo columns
          async::copy16<async::Cache::l1_too>(async::shared_address(temperature),
                                              pass.temperature.data + row + chunk);
          async::copy16<async::Cache::l1_too>(async::shared_address(power),
                                              pass.power.data + row + chunk);
        } else {
#pragma unroll 1
          for (int c = 0; c < columns_per_lane; ++c) {
            const std::int64_t from = row + image(c);
            async::copy<4>(reinterpret_cast<float*>(temperature) + c, pass.temperature.data + from);
            async::copy<4>(reinterpret_cast<float*>(power) + c, pass.power.data + from);
          }
        }
      });
      if (S::lean) {
        temperatures += std::int64_t{static_cast<int>(pass.result.pitch)} * S::rows;
        powers += std::int64_t{static_cast<int>(pass.result.pitch)} * S::rows;
      }
    }
    async::commit();  // an empty group past the last row-block keeps the count right
  }
  __device__ void consumer_wait(int n) {
    copy(n + S::stages - 1, state.before());
    async::wait<S::stages - 1>();
  }
  __device__ float4 forwards(float4 v) const {
    return backwards ? make_float4(v.w, v.z, v.y, v.x) : v;
  }
  __device__ float4 temperature(int i) const {
    return forwards(slots[state.index].temperature[i][threadIdx.x]);
  }
  __device__ float4 power(int i) const {
    return forwards(slots[state.index].power[i][threadIdx.x]);
  }
  __device__ void consumer_release(int) { ++state; }
};

}  // namespace amasia::hotspot
