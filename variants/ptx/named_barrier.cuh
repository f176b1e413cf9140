// Barriers of a block that only some of its threads take part in, by number (PTX ISA: "bar.sync",
// "bar.arrive"; any GPU): how warps that copy and warps that compute hand stages to each other.
#pragma once

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
/// Without a fence: by the memory model of PTX an arrival synchronizes with those who wait for it.
template <int THREADS>
__device__ inline void arrive_whole(int number) {
  asm volatile("bar.arrive %0, %1;\n" ::"r"(number), "n"(THREADS) : "memory");
}

}  // namespace amasia::block
