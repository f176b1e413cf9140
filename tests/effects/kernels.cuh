// Three kinds of work whose amount is known exactly, one for each thing that a floor is made of:
// bytes that stream from memory, fused multiply-adds in independent chains, and hand-overs between
// the warps of a block, each of which waits for a barrier. None is written to reach its ceiling (on
// an H200 the multiply-adds of `mixed` reach 0.6 of it); each is written to take time in proportion
// to its amount.
//
// Every kernel writes what it did, so that a run that skipped part of its work is found:
//   stream     sums[chunk][warp], of values that are their own index
//   calculate  counts[block]: every multiply-add adds exactly 1
//   hand_over  counts[block]: every hand-over adds exactly 1
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace amasia::effects {

// --- bytes
// ----------------------------------------------------------------------------------------

constexpr int stream_threads = 256;
constexpr int stream_warps = stream_threads / 32;
constexpr int loads_per_thread = 4;  // 16 bytes each
constexpr int chunk_vectors = stream_threads * loads_per_thread;
constexpr std::int64_t chunk_bytes = chunk_vectors * std::int64_t{sizeof(uint4)};

/// The sum of the values that one warp of `stream` reads, modulo 2^32: vector v holds 4 v to
/// 4 v + 3, and lane t of warp w reads the vectors 1024 c + 256 k + 32 w + t of chunk c.
constexpr std::uint32_t sum_of_warp(std::uint64_t chunk, std::uint64_t warp) {
  std::uint64_t sum = 0;
  for (std::uint64_t k = 0; k < loads_per_thread; ++k) {
    const std::uint64_t first = chunk * chunk_vectors + k * stream_threads + 32 * warp;
    // 32 vectors of 4 values, an arithmetic sequence of 128.
    sum += 128 * (4 * first) + 127 * 64;
  }
  return static_cast<std::uint32_t>(sum);
}

__global__ void fill(uint4* x, std::int64_t vectors) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < vectors;
       i += stride) {
    const auto v = static_cast<std::uint32_t>(4 * i);
    x[i] = {v, v + 1, v + 2, v + 3};
  }
}

/// A block for each chunk: more work is more blocks, so that time grows evenly with it.
__global__ void __launch_bounds__(stream_threads) stream(const uint4* x, std::uint32_t* sums) {
  const uint4* mine = x + std::int64_t{blockIdx.x} * chunk_vectors + threadIdx.x;
  uint4 v[loads_per_thread];
#pragma unroll
  for (int k = 0; k < loads_per_thread; ++k) v[k] = __ldg(mine + k * stream_threads);
  std::uint32_t sum = 0;
#pragma unroll
  for (int k = 0; k < loads_per_thread; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(~0U, sum, lanes);
  if (threadIdx.x % 32 == 0) sums[blockIdx.x * stream_warps + threadIdx.x / 32] = sum;
}

// --- operations
// -----------------------------------------------------------------------------------

constexpr int chains = 4;  // as many as an FMA takes cycles: none waits for the one before

/// v = v * one + one, `steps` times in each chain: v counts the steps, exactly below 2^24. `one` is
/// an argument, because the compiler would know the outcome otherwise.
template <int per_step>
__device__ float multiply_add(std::int64_t steps, float one) {
  float v[chains] = {};
#pragma unroll 1
  for (std::int64_t i = 0; i < steps; ++i) {
#pragma unroll
    for (int k = 0; k < per_step; ++k) {
      v[k % chains] = fmaf(v[k % chains], one, one);
    }
  }
  return (v[0] + v[1]) + (v[2] + v[3]);
}

constexpr int calculate_threads = 512;  // 4 warps for each scheduler of an SM
constexpr int calculate_per_step = 4;

__global__ void __launch_bounds__(calculate_threads)
    calculate(std::int64_t steps, float one, float* counts) {
  const float count = multiply_add<calculate_per_step>(steps, one);
  // Every thread's result is needed, so that no thread's work can be left out.
  const int right = __syncthreads_count(count == static_cast<float>(calculate_per_step * steps));
  if (threadIdx.x == 0) counts[blockIdx.x] = right == calculate_threads ? count : -1;
}

// --- barriers
// -------------------------------------------------------------------------------------

constexpr int hand_over_threads = 128;

/// Each thread hands a value to its neighbour and takes the next from the other one, `steps` times;
/// each value is one more than the last. Two buffers, so that one barrier a step is enough.
__device__ inline int pass_on(std::int64_t steps, int thread,
                              int (&buffers)[2][hand_over_threads]) {
  int value = 0;
#pragma unroll 1
  for (std::int64_t i = 0; i < steps; ++i) {
    int* const buffer = buffers[i % 2];
    buffer[thread] = value + 1;
    // A barrier of these threads only; the block may have others. Number 0 is __syncthreads().
    asm volatile("bar.sync 1, %0;" ::"n"(hand_over_threads) : "memory");
    value = buffer[(thread + 1) % hand_over_threads];
  }
  return value;
}

__global__ void __launch_bounds__(hand_over_threads) hand_over(std::int64_t steps, int* counts) {
  __shared__ int buffers[2][hand_over_threads];
  const int value = pass_on(steps, static_cast<int>(threadIdx.x), buffers);
  const int right = __syncthreads_count(value == static_cast<int>(steps));
  if (threadIdx.x == 0) counts[blockIdx.x] = right == hand_over_threads ? value : -1;
}

// --- all three at once
// ----------------------------------------------------------------------------

// Warps of their own for each kind, so that the three overlap as far as the hardware lets them: the
// time is that of the longest, and a dose to another shows only where they compete.
constexpr int mover_threads = 512, calculator_threads = 256;
constexpr int mixed_threads = mover_threads + calculator_threads + hand_over_threads;
constexpr int mixed_per_step = 16;

// What one unit of a dose is, about a microsecond of each on an H200.
constexpr int unit_loads = 4;  // by each mover, 16 bytes each
constexpr int unit_steps = 48;
constexpr int unit_hand_overs = 20;
constexpr std::int64_t unit_bytes = mover_threads * unit_loads * std::int64_t{sizeof(uint4)};
constexpr std::int64_t unit_operations =
    2 * std::int64_t{calculator_threads} * unit_steps * mixed_per_step;  // an FMA is two

/// Units of each kind that every block does.
struct Amounts {
  int bytes = 0, operations = 0, barriers = 0;
};

/// What a block of `mixed` writes.
struct Done {
  int bytes;          // units its movers went through
  std::uint32_t sum;  // of the values they read
  float count;        // of a thread's multiply-adds, -1 unless all agree
  int passed;         // hand-overs, -1 unless all agree
};

__global__ void __launch_bounds__(mixed_threads)
    mixed(const uint4* x, Amounts amounts, float one, Done* done) {
  __shared__ int buffers[2][hand_over_threads];
  __shared__ std::uint32_t sum_of_block;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) sum_of_block = 0;
  __syncthreads();
  bool right = true;
  if (thread < mover_threads) {
    const uint4* next =
        x + std::int64_t{blockIdx.x} * amounts.bytes * unit_loads * mover_threads + thread;
    std::uint32_t sum = 0;
#pragma unroll 2
    for (int unit = 0; unit < amounts.bytes; ++unit, next += unit_loads * mover_threads) {
      uint4 v[unit_loads];
#pragma unroll
      for (int k = 0; k < unit_loads; ++k) v[k] = __ldg(next + k * mover_threads);
#pragma unroll
      for (int k = 0; k < unit_loads; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    atomicAdd(&sum_of_block, sum);
  } else if (thread < mover_threads + calculator_threads) {
    const std::int64_t steps = std::int64_t{amounts.operations} * unit_steps;
    right = multiply_add<mixed_per_step>(steps, one) == static_cast<float>(mixed_per_step * steps);
  } else {
    const std::int64_t steps = std::int64_t{amounts.barriers} * unit_hand_overs;
    right = pass_on(steps, thread - mover_threads - calculator_threads, buffers) ==
            static_cast<int>(steps);
  }
  const bool all = __syncthreads_and(right);
  if (thread == 0) {
    done[blockIdx.x] = {amounts.bytes, sum_of_block,
                        all ? static_cast<float>(mixed_per_step) *
                                  static_cast<float>(amounts.operations) * unit_steps
                            : -1,
                        all ? amounts.barriers * unit_hand_overs : -1};
  }
}

/// The sum of what the movers of a block of `mixed` read, modulo 2^32.
constexpr std::uint32_t sum_of_block(std::uint64_t block, std::uint64_t units) {
  const std::uint64_t values = units * (unit_bytes / sizeof(std::uint32_t));
  return static_cast<std::uint32_t>(values * (values * block) + values * (values - 1) / 2);
}

}  // namespace amasia::effects
