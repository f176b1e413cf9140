// The wall by the tensor copy engine, for tma and dsm: boxes of rows x columns (halo and all,
// signed coordinates) into a ring, counted in bytes by an mbarrier per stage.
#pragma once

#include "apps/pathfinder/geometry.hpp"
#include "variants/tma.cuh"

namespace amasia::pathfinder {

template <class S>
struct TmaWall {
  static_assert(S::panel_columns <= 256 && S::stage_rows <= 256,
                "a box has at most 256 in each direction");
  static_assert(S::stage_rows * S::panel_columns % 32 == 0, "boxes lie on 128 bytes");
  static_assert(S::stages >= 3, "one stage computed, one draining, one in flight");
  struct Storage {
    alignas(128) int wall[S::stages][S::stage_elements];
    tma::Barrier full[S::stages];   // one arrival and the stage's bytes
    tma::Barrier empty[S::stages];  // one arrival per warp that has read it
  };
  // The refill waits for the slowest warp. Two stages late, it has long been read.
  static constexpr int late = 2;

  const CUtensorMap& map;
  std::int64_t first_row;
  Storage& storage;
  int slot = 0, last = 0;
  int offset[S::lane_columns / 4];

  __device__ void fetch(int stage) {
    if (stage >= last) return;
    const int to = stage % S::stages;
    tma::expect(&storage.full[to], S::stage_elements * sizeof(int));
#pragma unroll
    for (int p = 0; p < S::panels; ++p) {
      tma::load_tile(storage.wall[to] + p * (S::stage_rows * S::panel_columns), &map,
                     static_cast<int>(S::tile_column(blockIdx.x)) + p * S::panel_columns,
                     static_cast<int>(first_row) + stage * S::stage_rows, &storage.full[to]);
    }
  }
  __device__ void begin(int stages) {
    last = stages;
#pragma unroll
    for (int c = 0; c < S::lane_columns; c += 4) {
      offset[c / 4] =
          S::stage_offset(threadIdx.x / 32 * S::stride + threadIdx.x % 32 * S::lane_columns + c);
    }
    if (threadIdx.x == 0) {
      for (int s = 0; s < S::stages; ++s) {
        tma::init(&storage.full[s], 1);
        tma::init(&storage.empty[s], S::warps);
      }
      tma::fence_init();
      for (int stage = 0; stage < S::stages - late; ++stage) fetch(stage);
    }
    __syncthreads();
  }
  __device__ void wait(int stage) {
    const int next = stage + S::stages - late;
    if (threadIdx.x == 0) {
      if (stage >= late) {
        const auto old = ring_slot<S::stages>(stage - late);
        tma::wait(&storage.empty[old.stage], old.parity);
      }
      fetch(next);
    }
    __syncwarp();
    const auto now = ring_slot<S::stages>(stage);
    slot = now.stage;
    tma::wait(&storage.full[slot], now.parity);
  }
  __device__ int4 load(int row, int column) const {
    return *reinterpret_cast<const int4*>(storage.wall[slot] + offset[column / 4] +
                                          row * S::panel_columns);
  }
  __device__ void release(int) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) tma::arrive(&storage.empty[slot]);
  }
};

}  // namespace amasia::pathfinder
