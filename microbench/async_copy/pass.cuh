// What every way of bringing tiles in shares: which tiles a block takes, the computation on them,
// and where the stages and their barriers are in shared memory.
#pragma once

#include "microbench/walks.cuh"
#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::async_copy {

// The arrive/wait barrier as cp.async uses it (PTX ISA: "mbarrier", "cp.async.mbarrier.arrive";
// sm_80): a thread arrives when its copies have arrived, and nobody waits in between.

using tma::Barrier;

/// One thread, before any use; a block barrier follows.
__device__ inline void init(Barrier* barrier, unsigned arrivals) {
  AMASIA_SM80_ASM("mbarrier.init.shared.b64 [%0], %1;\n" ::"r"(async::shared_address(barrier)),
                  "r"(arrivals)
                  : "memory");
}

/// Arrives once when all copies that this thread has started so far are in shared memory. One of
/// the arrivals that init() counted (noinc).
__device__ inline void arrive_with_copies(Barrier* barrier) {
  AMASIA_SM80_ASM(
      "cp.async.mbarrier.arrive.noinc.shared.b64 [%0];\n" ::"r"(async::shared_address(barrier))
      : "memory");
}

__device__ inline void arrive(Barrier* barrier) {
  AMASIA_SM80_ASM(
      "{\n"
      ".reg .b64 state;\n"
      "mbarrier.arrive.shared.b64 state, [%0];\n"
      "}\n" ::"r"(async::shared_address(barrier))
      : "memory");
}

/// Returns when the phase with this parity has completed; its data is visible to the caller.
__device__ inline void wait(Barrier* barrier, unsigned parity) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  tma::wait(barrier, parity);
#else
  AMASIA_SM80_ASM(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(async::shared_address(barrier)),
      "r"(parity)
      : "memory");
#endif
}

/// Iterations of the computation, 8 at a time so that the loop costs little, then one at a time.
struct Iterations {
  int eights;
  int ones;
};

/// CHUNKS x 16 bytes per thread and tile; blockDim.x is a multiple of 32.
template <int CHUNKS>
struct Pass {
  const float4* in;
  float4* out;
  long long tiles;
  Iterations iterations;

  static constexpr int chunks = CHUNKS;
  __device__ int tile_chunks() const { return CHUNKS * static_cast<int>(blockDim.x); }
  /// How many tiles this block takes, and which is its i-th.
  __device__ int count() const {
    return static_cast<int>((tiles - blockIdx.x + gridDim.x - 1) / gridDim.x);
  }
  __device__ long long first_chunk(int i) const {
    return (blockIdx.x + static_cast<long long>(i) * gridDim.x) * tile_chunks();
  }
  /// The thread whose copies this one computes on: half a block away.
  __device__ int partner() const {
    const int there = static_cast<int>(threadIdx.x + blockDim.x / 2);
    return there < static_cast<int>(blockDim.x) ? there : there - static_cast<int>(blockDim.x);
  }

  __device__ void load(float4 (&v)[CHUNKS], const float4* from, int thread) const {
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) v[k] = from[k * static_cast<int>(blockDim.x) + thread];
  }
  __device__ void store(const float4 (&v)[CHUNKS], float4* to, int thread) const {
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) to[k * static_cast<int>(blockDim.x) + thread] = v[k];
  }
  /// Starts this thread's copies of its i-th tile.
  __device__ void copy_async(float4* shared, int i) const {
    const unsigned to = async::shared_address(shared + threadIdx.x);
    const float4* const from = in + first_chunk(i) + threadIdx.x;
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
      async::copy16(to + 16 * k * blockDim.x, from + k * static_cast<int>(blockDim.x));
    }
  }

  static __device__ void step(float4 (&v)[CHUNKS]) {
#pragma unroll
    for (int k = 0; k < CHUNKS; ++k) {
      v[k].x = fmaf(v[k].x, 0.5F, 0.5F);
      v[k].y = fmaf(v[k].y, 0.5F, 0.5F);
      v[k].z = fmaf(v[k].z, 0.5F, 0.5F);
      v[k].w = fmaf(v[k].w, 0.5F, 0.5F);
    }
  }
  __device__ void compute_and_store(float4 (&v)[CHUNKS], int i, int thread) const {
#pragma unroll 1
    for (int n = 0; n < iterations.eights; ++n) {
#pragma unroll
      for (int u = 0; u < 8; ++u) step(v);
    }
#pragma unroll 1
    for (int n = 0; n < iterations.ones; ++n) step(v);
    store(v, out + first_chunk(i), thread);
  }
};

/// The stages in shared memory, and behind them the barriers.
template <int CHUNKS, int STAGES>
struct Ring {
  float4* tiles;   // (STAGES, CHUNKS, threads)
  Barrier* full;   // (STAGES)
  Barrier* empty;  // (STAGES)

  __device__ Ring() {
    extern __shared__ float4 shared[];
    tiles = shared;
    full = reinterpret_cast<Barrier*>(shared + STAGES * CHUNKS * blockDim.x);
    empty = full + STAGES;
  }
  __device__ float4* tile(int stage) const { return tiles + stage * CHUNKS * blockDim.x; }
};

constexpr std::size_t barrier_bytes(int stages) { return 2 * sizeof(Barrier) * stages; }

}  // namespace amasia::async_copy
