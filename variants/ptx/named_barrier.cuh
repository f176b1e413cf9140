// Barriers of a block that only some of its threads take part in, by number (PTX ISA: "bar.sync",
// "bar.arrive"; any GPU): how warps that copy and warps that compute hand stages to each other.
#pragma once

#include "variants/geometry/ring.hpp"

namespace amasia::block {

/// Waits until `threads` threads, this one included, have come to barrier `number` (1 to 15; 0 is
/// that of __syncthreads()), and sees what they wrote before. By whole warps: the lanes come
/// together first, because the instruction counts a warp that it meets in parts more than once.
__device__ inline void sync(int number, int threads) {
  __syncwarp();
  asm volatile("bar.sync %0, %1;\n" ::"r"(number), "r"(threads) : "memory");
}

/// Counts for the same barrier without waiting at it. What this thread has read and written before
/// stays before: PTX promises that of bar.arrive as it does of bar.sync, and in its memory model an
/// arrival synchronises with the threads that wait. A fence here would be worse than superfluous:
/// fence.acq_rel.cta waits for all copies by cp.async that the warp still has in flight.
__device__ inline void arrive(int number, int threads) {
  __syncwarp();
  asm volatile("bar.arrive %0, %1;\n" ::"r"(number), "r"(threads) : "memory");
}

/// The same for a warp whose lanes are together already, as they are behind a shuffle or a vote of
/// the whole warp; THREADS is known when the code is compiled.
template <int THREADS>
__device__ inline void sync_whole(int number) {
  asm volatile("bar.sync %0, %1;\n" ::"r"(number), "n"(THREADS) : "memory");
}
template <int THREADS>
__device__ inline void arrive_whole(int number) {
  asm volatile("bar.arrive %0, %1;\n" ::"r"(number), "n"(THREADS) : "memory");
}

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
