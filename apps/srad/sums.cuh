// The sums of an image on the device: what a thread adds up, how blocks pool it, and what comes of
// it. Additions of integers, so their order does not matter.
#pragma once

#include "apps/srad/kernel.cuh"
#include "variants/device/launch.hpp"

namespace amasia::srad {

inline constexpr int lanes = 32;

__device__ inline long long warp_sum(long long x) {
#pragma unroll
  for (int apart = lanes / 2; apart > 0; apart /= 2) x += __shfl_xor_sync(0xffffffff, x, apart);
  return x;
}

/// What a thread has added up. 32 bits hold the values of 2^15 pixels.
template <class Values = int>
struct PixelSums {
  Values values = 0;
  long long squares = 0;
  __device__ void add(float pixel) {
    const int q = quantised(pixel);
    values += q;
    squares += static_cast<long long>(q) * q;
  }
};

__device__ inline void add_to(Sums* sums, long long values, long long squares) {
  // Negative numbers wrap around and back.
  atomicAdd(reinterpret_cast<unsigned long long*>(&sums->values),
            static_cast<unsigned long long>(values));
  atomicAdd(reinterpret_cast<unsigned long long*>(&sums->squares),
            static_cast<unsigned long long>(squares));
}

/// Adds the sums of all threads of a block to its slot. Called by all, once in a kernel.
template <int WARPS>
__device__ void add_block(const PixelSums<>& own, Sums* sums) {
  __shared__ long long pooled[2][WARPS];
  const long long values = warp_sum(own.values), squares = warp_sum(own.squares);
  const int warp = static_cast<int>(threadIdx.x) / lanes;
  if (threadIdx.x % lanes == 0) {
    pooled[0][warp] = values;
    pooled[1][warp] = squares;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  long long all_values = 0, all_squares = 0;
#pragma unroll
  for (int w = 0; w < WARPS; ++w) {
    all_values += pooled[0][w];
    all_squares += pooled[1][w];
  }
  add_to(sums + blockIdx.x % slots, all_values, all_squares);
}

/// The Speckle of an image of so many pixels. Called by whole warps.
__device__ inline Speckle speckle_of_sums(const Sums* sums, std::int64_t pixels) {
  const Sums own = sums[threadIdx.x % lanes];
  return speckle_of(speckle_scale(warp_sum(own.values), warp_sum(own.squares), pixels));
}

/// The sums of the input, which no iteration before has left. No tile moves.
template <int THREADS>
__global__ void first_sums(Grid<const float> image, Sums* sums) {
  PixelSums<long long> own;
  for (std::int64_t r = blockIdx.y; r < image.rows; r += gridDim.y) {
    for (std::int64_t c = std::int64_t{blockIdx.x} * THREADS + threadIdx.x; c < image.columns;
         c += std::int64_t{gridDim.x} * THREADS) {
      own.add(image.at(r, c));
    }
  }
  const long long values = warp_sum(own.values), squares = warp_sum(own.squares);
  if (threadIdx.x % lanes != 0) return;
  add_to(sums + (blockIdx.x + blockIdx.y) % slots, values, squares);
}

template <int THREADS>
__global__ void scale_of_sums(const Sums* sums, std::int64_t pixels, Speckle* speckle) {
  const Speckle k = speckle_of_sums(sums, pixels);
  if (threadIdx.x == 0) *speckle = k;
}

/// Enqueues what every run starts with: sums of zero, and those of the input.
inline void begin_run(const Problem& p, cudaStream_t stream) {
  constexpr int threads = 256;
  const std::size_t bytes = (static_cast<std::size_t>(p.iterations) + 1) * slots * sizeof(Sums);
  AMASIA_CUDA(cudaMemsetAsync(p.sums, 0, bytes, stream));
  const auto across = static_cast<unsigned>((p.image.columns + threads - 1) / threads);
  const auto down = static_cast<unsigned>(p.image.rows);
  // At least four pixels a thread of a large image: fewer atomic additions
  const dim3 grid(across < 64 ? across : 64, down < 128 ? down : 128);
  first_sums<threads><<<grid, threads, 0, stream>>>(p.image, p.sums);
  AMASIA_CUDA(cudaGetLastError());
}

}  // namespace amasia::srad
