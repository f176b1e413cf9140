// Private slots: the pipeline of drop_off, and of dsm, whose cells are private but for what the
// windows exchange.
#pragma once

#include "apps/hotspot/stream.cuh"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/registers.cuh"

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
  bool whole;
  bool backwards;
  const float* temperature_from;  // the chunk, or column 0, in the row-block to be copied next
  const float* power_from;
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
    whole = most - least == columns_per_lane - 1 && least % columns_per_lane == 0;
    backwards = whole && last < first;
    const std::int64_t from = rows.first * view.result.pitch + (whole ? least : 0);
    temperature_from = view.temperature.data + from;
    power_from = view.power.data + from;
#pragma unroll
    for (int n = 0; n < S::stages - 1; ++n) copy(n, PipelineState<S::stages>::after(n));
  }
  __device__ int image(int c) const {
    return mirror(column + c, static_cast<int>(pass.result.columns));
  }
  __device__ void copy(int n, PipelineState<S::stages> into) {
    if (n < run.blocks) {
      Slot& slot = slots[into.index];
      const int pitch = static_cast<int>(pass.result.pitch);
      const int row = run.first + n * S::rows, rows = static_cast<int>(pass.result.rows);
      // Opaque, or the compiler would make a main loop for either outcome. Through L1, where the
      // next warp finds the halo columns.
      if (opaque<int>(whole)) {
        each_row<S>(row, rows, pitch, [&](int i, std::int64_t offset) {
          async::copy16<async::Cache::l1_too>(
              async::shared_address(&slot.temperature[i][threadIdx.x]), temperature_from + offset);
          async::copy16<async::Cache::l1_too>(async::shared_address(&slot.power[i][threadIdx.x]),
                                              power_from + offset);
        });
      } else {
        copy_cells(slot, row, rows, pitch);
      }
      temperature_from += std::int64_t{pitch} * S::rows;
      power_from += std::int64_t{pitch} * S::rows;
    }
    async::commit();  // an empty group past the last row-block keeps the count right
  }
  __device__ void copy_cells(Slot& slot, int row, int rows, int pitch) const {
#pragma unroll 1
    for (int i = 0; i < S::rows; ++i) {
      const std::int64_t offset = std::int64_t{pitch} * (mirror(row + i, rows) - row);
      float* temperature = reinterpret_cast<float*>(&slot.temperature[i][threadIdx.x]);
      float* power = reinterpret_cast<float*>(&slot.power[i][threadIdx.x]);
#pragma unroll 1
      for (int c = 0; c < columns_per_lane; ++c) {
        async::copy<4>(temperature + c, temperature_from + offset + image(c));
        async::copy<4>(power + c, power_from + offset + image(c));
      }
    }
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
