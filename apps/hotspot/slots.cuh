// Private slots: the pipeline of drop_off, and of dsm, whose cells are private but for what the
// windows exchange.
#pragma once

#include "apps/hotspot/stream.cuh"
#include "variants/geometry/pipeline_state.hpp"
#include "variants/ptx/cp_async.cuh"

namespace amasia::hotspot {

/// Slots for the lane's columns of a row-block. Each thread copies its own cells with cp.async,
/// waits for its own copies and reads its own slots: no barrier of any kind. Of a chain the first
/// warps copy.
template <class S>
struct Slots : DirectStore<S> {
  static constexpr int copying = S::windows * lanes;  // threads
  struct Slot {
    float4 temperature[S::rows][S::chunks_per_lane][copying];
    float4 power[S::rows][S::chunks_per_lane][copying];
  };
  static constexpr bool waits_as_block = false;
  static constexpr int chunk_stride = copying * sizeof(float4);

  Slot* slots;  // (stages)
  int owner = threadIdx.x / lanes / S::links * lanes + threadIdx.x % lanes;
  // The lane's chunks; columns outside the grid are replaced by their mirror images. At an edge
  // that is a multiple of four columns away the images are an aligned chunk backwards, else they
  // are copied singly.
  int sources[S::chunks_per_lane];  // first column of the aligned chunk, -1 where there is none
  unsigned backwards = 0;           // bit j: chunk j
  PipelineState<S::stages> state;
  using DirectStore<S>::pass;
  using DirectStore<S>::run;
  using DirectStore<S>::column;

  __device__ Slots(Slot* of_block, const PassView& view, const RowRun& rows, int lane_column,
                   unsigned finishes)
      : DirectStore<S>(view, rows, lane_column, finishes), slots(of_block) {
#pragma unroll
    for (int j = 0; j < S::chunks_per_lane; ++j) {
      const int first = image(j, 0), last = image(j, chunk_columns - 1);
      const int least = first < last ? first : last, most = first < last ? last : first;
      const bool whole = most - least == chunk_columns - 1 && least % chunk_columns == 0;
      sources[j] = whole ? least : -1;
      if (whole && last < first) backwards |= 1u << j;
    }
    if (threadIdx.x / lanes % S::links > 0) return;
#pragma unroll
    for (int n = 0; n < S::stages - 1; ++n) copy(n, PipelineState<S::stages>::after(n));
  }
  __device__ int image(int j, int c) const {
    return mirror(column + j * chunk_columns + c, static_cast<int>(pass.result.columns));
  }
  __device__ void copy(int n, PipelineState<S::stages> into) {
    if (n < run.blocks) {
      Slot& slot = slots[into.index];
#pragma unroll
      for (int i = 0; i < S::rows; ++i) {
        const std::int64_t row =
            mirror(run.first + n * S::rows + i, static_cast<int>(pass.result.rows)) *
            pass.result.pitch;
#pragma unroll
        for (int j = 0; j < S::chunks_per_lane; ++j) {
          float4* temperature = &slot.temperature[i][j][owner];
          float4* power = &slot.power[i][j][owner];
          if (sources[j] >= 0) {  // through L1, where the next warp finds the halo columns
            async::copy16<async::Cache::l1_too>(async::shared_address(temperature),
                                                pass.temperature.data + row + sources[j]);
            async::copy16<async::Cache::l1_too>(async::shared_address(power),
                                                pass.power.data + row + sources[j]);
          } else {
#pragma unroll 1
            for (int c = 0; c < chunk_columns; ++c) {
              const std::int64_t from = row + image(j, c);
              async::copy<4>(reinterpret_cast<float*>(temperature) + c,
                             pass.temperature.data + from);
              async::copy<4>(reinterpret_cast<float*>(power) + c, pass.power.data + from);
            }
          }
        }
      }
    }
    async::commit();  // an empty group past the last row-block keeps the count right
  }
  __device__ void consumer_wait(int n) {
    copy(n + S::stages - 1, state.before());
    async::wait<S::stages - 1>();
    if (backwards != 0) turn_round();
  }
  __device__ void turn_round() {
    const auto reverse = [](float4& v) { v = make_float4(v.w, v.z, v.y, v.x); };
    for (int i = 0; i < S::rows; ++i) {
      for (int j = 0; j < S::chunks_per_lane; ++j) {
        if ((backwards >> j & 1) == 0) continue;
        reverse(slots[state.index].temperature[i][j][owner]);
        reverse(slots[state.index].power[i][j][owner]);
      }
    }
  }
  __device__ const float4* first_chunk() const {
    return &slots[state.index].temperature[0][0][owner];
  }
  __device__ float4 temperature(int i, int j) const {
    return slots[state.index].temperature[i][j][owner];
  }
  __device__ float4 power(int i, int j) const { return slots[state.index].power[i][j][owner]; }
  __device__ void consumer_release(int) { ++state; }
};

}  // namespace amasia::hotspot
