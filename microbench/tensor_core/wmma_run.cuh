// The kernels of tensor_core/wmma, the types that they multiply, and the product that each is
// compared with.
#pragma once

#include <cuda_bf16.h>
#include <mma.h>

#include <cmath>
#include <random>
#include <type_traits>

#include "microbench/walks.cuh"

namespace amasia::tensor {

namespace wmma = nvcuda::wmma;

constexpr int per_loop = 16;
constexpr int matrices = 4;  // B's in turn
constexpr int rate_threads = 512;
constexpr int rate_chains = 4;

// sm_75 lacks bf16, tf32 and f64, and mma.h the name of tf32 there: points start at sm_80.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
using Tf32Name = wmma::precision::tf32;
#else
using Tf32Name = float;
#endif

/// One row of Table III: T as wmma names it, its element in memory, the sum, and how many
/// instructions of `group` it becomes.
template <class T, class S, class C, int MACHINE>
struct TypeOf {
  using Type = T;
  using Stored = S;
  using Sum = C;
  static constexpr int machine = MACHINE;
};
struct F16 : TypeOf<half, half, half, 2> {
  static constexpr const char *name = "f16", *sum = "f16", *group = "HMMA";
};
struct F16F32 : TypeOf<half, half, float, 2> {
  static constexpr const char *name = "f16", *sum = "f32", *group = "HMMA";
};
struct Bf16 : TypeOf<__nv_bfloat16, __nv_bfloat16, float, 2> {
  static constexpr const char *name = "bf16", *sum = "f32", *group = "HMMA";
};
struct Tf32 : TypeOf<Tf32Name, float, float, 4> {
  static constexpr const char *name = "tf32", *sum = "f32", *group = "HMMA";
};
struct F64 : TypeOf<double, double, double, 1> {
  static constexpr const char *name = "f64", *sum = "f64", *group = "DMMA";
};
struct U8 : TypeOf<unsigned char, unsigned char, int, 2> {
  static constexpr const char *name = "u8", *sum = "s32", *group = "IMMA";
};

template <class Type, int M, int N, int K, bool A_ROWS = true, bool B_ROWS = false>
struct Wmma : Type {
  using A = std::conditional_t<A_ROWS, wmma::row_major, wmma::col_major>;
  using B = std::conditional_t<B_ROWS, wmma::row_major, wmma::col_major>;
  static constexpr int m = M, n = N, k = K;
  static constexpr bool a_rows = A_ROWS, b_rows = B_ROWS;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <class I>
struct Fragments {
  wmma::fragment<wmma::matrix_a, I::m, I::n, I::k, typename I::Type, typename I::A> a;
  wmma::fragment<wmma::matrix_b, I::m, I::n, I::k, typename I::Type, typename I::B> b[matrices];

  __device__ Fragments(const typename I::Stored* in_a, const typename I::Stored* in_b) {
    wmma::load_matrix_sync(a, in_a, I::a_rows ? I::k : I::m);
#pragma unroll
    for (int i = 0; i < matrices; ++i) {
      wmma::load_matrix_sync(b[i], in_b + i * I::n * I::k, I::b_rows ? I::n : I::k);
    }
  }
};
template <class I>
using Sums = wmma::fragment<wmma::accumulator, I::m, I::n, I::k, typename I::Sum>;
#endif

template <class I, int CHAINS>
__global__ void __launch_bounds__(rate_threads)
    run_wmma(const typename I::Stored* in_a, const typename I::Stored* in_b, Walks walks,
             Stamp* taken, typename I::Sum* out) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  Fragments<I> in(in_a, in_b);
  Sums<I> c[CHAINS];
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) wmma::fill_fragment(c[i], static_cast<typename I::Sum>(0.0F));
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    const Stopwatch watch;
#pragma unroll 1
    for (int n = 0; n < walks.links[w]; ++n) {
#pragma unroll
      for (int i = 0; i < per_loop; ++i) {
        wmma::mma_sync(c[i % CHAINS], in.a, in.b[i / CHAINS % matrices], c[i % CHAINS]);
      }
    }
    // The sums must have arrived before the clock is read. They never add up to this.
    typename I::Sum total = c[0].x[0];
#pragma unroll
    for (int i = 0; i < CHAINS * c[0].num_elements; ++i) {
      total = total + c[i / c[0].num_elements].x[i % c[0].num_elements];
    }
    if (total == static_cast<typename I::Sum>(12345.0F)) *out = total;
    if (blockIdx.x == 0 && threadIdx.x == 0) watch.stop(taken[w]);
  }
  wmma::fill_fragment(c[0], static_cast<typename I::Sum>(0.0F));
  wmma::mma_sync(c[0], in.a, in.b[0], c[0]);
  if (blockIdx.x == 0 && threadIdx.x < 32) {
    wmma::store_matrix_sync(out, c[0], I::n, wmma::mem_row_major);
  }
#endif
}

/// COUNT multiplications between two clock reads, many times over.
template <class I, int COUNT>
__global__ void __launch_bounds__(32)
    run_clocked(const typename I::Stored* in_a, const typename I::Stored* in_b, int times,
                long long* cycles, typename I::Sum* out) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  Fragments<I> in(in_a, in_b);
  Sums<I> c;
  wmma::fill_fragment(c, static_cast<typename I::Sum>(0.0F));
  long long sum = 0;
#pragma unroll 1
  for (int t = 0; t < times; ++t) {
    const long long begin = clock_now();
#pragma unroll
    for (int i = 0; i < COUNT; ++i) wmma::mma_sync(c, in.a, in.b[i % matrices], c);
    sum += clock_now() - begin;
  }
  if (threadIdx.x == 0) *cycles = sum;
  wmma::store_matrix_sync(out, c, I::n, wmma::mem_row_major);
#endif
}

/// Operands on the device, and the product on the host.
template <class I>
class Operands {
 public:
  using Stored = typename I::Stored;
  Operands() {
    std::mt19937 random(7);
    constexpr bool integers = std::is_integral_v<Stored>;
    std::uniform_real_distribution<float> value(-1, 1);
    const auto next = [&] {
      if constexpr (integers) return static_cast<Stored>(random());
      // Twelve bits: exact in f16 and tf32 alike.
      else
        return static_cast<Stored>(std::round(value(random) * 128) / 128);
    };
    for (int i = 0; i < I::m * I::k; ++i) a_.push_back(next());
    for (int i = 0; i < 2 * I::n * I::k; ++i) b_.push_back(next());
    for (int i = 0; i < 2 * I::n * I::k; ++i) {
      if constexpr (integers)
        b_.push_back(b_[i]);
      else
        b_.push_back(static_cast<Stored>(-static_cast<float>(b_[i])));
    }
    a.upload(a_.data());
    b.upload(b_.data());
    out.poison(nullptr);
  }

  /// Throws unless `out` is A times the first B.
  void hold() const {
    const std::vector<typename I::Sum> got = downloaded(out);
    for (int m = 0; m < I::m; ++m) {
      for (int n = 0; n < I::n; ++n) {
        double sum = 0;
        for (int k = 0; k < I::k; ++k) {
          sum += static_cast<double>(a_[I::a_rows ? m * I::k + k : k * I::m + m]) *
                 static_cast<double>(b_[I::b_rows ? k * I::n + n : n * I::k + k]);
        }
        const double bound = std::is_same_v<typename I::Sum, half> ? 0.02 : 1e-5;
        if (!(std::fabs(static_cast<double>(got[m * I::n + n]) - sum) <= bound)) {
          throw std::runtime_error("the product is wrong at row " + std::to_string(m) +
                                   ", column " + std::to_string(n));
        }
      }
    }
  }

 private:
  std::vector<Stored> a_, b_;

 public:
  DeviceArray<Stored> a{I::m * I::k}, b{matrices * I::n * I::k};
  DeviceArray<typename I::Sum> out{I::m * I::n};
  DeviceArray<Stamp> taken{max_walks};
};

}  // namespace amasia::tensor
