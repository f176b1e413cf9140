// The wall by the tensor copy engine, for tma and dsm: boxes of rows x columns (halo and all,
// signed coordinates) into a ring, counted in bytes by an mbarrier per stage.
#pragma once

#include "apps/pathfinder/geometry.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/shared_memory.cuh"
#include "variants/ptx/tensor.cuh"

namespace amasia::pathfinder {

template <class S>
struct TmaWall {
  static_assert(S::panel_columns <= 256 && S::stage_rows <= 256,
                "a box has at most 256 in each direction");
  static_assert(S::stage_rows * S::panel_columns % 32 == 0, "boxes lie on 128 bytes");
  static_assert(S::threads == S::walkers + 32, "one warp does nothing but ask for boxes");
  struct Storage {
    alignas(128) int wall[S::stages][S::stage_elements];
    tma::Barrier full[S::stages];   // one arrival and the stage's bytes
    tma::Barrier empty[S::stages];  // one arrival per warp that has read it
  };
  static constexpr unsigned stage_bytes = sizeof(int) * S::stage_elements;

  Storage& storage;
  const unsigned ring = async::held_address(storage.wall);
  const unsigned full = async::held_address(storage.full);
  const unsigned empty = async::held_address(storage.empty);
  unsigned stage = 0;                   // address of the stage being read
  int slot = -1;                        // its place in the ring
  unsigned parity = 1;                  // of the slot's present use
  unsigned piece[S::lane_columns / 4];  // the lane's 16-byte pieces of row 0, byte offsets

  /// By all threads, before a block (or cluster) barrier.
  __device__ void prepare() {
#pragma unroll
    for (int c = 0; c < S::lane_columns; c += 4) {
      piece[c / 4] = 4 * S::stage_offset(threadIdx.x / 32 * S::stride +
                                         threadIdx.x % 32 * S::lane_columns + c);
    }
    if (threadIdx.x == 0) {
      for (int s = 0; s < S::stages; ++s) {
        tma::init(&storage.full[s], 1);
        tma::init(&storage.empty[s], S::warps);
      }
      tma::fence_init();
    }
  }

  /// The producer warp's whole life: its first lane asks for every stage as soon as its place is
  /// free.
  __device__ void produce(const CUtensorMap& map, std::int64_t first_row, int stages) {
    if (threadIdx.x % 32 != 0) return;
    const int column = static_cast<int>(S::tile_column(blockIdx.x));
    for (int n = 0; n < stages; ++n) {
      const auto to = ring_slot<S::stages>(n);
      // Parity 1 before the first use: a fresh barrier counts its phase -1 as complete.
      tma::wait(&storage.empty[to.stage], to.parity ^ 1);
      tma::expect(&storage.full[to.stage], stage_bytes);
      const int row = static_cast<int>(first_row) + n * S::stage_rows;
      for (int p = 0; p < S::panels; ++p) {
        tma::load_tile(storage.wall[to.stage] + p * (S::stage_rows * S::panel_columns), &map,
                       column + p * S::panel_columns, row, &storage.full[to.stage]);
      }
    }
  }

  __device__ void begin(int) {}
  __device__ void wait() {
    slot = slot == S::stages - 1 ? 0 : slot + 1;
    if (slot == 0) parity ^= 1;
    tma::wait_at(full + 8 * slot, parity);
    stage = ring + stage_bytes * slot;
  }
  __device__ int4 load(int row, int column) const {
    return async::load16(stage + piece[column / 4] + 4 * row * S::panel_columns);
  }
  __device__ void release() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) tma::arrive_at(empty + 8 * slot);
  }
};

}  // namespace amasia::pathfinder
