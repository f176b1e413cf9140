// Stages of wall rows in shared memory: where a lane reads, and how producer warps hand a stage to
// the warps that compute and get it back.
#pragma once

#include "apps/pathfinder/geometry.hpp"
#include "variants/geometry/pipeline_state.hpp"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::pathfinder {

/// The stages of a block as its threads share them: rows of the block's tile, dense.
template <class S>
struct Stages {
  alignas(16) int wall[S::stages][S::stage_rows * S::tile_columns];
};

/// What a lane of a computing warp sees of them.
template <class S>
struct StageReader {
  static constexpr unsigned stage_bytes = sizeof(int) * S::stage_rows * S::tile_columns;
  unsigned lane;       // address of the lane's columns in the first row of stage 0
  unsigned stage = 0;  // and in the stage that is read now

  __device__ explicit StageReader(const Stages<S>& stages)
      : lane(async::held_address(stages.wall[0] + S::lane_column(threadIdx.x))) {}
  __device__ void turn_to(PipelineState<S::stages> state) {
    stage = lane + stage_bytes * state.index;
  }
  __device__ int4 load(int row, int column) const {
    return async::load16(stage + 4 * (row * S::tile_columns + column));
  }
};

/// `full` and `empty` of each stage as named barriers of the block, which every GPU has. At `full`
/// the computing warps wait and the producers arrive, at `empty` it is the other way round. The
/// fences keep what was written, or read, before the arrival before it: PTX promises that for
/// bar.sync, and says nothing of bar.arrive. Barrier 0 is __syncthreads(), 1 walkers_barrier().
template <class S>
struct NamedBarriers {
  using State = PipelineState<S::stages>;
  static constexpr int full = 2, empty = full + S::stages;
  static_assert(S::producers == 0 || empty + S::stages <= 16, "a block has 16 barriers");

  /// For the use of a stage after its first: nobody arrives for that.
  __device__ static void producer_acquire(State state) { sync(empty + state.index); }
  __device__ static void producer_commit(State state) { arrive(full + state.index); }
  __device__ static void consumer_wait(State state) { sync(full + state.index); }
  /// Only for a stage that will be used again: no barrier is left half arrived at.
  __device__ static void consumer_release(State state) { arrive(empty + state.index); }

 private:
  __device__ static void sync(int barrier) {
    asm volatile("bar.sync %0, %1;\n" ::"r"(barrier), "n"(S::threads) : "memory");
  }
  __device__ static void arrive(int barrier) {
    __threadfence_block();
    asm volatile("bar.arrive %0, %1;\n" ::"r"(barrier), "n"(S::threads) : "memory");
  }
};

/// Stages that producer warps bring, as the computing warps see them: the Wall of all strategies
/// without an engine that signals arrival itself.
template <class S>
struct ProducedWall {
  StageReader<S> reader;
  PipelineState<S::stages> state{};
  int to_release = 0;  // stages that will be filled again

  __device__ void prologue(int stages) { to_release = stages - S::stages; }
  __device__ void consumer_wait() {
    NamedBarriers<S>::consumer_wait(state);
    reader.turn_to(state);
  }
  __device__ int4 load(int row, int column) const { return reader.load(row, column); }
  __device__ void consumer_release() {
    if (--to_release >= 0) NamedBarriers<S>::consumer_release(state);
    ++state;
  }
};

}  // namespace amasia::pathfinder
