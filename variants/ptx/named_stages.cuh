// Stages that warps which copy and warps which compute hand to each other at named barriers: where
// an mbarrier would do, but every GPU has these.
#pragma once

#include "variants/geometry/pipeline_state.hpp"
#include "variants/ptx/named_barrier.cuh"

namespace amasia::block {

/// How the lanes of a warp come to a barrier: in parts, perhaps, or together. Together and fenced:
/// with __threadfence_block() before each arrival. It adds no order, but the assembler does not
/// gather the reads of a stage in front of its release then, where computing would wait for all.
enum class Lanes { apart, together, together_fenced };

/// A barrier `full` and a barrier `empty` for each of STAGES stages, numbered from FIRST. All of
/// THREADS threads take part in each: at `full` consumers wait and producers only arrive, at
/// `empty` it is the other way round. Every barrier completes: nobody waits for a stage's first
/// use, and nobody arrives for a use that does not come.
template <int STAGES, int THREADS, int FIRST = 1, Lanes LANES = Lanes::apart>
struct NamedStages {
  static_assert(FIRST >= 1 && FIRST + 2 * STAGES <= 16,
                "a block has 16 barriers, of which 0 is __syncthreads()");
  using State = PipelineState<STAGES>;

  /// Waits until the consumers have left the stage; not for its first use.
  __device__ static void producer_acquire(State state) { wait_at(FIRST + STAGES + state.index); }
  __device__ static void producer_commit(State state) { arrive_at(FIRST + state.index); }
  __device__ static void consumer_wait(State state) { wait_at(FIRST + state.index); }
  /// The stage is the producers' again; only if it is used once more.
  __device__ static void consumer_release(State state) { arrive_at(FIRST + STAGES + state.index); }

  /// The same for use n of the pipeline, of `uses` in all.
  __device__ static void producer_acquire(int n, State state) {
    if (n >= STAGES) producer_acquire(state);
  }
  __device__ static void consumer_release(int n, State state, int uses) {
    if (n + STAGES < uses) consumer_release(state);
  }

 private:
  __device__ static void wait_at(int number) {
    if constexpr (LANES == Lanes::apart) {
      sync(number, THREADS);
    } else {
      sync_whole<THREADS>(number);
    }
  }
  __device__ static void arrive_at(int number) {
    if constexpr (LANES == Lanes::apart) {
      arrive(number, THREADS);
    } else {
      if constexpr (LANES == Lanes::together_fenced) __threadfence_block();
      arrive_whole<THREADS>(number);
    }
  }
};

}  // namespace amasia::block
