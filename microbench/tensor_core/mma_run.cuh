// Chains of one mma instruction, how they are timed, and the product that each is compared with.
#pragma once

#include "microbench/tensor_core/mma.cuh"
#include "microbench/walks.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::tensor {

constexpr int mma_matrices = 4;   // B's in turn: two and their negatives, so that sums stay bounded
constexpr int mma_per_loop = 64;  // per warp and iteration, over all chains
constexpr int rate_chains = 8;    // independent sums per warp: more than latency / issue interval
constexpr int rate_threads = 512;  // four warps per scheduler

/// Words of one lane: A, the B's, metadata.
template <class I>
constexpr int lane_words = I::a_words + mma_matrices* I::b_words + 1;

/// Fetches the operands anew, as any kernel would: from registers that do not change, ptxas hoists
/// the conversions and the products of an emulated mma out of the loop and leaves additions.
__device__ inline void reload(const uint4 (&held)[2], unsigned (&a)[4], unsigned (&b)[2]) {
  asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(async::shared_address(&held[0])));
  asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];"
               : "=r"(b[0]), "=r"(b[1])
               : "r"(async::shared_address(&held[1])));
}

/// Each warp multiplies CHAINS sums in turn, walks.links iterations of mma_per_loop; then once more
/// from zero, which is stored for the comparison with the CPU.
template <class I, int CHAINS>
__global__ void __launch_bounds__(rate_threads)
    run_mma(const unsigned* lanes, Walks walks, Stamp* taken, unsigned* sink, unsigned* once) {
  const unsigned* const mine = lanes + threadIdx.x % 32 * lane_words<I>;
  unsigned a[I::a_words], b[mma_matrices][I::b_words], d[CHAINS][I::d_words] = {};
#pragma unroll
  for (int i = 0; i < I::a_words; ++i) a[i] = mine[i];
#pragma unroll
  for (int i = 0; i < mma_matrices * I::b_words; ++i) {
    b[i / I::b_words][i % I::b_words] = mine[I::a_words + i];
  }
  const unsigned metadata = mine[lane_words<I> - 1];
  [[maybe_unused]] __shared__ uint4 held[32][2];
  if constexpr (is_fp8(I::element)) {
    if (threadIdx.x < 32) {
      held[threadIdx.x][0] = make_uint4(a[0], a[1], a[2], a[3]);
      held[threadIdx.x][1] = make_uint4(b[0][0], b[0][1], 0, 0);
    }
    __syncthreads();
  }
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    const Stopwatch watch;
#pragma unroll 1
    for (int n = 0; n < walks.links[w]; ++n) {
#pragma unroll
      for (int i = 0; i < mma_per_loop; ++i) {
        if constexpr (is_fp8(I::element)) reload(held[threadIdx.x % 32], a, b[0]);
        constexpr int matrices = is_fp8(I::element) ? 1 : mma_matrices;
        I::multiply(d[i % CHAINS], a, b[i / CHAINS % matrices], metadata);
      }
    }
    // The sums must have arrived before the clock is read.
    unsigned folded = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) {
#pragma unroll
      for (int i = 0; i < I::d_words; ++i) folded ^= d[c][i];
    }
    if (folded == 0x7fc12345U) *sink = folded;
    if (blockIdx.x == 0 && threadIdx.x == 0) watch.stop(taken[w]);
  }
  unsigned sum[I::d_words] = {};
  I::multiply(sum, a, b[0], metadata);
  if (blockIdx.x == 0 && threadIdx.x < 32) {
#pragma unroll
    for (int i = 0; i < I::d_words; ++i) once[threadIdx.x * I::d_words + i] = sum[i];
  }
}

/// Fragments of one instruction on the device, and where its results go.
template <class I>
class MmaOperands {
 public:
  static constexpr int packed_k = I::mode == Mode::sparse ? I::k / 2 : I::k;

  /// With `metadata_too` a sparse A's choices are random; else they are `kept`, which hold() needs.
  MmaOperands(Fill fill, bool metadata_too)
      : a_(matrix_of(I::element, 16, packed_k, fill, 1)),
        b_(matrix_of(I::element, 8, I::k, fill, 2)),
        kept_{metadata_too ? -1 : 2} {
    const Matrix other = matrix_of(I::element, 8, I::k, fill, 3);
    const Matrix all[mma_matrices] = {b_, other, negated(b_), negated(other)};
    std::vector<unsigned> host;
    for (int lane = 0; lane < 32; ++lane) {
      const int g = lane / 4, t = lane % 4;
      for (int i = 0; i < I::a_words; ++i) {
        host.push_back(a_.word(g + i % 2 * 8, t + i / 2 * 4));
      }
      for (const Matrix& b : all) {
        for (int i = 0; i < I::b_words; ++i) host.push_back(b.word(g, t + 4 * i));
      }
      host.push_back(metadata_too ? random_metadata(I::element, static_cast<unsigned>(lane))
                                  : kept_.metadata());
    }
    lanes.upload(host.data());
    once.poison(nullptr);
  }

  /// Compares what a launch stored with the CPU's product.
  void hold() const {
    const std::vector<unsigned> got = downloaded(once);
    for (int m = 0; m < 16; ++m) {
      for (int n = 0; n < 8; ++n) {
        const int lane = m % 8 * 4 + n / 2;
        const auto at = static_cast<std::size_t>(m / 8 * 2 + n % 2);
        hold_to(sum_at(I::sum, got.data() + lane * I::d_words, at),
                product(a_, m, b_, n, I::mode == Mode::sparse ? &kept_ : nullptr), I::element,
                I::sum, m, n);
      }
    }
  }

 private:
  Matrix a_, b_;
  Kept kept_;

 public:
  DeviceArray<unsigned> lanes{32 * lane_words<I>};
  DeviceArray<unsigned> once{32 * I::d_words};
  DeviceArray<Stamp> taken{max_walks};
  DeviceArray<unsigned> sink{1};
};

template <class I, int CHAINS>
void launch_mma(const MmaOperands<I>& o, unsigned blocks, int threads, Walks walks, Stream stream) {
  run_mma<I, CHAINS><<<blocks, threads, 0, stream>>>(o.lanes.data(), walks, o.taken.data(),
                                                     o.sink.data(), o.once.data());
  AMASIA_CUDA(cudaGetLastError());
}

/// Runs the instruction once on random data and compares with the CPU. Throws when it is wrong.
template <class I, int CHAINS>
void verify_mma(Stream stream) {
  const MmaOperands<I> o(Fill::random, false);
  launch_mma<I, CHAINS>(o, 1, 32, Walks{{1, 0, 0}}, stream);
  AMASIA_CUDA(cudaStreamSynchronize(stream));
  o.hold();
}

/// Cycles from one mma to the next of one warp: dependent with CHAINS = 1, else independent.
template <class I, int CHAINS>
Sampling mma_cycles(Stream stream) {
  verify_mma<I, CHAINS>(stream);
  auto o = std::make_shared<const MmaOperands<I>>(Fill::random, true);
  return [o, stream] {
    const Walks walks{{4, 16, 80}};
    launch_mma<I, CHAINS>(*o, 1, 32, walks, stream);
    return slope_of_walks(stream, o->taken, walks, mma_per_loop);
  };
}

template <class I>
constexpr double mma_operations = 2.0 * 16 * 8 * I::k;

/// 1e12 operations per second of all SMs.
template <class I>
Sampling mma_rate(Fill fill, const Device& device, Stream stream) {
  verify_mma<I, rate_chains>(stream);
  auto o = std::make_shared<const MmaOperands<I>>(fill, true);
  const auto blocks = static_cast<unsigned>(device.sm_count);
  return [o, blocks, stream] {
    // About 3 ms at the rate of the shape: m16n8k16 takes 4 cycles of a scheduler or more.
    constexpr int iterations = 6000 * 16 / rate_chains / 16;
    const Walks walks{{iterations, 0, 0}};
    Reading r = time_of_launch(stream, o->taken, [&] {
      launch_mma<I, rate_chains>(*o, blocks, rate_threads, walks, stream);
    });
    r.value = mma_operations<I> * blocks * (rate_threads / 32) * mma_per_loop * iterations /
              *r.time_ns * 1e-3;
    return r;
  };
}

}  // namespace amasia::tensor
