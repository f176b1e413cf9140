// Private slots: the mover of drop_off, and of dsm, whose tiles are private but for what the
// windows exchange.
#pragma once

#include "apps/hotspot/stream.cuh"

namespace amasia::hotspot {

/// A ring of slots for the lane's four columns of a row-block. Each thread copies its own cells
/// with cp.async, waits for its own copies and reads its own slots: no barrier of any kind.
template <class S>
struct Slots : DirectStore<S> {
  struct Slot {
    float4 temperature[S::rows][S::threads];
    float4 power[S::rows][S::threads];
  };
  Slot* ring;  // (stages)
  const PassView& pass;
  const RowRun& run;
  // The lane's columns; one outside the grid is replaced by its mirror image. At an edge that is a
  // multiple of four columns away the images are an aligned chunk backwards, else they are copied
  // singly.
  int image[columns_per_lane];
  bool backwards, aligned;
  int stage = 0;

  __device__ Slots(Slot* slots, const PassView& view, const RowRun& rows, int column, bool finishes)
      : DirectStore<S>(view, rows, column, finishes), ring(slots), pass(view), run(rows) {
    const int columns = static_cast<int>(pass.result.columns);
#pragma unroll
    for (int c = 0; c < columns_per_lane; ++c) image[c] = mirror(column + c, columns);
    backwards = image[0] - image[3] == 3;
    aligned = (image[3] - image[0] == 3 && image[0] % 4 == 0) || (backwards && image[3] % 4 == 0);
#pragma unroll
    for (int n = 0; n < S::stages - 1; ++n) prefetch(n, n);
  }
  __device__ void prefetch(int n, int into) {
    if (n < run.blocks) {
      Slot& slot = ring[into];
#pragma unroll
      for (int i = 0; i < S::rows; ++i) {
        const std::int64_t row =
            mirror(run.first + n * S::rows + i, static_cast<int>(pass.result.rows)) *
            pass.result.pitch;
        float4* temperature = &slot.temperature[i][threadIdx.x];
        float4* power = &slot.power[i][threadIdx.x];
        if (aligned) {  // through L1, where the next warp finds the halo columns
          const std::int64_t from = row + (backwards ? image[3] : image[0]);
          async::copy16<async::Cache::l1_too>(async::shared_address(temperature),
                                              pass.temperature.data + from);
          async::copy16<async::Cache::l1_too>(async::shared_address(power), pass.power.data + from);
        } else {
#pragma unroll
          for (int c = 0; c < columns_per_lane; ++c) {
            const std::int64_t from = row + image[c];
            async::copy<4>(reinterpret_cast<float*>(temperature) + c, pass.temperature.data + from);
            async::copy<4>(reinterpret_cast<float*>(power) + c, pass.power.data + from);
          }
        }
      }
    }
    async::commit();  // an empty group past the last row-block keeps the count right
  }
  __device__ void acquire(int n) {
    prefetch(n + S::stages - 1, stage == 0 ? S::stages - 1 : stage - 1);
    async::wait<S::stages - 1>();
  }
  __device__ float4 forwards(float4 v) const {
    return aligned && backwards ? make_float4(v.w, v.z, v.y, v.x) : v;
  }
  __device__ float4 temperature(int i) const {
    return forwards(ring[stage].temperature[i][threadIdx.x]);
  }
  __device__ float4 power(int i) const { return forwards(ring[stage].power[i][threadIdx.x]); }
  __device__ void release(int) { stage = stage == S::stages - 1 ? 0 : stage + 1; }
};

}  // namespace amasia::hotspot
