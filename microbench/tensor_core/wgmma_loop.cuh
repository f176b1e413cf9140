// The loop of one wgmma instruction, from tiles and fragments that are laid out once.
#pragma once

#include "microbench/tensor_core/wgmma_ops.cuh"
#include "microbench/walks.cuh"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::tensor {

/// Where A comes from; B is always in shared memory.
enum class Source { shared, registers };
/// When a warpgroup waits: for the group of the loop before, or for each multiplication.
enum class Waits { behind, each };

constexpr int wgmma_threads = 128;
constexpr int wgmma_per_loop = 8;
constexpr int wgmma_slices = 4;  // steps of k in a 128-byte row of A
constexpr int row_words = 32;    // of a tile: 128 bytes, the width of the swizzle

template <class I>
constexpr unsigned wgmma_shared = 1024 + (64 + I::n) * 128;  // alignment, A, B

/// Tiles and fragments of one block, as the kernel reads them.
struct WgmmaData {
  const unsigned* tiles;      // A (64, 32), B (n, 32) words, swizzled
  const unsigned* fragments;  // A again, (slice, thread, 4)
  const unsigned* metadata;   // (thread)
};

template <class I, Mode M, Source A, Waits WAITS>
__global__ void __launch_bounds__(wgmma_threads)
    run_wgmma(WgmmaData data, Walks walks, Stamp* taken, unsigned* sums) {
  extern __shared__ unsigned raw[];
  const unsigned padding = (1024 - async::shared_address(raw) % 1024) % 1024;
  unsigned* const tiles = raw + padding / 4;
  for (int i = threadIdx.x; i < (64 + I::n) * row_words; i += wgmma_threads) {
    tiles[i] = data.tiles[i];
  }
  unsigned fragments[wgmma_slices][4] = {};
  if constexpr (A == Source::registers) {
#pragma unroll
    for (int i = 0; i < 4 * wgmma_slices; ++i) {
      fragments[i / 4][i % 4] = data.fragments[(i / 4 * wgmma_threads + threadIdx.x) * 4 + i % 4];
    }
  }
  const unsigned metadata = data.metadata[threadIdx.x];
  // Written by ordinary stores, read by the tensor cores.
  tma::fence_async_proxy();
  __syncthreads();
  const std::uint64_t a = wgmma::k_major(tiles);
  const std::uint64_t b = wgmma::k_major(tiles + 64 * row_words);

  unsigned d[I::words] = {};
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    wgmma::hold(d);
    const Stopwatch watch;
#pragma unroll 1
    for (int n = 0; n < walks.links[w]; ++n) {
      if constexpr (WAITS == Waits::behind) wgmma::fence();
#pragma unroll
      for (unsigned k = 0; k < wgmma_per_loop; ++k) {
        if constexpr (WAITS == Waits::each) wgmma::fence();
        const std::uint64_t b_k =
            wgmma::advance(b, M == Mode::dense ? k % wgmma_slices * 32 : k % 2 * 64);
        // The first forgets the sums before, so that they stay bounded.
        if constexpr (A == Source::shared) {
          const std::uint64_t a_k = wgmma::advance(a, k % wgmma_slices * 32);
          I::template multiply<M>(d, a_k, b_k, k > 0, metadata);
        } else {
          I::template multiply<M>(d, fragments[k % wgmma_slices], b_k, k > 0, metadata);
        }
        if constexpr (WAITS == Waits::each) {
          wgmma::commit();
          wgmma::wait<0>();
        }
      }
      if constexpr (WAITS == Waits::behind) {
        wgmma::commit();
        wgmma::wait<1>();
      }
    }
    wgmma::wait<0>();
    wgmma::hold(d);
    if (blockIdx.x == 0 && threadIdx.x == 0) watch.stop(taken[w]);
  }
  if (blockIdx.x == 0) {
    for (int i = 0; i < I::words; ++i) sums[threadIdx.x * I::words + i] = d[i];
  }
}

}  // namespace amasia::tensor
