// The wall by the tensor copy engine, for tma and dsm: boxes of rows x columns (halo and all,
// signed coordinates) into the stages of a pipeline, counted in bytes by an mbarrier per stage.
#pragma once

#include "apps/pathfinder/exchange.cuh"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::pathfinder {

template <class S>
struct TmaWall {
  using Box = Boxes<S::stage_rows, S::tile_columns>;
  static_assert(S::producers == 32, "one thread asks for all boxes");
  static constexpr int stages_in_flight = S::stages > 1 ? S::stages - 1 : 1;
  static constexpr bool engine = true;
  static constexpr unsigned stage_bytes = sizeof(int) * Box::elements;
  struct Storage {
    alignas(128) int wall[S::stages][Box::elements];
    tma::Barrier full[S::stages];   // one arrival and the stage's bytes
    tma::Barrier empty[S::stages];  // one arrival per warp that has read it
  };

  /// By all threads, before a block (or cluster) barrier.
  __device__ static void prepare(Storage& storage) {
    if (threadIdx.x == 0) {
      for (int s = 0; s < S::stages; ++s) {
        tma::init(&storage.full[s], 1);
        tma::init(&storage.empty[s], S::warps);
      }
      tma::fence_init();
    }
  }

  /// All that the producer warp does: one thread asks for each stage as soon as its place is free.
  __device__ static void produce(Storage& storage, const CUtensorMap& map, std::int64_t first_row,
                                 int stages) {
    if (threadIdx.x % 32 != 0) return;
    const int column = static_cast<int>(S::tile_column(blockIdx.x));
    int row = static_cast<int>(first_row);
    PipelineState<S::stages> state;
    for (int n = 0; n < stages; ++n, ++state, row += S::stage_rows) {
      // Acquire. Phase 1 before the first use: a fresh barrier counts its phase -1 as complete.
      tma::wait(&storage.empty[state.index], state.phase ^ 1);
      tma::expect(&storage.full[state.index], stage_bytes);
      for (int b = 0; b < Box::count; ++b) {  // the engine commits when the last byte has come
        tma::load_tile(storage.wall[state.index] + b * (Box::rows * Box::columns), &map,
                       column + b * Box::columns, row, &storage.full[state.index]);
      }
    }
  }

  const unsigned ring, full, empty;     // addresses of stage 0
  unsigned stage = 0;                   // address of the stage being read
  PipelineState<S::stages> state{};     // of it, or of the next one
  unsigned piece[S::lane_columns / 4];  // the lane's 16-byte pieces of row 0, byte offsets

  __device__ explicit TmaWall(Storage& storage)
      : ring(async::held_address(storage.wall)),
        full(async::held_address(storage.full)),
        empty(async::held_address(storage.empty)) {
#pragma unroll
    for (int c = 0; c < S::lane_columns; c += 4) {
      piece[c / 4] = 4 * Box::offset(S::lane_column(threadIdx.x) + c);
    }
  }
  __device__ void prologue(int) {}
  __device__ void consumer_wait() {
    wait_together(full + 8 * state.index, state.phase);
    stage = ring + stage_bytes * state.index;
  }
  __device__ int4 load(int row, int column) const {
    return async::load16(stage + piece[column / 4] + 4 * row * Box::columns);
  }
  __device__ void consumer_release() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) tma::arrive_at(empty + 8 * state.index);
    ++state;
  }
};

}  // namespace amasia::pathfinder
