// What the six strategies have in common: the computation on a tile, and how a block walks its
// tiles. A strategy is a mover, which brings tiles to shared memory:
//
// `start()`: before the first tile.
// `bring()`: returns when the next tile of this block can be read.
// `lane()`: whose chunks this thread computes on.
// `read(j, k, at)`: read k for the j-th chunk of the thread, which is chunk `at` of the tile.
// `release()`: this thread has read all it needs of the tile.
// `finish()`: behind the last tile.
//
// Results go out by ordinary stores, or into a checksum where a tile has more input than output.
// Only the way in differs.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cmath>

#include "microbench/twin/geometry.hpp"

namespace amasia::twin {

/// What a launch works on, the same for all strategies. Plain data.
struct Work {
  Shape shape{};
  const float4* in = nullptr;
  float4* out = nullptr;
  const int* numbers = nullptr;     // of the rows that are gathered
  unsigned* checksum = nullptr;     // of the results that are not stored
  std::int64_t begin = 0, end = 0;  // tiles
  int fma_eights = 0, fma_ones = 0;
  int dependent = 0;
  int barriers = 0;
  int stages = 1;
  int boxes = 0;  // 1: a tile is fetched by tensor map
};

using TwinKernel = void (*)(Work, const CUtensorMap);

AMASIA_HD inline float step(float x) { return fmaf(x, -0x1.ffcp-1F, 0.75F); }

AMASIA_HD inline float4 added(float4 a, float4 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

AMASIA_HD inline unsigned bits_of(float x) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(x);
#else
  union {
    float from;
    unsigned to;
  } const pun{x};
  return pun.to;
#endif
}
AMASIA_HD inline unsigned bits_of(float4 v) {
  return bits_of(v.x) + bits_of(v.y) + bits_of(v.z) + bits_of(v.w);
}

// Of loops that the host runs, too, whose compiler knows no such pragma.
#ifdef __CUDA_ARCH__
#define AMASIA_TWIN_UNROLLED _Pragma("unroll")
#define AMASIA_TWIN_ROLLED _Pragma("unroll 1")
#else
#define AMASIA_TWIN_UNROLLED
#define AMASIA_TWIN_ROLLED
#endif

/// Whatever `fma` multiply-adds make of x, each waiting for the one before.
AMASIA_HD inline float chained(float x, int eights, int ones) {
  AMASIA_TWIN_ROLLED
  for (int n = 0; n < eights; ++n) {
    AMASIA_TWIN_UNROLLED
    for (int u = 0; u < 8; ++u) x = step(x);
  }
  AMASIA_TWIN_ROLLED
  for (int n = 0; n < ones; ++n) x = step(x);
  return x;
}

/// The computation on the chunks of one thread. Independent: elements side by side. Dependent:
/// each element starts with the result of the one before it.
template <int CHUNKS>
AMASIA_HD void compute(float4 (&v)[CHUNKS], int eights, int ones, bool dependent) {
  if (dependent) {
    float last = 0;
    AMASIA_TWIN_UNROLLED
    for (int j = 0; j < CHUNKS; ++j) {
      v[j].x = last = chained(fmaf(last, 0.25F, v[j].x), eights, ones);
      v[j].y = last = chained(fmaf(last, 0.25F, v[j].y), eights, ones);
      v[j].z = last = chained(fmaf(last, 0.25F, v[j].z), eights, ones);
      v[j].w = last = chained(fmaf(last, 0.25F, v[j].w), eights, ones);
    }
    return;
  }
  const auto all = [&] {
    AMASIA_TWIN_UNROLLED
    for (int j = 0; j < CHUNKS; ++j)
      v[j] = {step(v[j].x), step(v[j].y), step(v[j].z), step(v[j].w)};
  };
  AMASIA_TWIN_ROLLED
  for (int n = 0; n < eights; ++n) {
    AMASIA_TWIN_UNROLLED
    for (int u = 0; u < 8; ++u) all();
  }
  AMASIA_TWIN_ROLLED
  for (int n = 0; n < ones; ++n) all();
}

/// Where the chunks of lane `lane` of `lanes` lie in a tile.
template <int CHUNKS>
AMASIA_HD void find_starts(int (&starts)[CHUNKS], const Shape& s, int lane, int lanes) {
  AMASIA_TWIN_UNROLLED
  for (int j = 0; j < CHUNKS; ++j) starts[j] = s.start_of(j * lanes + lane);
}

/// The results of lane `lane` of `lanes` for one tile; read(j, k, at) as a mover has it.
template <int CHUNKS, class Read, class AfterReading>
AMASIA_HD void results_of(float4 (&v)[CHUNKS], const int (&starts)[CHUNKS], const Work& work,
                          int lane, int lanes, Read read, AfterReading after_reading) {
  const Shape& s = work.shape;
  AMASIA_TWIN_UNROLLED
  for (int j = 0; j < CHUNKS; ++j) {
    v[j] = {0, 0, 0, 0};
    if (j * lanes + lane < s.inner()) v[j] = read(j, 0, starts[j]);
  }
  AMASIA_TWIN_ROLLED
  for (int k = 1; k < s.reads; ++k) {
    AMASIA_TWIN_UNROLLED
    for (int j = 0; j < CHUNKS; ++j) {
      if (j * lanes + lane < s.inner()) {
        v[j] = added(v[j], read(j, k, s.read_at(starts[j], k)));
      }
    }
  }
  after_reading();
  compute(v, work.fma_eights, work.fma_ones, work.dependent != 0);
}

/// The thread whose chunks this one computes on where a tile is the whole block's: half a block
/// away, so that a missing barrier is a wrong result.
__device__ inline int partner() {
  const int there = static_cast<int>(threadIdx.x + blockDim.x / 2);
  return there < static_cast<int>(blockDim.x) ? there : there - static_cast<int>(blockDim.x);
}

/// The shared memory of a block: stages first, on a multiple of 128 bytes as tensor maps need it.
__device__ inline float4* stages_of_block() {
  extern __shared__ __align__(128) float4 shared[];
  return shared;
}

__device__ inline TileWalk walk_of_block(const Work& work) {
  return walk_of(blockIdx.x, gridDim.x, work.begin, work.end);
}

template <int CHUNKS, class Mover>
__device__ void walk_tiles(const Work& work, Mover& mover) {
  const Shape& s = work.shape;
  const TileWalk walk = walk_of_block(work);
  const int lanes = static_cast<int>(blockDim.x);
  const int lane = mover.lane();
  int starts[CHUNKS];
  find_starts(starts, s, lane, lanes);
  unsigned sum = 0;

  // Prologue
  mover.start();

  // Main loop
#pragma unroll 1
  for (int n = 0; n < walk.count; ++n) {
    mover.bring();
    float4 v[CHUNKS];
    results_of(
        v, starts, work, lane, lanes, [&](int j, int k, int at) { return mover.read(j, k, at); },
        [&] { mover.release(); });
#pragma unroll 1
    for (int b = 0; b < work.barriers; ++b) __syncthreads();
    float4* const out = work.out + walk.tile(n) * s.out_chunks;
#pragma unroll
    for (int j = 0; j < CHUNKS; ++j) {
      const int i = j * lanes + lane;
      if (i < s.out_chunks) {
        out[i] = v[j];
      } else if (i < s.inner()) {
        sum += bits_of(v[j]);
      }
    }
  }

  // Epilogue
  if (s.out_chunks < s.inner()) {
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0U, sum, d);
    if (threadIdx.x % 32 == 0) atomicAdd(work.checksum, sum);
  }
}

}  // namespace amasia::twin
