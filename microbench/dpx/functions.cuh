// The DPX functions (CUDA C++ Programming Guide, "DPX"): combined additions, minima and maxima of
// 32-bit and of pairs of 16-bit integers, since CUDA 12; hardware from sm_90 on, emulated before.
// Each beside the same in plain C. The maxima stand for the minima, which differ in one bit of the
// instruction.
#pragma once

#include <random>

#include "microbench/walks.cuh"
#include "variants/ptx/registers.cuh"

namespace amasia::dpx {

constexpr int threads = 1024;
constexpr int copies = 64;  // calls per iteration
constexpr int chains = 4;   // of a thread, where throughput is asked for
constexpr int operand_words = 1 + 2 * chains;

/// Applies f to the low and the high halves of three words, each as a Half.
template <class Half, class Function>
__device__ unsigned of_halves(unsigned a, unsigned b, unsigned c, Function f) {
  const auto half = [](unsigned word, int shift) { return static_cast<Half>(word >> shift); };
  const auto low = static_cast<unsigned short>(f(half(a, 0), half(b, 0), half(c, 0)));
  const auto high = static_cast<unsigned short>(f(half(a, 16), half(b, 16), half(c, 16)));
  return low | static_cast<unsigned>(high) << 16;
}

/// a + b modulo 2^n: unsigned, because a signed sum may not overflow in C++.
template <class T>
__device__ T wrapped_sum(T a, T b) {
  return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}

/// The operation on one number of type T.
#define AMASIA_OPERATION(NAME, RESULT)                       \
  struct NAME {                                              \
    template <class T>                                       \
    static __device__ T of(T a, T b, [[maybe_unused]] T c) { \
      return RESULT;                                         \
    }                                                        \
  };
AMASIA_OPERATION(Maximum3, max(max(a, b), c))
AMASIA_OPERATION(Maximum3Relu, max(max(max(a, b), c), T{0}))
AMASIA_OPERATION(MaximumRelu, max(max(a, b), T{0}))
AMASIA_OPERATION(AddMaximum, max(wrapped_sum(a, b), c))
AMASIA_OPERATION(AddMaximumRelu, max(max(wrapped_sum(a, b), c), T{0}))

/// A DPX function and its plain form.
#define AMASIA_DPX(NAME, OPERATION, TYPE, CALL)                                            \
  struct NAME {                                                                            \
    static __device__ unsigned dpx(unsigned a, unsigned b, unsigned c) {                   \
      (void)c;                                                                             \
      return static_cast<unsigned>(CALL);                                                  \
    }                                                                                      \
    static __device__ unsigned plain(unsigned a, unsigned b, unsigned c) {                 \
      if constexpr (sizeof(TYPE) == 2) {                                                   \
        return of_halves<TYPE>(                                                            \
            a, b, c, [](TYPE p, TYPE q, TYPE r) { return OPERATION::of<TYPE>(p, q, r); }); \
      } else {                                                                             \
        return static_cast<unsigned>(OPERATION::of<TYPE>(                                  \
            static_cast<TYPE>(a), static_cast<TYPE>(b), static_cast<TYPE>(c)));            \
      }                                                                                    \
    }                                                                                      \
  };

AMASIA_DPX(Vimax3S32, Maximum3, int, __vimax3_s32(a, b, c))
AMASIA_DPX(Vimax3U32, Maximum3, unsigned, __vimax3_u32(a, b, c))
AMASIA_DPX(Vimax3S16x2, Maximum3, short, __vimax3_s16x2(a, b, c))
AMASIA_DPX(Vimax3U16x2, Maximum3, unsigned short, __vimax3_u16x2(a, b, c))
AMASIA_DPX(Vimax3S32Relu, Maximum3Relu, int, __vimax3_s32_relu(a, b, c))
AMASIA_DPX(Vimax3S16x2Relu, Maximum3Relu, short, __vimax3_s16x2_relu(a, b, c))
AMASIA_DPX(VimaxS32Relu, MaximumRelu, int, __vimax_s32_relu(a, b))
AMASIA_DPX(VimaxS16x2Relu, MaximumRelu, short, __vimax_s16x2_relu(a, b))
AMASIA_DPX(ViaddmaxS32, AddMaximum, int, __viaddmax_s32(a, b, c))
AMASIA_DPX(ViaddmaxU32, AddMaximum, unsigned, __viaddmax_u32(a, b, c))
AMASIA_DPX(ViaddmaxS16x2, AddMaximum, short, __viaddmax_s16x2(a, b, c))
AMASIA_DPX(ViaddmaxU16x2, AddMaximum, unsigned short, __viaddmax_u16x2(a, b, c))
AMASIA_DPX(ViaddmaxS32Relu, AddMaximumRelu, int, __viaddmax_s32_relu(a, b, c))
AMASIA_DPX(ViaddmaxS16x2Relu, AddMaximumRelu, short, __viaddmax_s16x2_relu(a, b, c))

/// The maximum and which of the two it is; the predicates say whether c changes it, for else the
/// function would be a maximum and nothing more.
struct VibmaxS32 {
  static __device__ unsigned dpx(unsigned a, unsigned b, unsigned c) {
    bool first;
    const int larger = __vibmax_s32(static_cast<int>(a), static_cast<int>(b), &first);
    return static_cast<unsigned>(larger) ^ (first ? c : 0U);
  }
  static __device__ unsigned plain(unsigned a, unsigned b, unsigned c) {
    const int p = static_cast<int>(a), q = static_cast<int>(b);
    return static_cast<unsigned>(max(p, q)) ^ (p >= q ? c : 0U);
  }
};
struct VibmaxS16x2 {
  static __device__ unsigned dpx(unsigned a, unsigned b, unsigned c) {
    bool high, low;
    const unsigned larger = __vibmax_s16x2(a, b, &high, &low);
    return larger ^ (high != low ? c : 0U);
  }
  static __device__ unsigned plain(unsigned a, unsigned b, unsigned c) {
    const auto half = [](unsigned word, int shift) { return static_cast<short>(word >> shift); };
    const bool low = half(a, 0) >= half(b, 0), high = half(a, 16) >= half(b, 16);
    const unsigned larger = (low ? a : b) & 0xffffU | (high ? a : b) & 0xffff0000U;
    return larger ^ (high != low ? c : 0U);
  }
};

/// Calls on the last two results of a chain in turn: with a constant operand a maximum is the same
/// after the first call, and the compiler may keep one. `operands` has operand_words words for each
/// lane. The clock is that of block 0.
template <class Function, bool DPX, int CHAINS>
__global__ void __launch_bounds__(threads)
    run_calls(const unsigned* operands, unsigned* sink, Walks walks, Stamp* taken) {
  const auto call = [](unsigned& x, unsigned y, unsigned c) {
    x = DPX ? Function::dpx(x, y, c) : Function::plain(x, y, c);
    x = opaque(x);  // each call is a call of its own
  };
  const unsigned* const mine = operands + threadIdx.x % 32 * operand_words;
  const unsigned c = mine[0];
  unsigned x[CHAINS], y[CHAINS];
#pragma unroll
  for (int n = 0; n < CHAINS; ++n) {
    x[n] = mine[1 + 2 * n];
    y[n] = mine[2 + 2 * n];
  }
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    __syncthreads();
    const Stopwatch watch;
#pragma unroll 1
    for (int i = 0; i < walks.links[w]; i += copies) {
#pragma unroll
      for (int k = 0; k < copies / CHAINS; k += 2) {
#pragma unroll
        for (int n = 0; n < CHAINS; ++n) call(x[n], y[n], c);
#pragma unroll
        for (int n = 0; n < CHAINS; ++n) call(y[n], x[n], c);
      }
    }
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == 0) watch.stop(taken[w]);
  }
  unsigned folded = 0;
#pragma unroll
  for (int n = 0; n < CHAINS; ++n) folded = 31 * folded + (x[n] ^ y[n] << 1);
  sink[blockIdx.x * blockDim.x + threadIdx.x] = folded;
}

using Calls = void (*)(const unsigned*, unsigned*, Walks, Stamp*);

/// One kernel, its operands (all bits random) and where its results go.
class Run {
 public:
  Run(Calls kernel, int blocks, int threads_per_block, Stream stream)
      : kernel_(kernel),
        blocks_(blocks),
        threads_(threads_per_block),
        stream_(stream),
        operands_(32 * operand_words),
        sink_(static_cast<std::size_t>(blocks) * threads_per_block),
        taken_(max_walks) {
    std::mt19937 random(2024);
    std::vector<unsigned> words(32 * operand_words);
    for (unsigned& word : words) word = static_cast<unsigned>(random());
    operands_.upload(words.data());
  }

  void launch(const Walks& walks) {
    kernel_<<<blocks_, threads_, 0, stream_>>>(operands_.data(), sink_.data(), walks,
                                               taken_.data());
    AMASIA_CUDA(cudaGetLastError());
  }
  const DeviceArray<Stamp>& taken() const { return taken_; }
  /// What `calls` calls leave, from a poisoned destination.
  std::vector<unsigned> results(int calls) {
    AMASIA_CUDA(cudaMemsetAsync(sink_.data(), 0xa5, 4 * sink_.size(), stream_));
    launch(Walks{{calls, 0, 0}});
    finish(stream_);
    return downloaded(sink_);
  }

 private:
  Calls kernel_;
  int blocks_, threads_;
  Stream stream_;
  DeviceArray<unsigned> operands_, sink_;
  DeviceArray<Stamp> taken_;
};

/// Throws unless both forms leave the same after one iteration and after five.
inline void expect_equal(Calls one, Calls other, int threads_per_block, Stream stream) {
  for (const int calls : {copies, 5 * copies}) {
    const auto a = Run(one, 2, threads_per_block, stream).results(calls);
    const auto b = Run(other, 2, threads_per_block, stream).results(calls);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i] || a[i] == 0xa5a5a5a5U) {
        throw std::runtime_error("thread " + std::to_string(i) + " has " + std::to_string(a[i]) +
                                 " by the function and " + std::to_string(b[i]) + " in plain C");
      }
    }
  }
}

}  // namespace amasia::dpx
