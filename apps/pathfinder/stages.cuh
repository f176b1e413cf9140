// Stages of wall rows in shared memory that threads of the block fill, for baseline,
// register_bypass and overlap. Here is what they copy, where a lane reads, and how producer warps
// hand a stage to the warps that compute and get it back.
#pragma once

#include <type_traits>

#include "apps/pathfinder/strips.cuh"
#include "variants/copies/sliding_tile.cuh"
#include "variants/ptx/named_barrier.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::pathfinder {

/// The stages of a block as its threads share them: rows of the block's tile, dense.
template <class S>
struct Stages {
  alignas(16) int wall[S::stages][S::stage_rows * S::tile_columns];
};

/// What a thread copies of each stage: of the producer warps, or of all where there are none.
template <class S>
using StageSource = SlidingTile<Tile<int, S::stage_rows, S::tile_columns>,
                                S::producers == 0 ? S::walkers : S::producers>;

template <class S>
__device__ StageSource<S> stage_source(const Walk& walk) {
  const int thread = static_cast<int>(threadIdx.x) - (S::producers == 0 ? 0 : S::walkers);
  return {walk.wall, {walk.first_row, S::tile_column(blockIdx.x)}, thread};
}

/// What a lane of a computing warp sees of the stages.
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

/// Barrier 1 is walkers_barrier(). Tall schedules read a stage row by row while they compute; where
/// more warps share an SM, reading it at once and handing it back early is worth 3 % and more.
template <class S>
using NamedBarriers =
    block::NamedStages<S::stages, S::threads, 2,
                       S::tall ? block::Lanes::together_fenced : block::Lanes::together>;

/// Stages that producer warps bring, as the computing warps see them. What producers do is the
/// strategy's: it derives from this and adds produce().
template <class S>
struct ProducedWall {
  using Storage = Stages<S>;
  static constexpr bool engine = false;
  StageReader<S> reader;
  PipelineState<S::stages> state{};
  int used = 0, uses = 0;  // stages read; of all

  __device__ ProducedWall(Storage& storage, const Walk&) : reader(storage) {}
  __device__ void prologue(int stages) { uses = stages; }
  __device__ void consumer_wait() {
    NamedBarriers<S>::consumer_wait(state);
    reader.turn_to(state);
  }
  __device__ int4 load(int row, int column) const { return reader.load(row, column); }
  __device__ void consumer_release() {
    NamedBarriers<S>::consumer_release(used++, state, uses);
    ++state;
  }
};

/// The strip configs of a strategy whose threads copy: COPIED is its Wall where the warps that
/// compute do, PRODUCED where producer warps do, which the config's name says.
template <template <class> class COPIED, template <class> class PRODUCED>
struct StripsOf {
  template <class Schedule, class M>
  static ConfigOf<Problem> config() {
    using S = Strips<Schedule, M>;
    using Wall = std::conditional_t<(S::producers > 0), PRODUCED<S>, COPIED<S>>;
    return strips_config<S>(S::producers > 0 ? "producers" : "", copied_strips<S, Wall>,
                            sizeof(SharedStorage<S, Wall>), Wall::stages_in_flight);
  }
};

}  // namespace amasia::pathfinder
