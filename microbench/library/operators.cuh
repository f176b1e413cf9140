// The steps of a linear layer besides the product: largest magnitude, quantisation to FP8. Also the
// reference that its product is compared with.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

namespace amasia::library {

constexpr int operator_threads = 256;
constexpr float fp8_largest = 448;  // of e4m3

__device__ inline unsigned hash(unsigned i) {
  i = (i ^ i >> 16) * 0x7feb352dU;
  i = (i ^ i >> 15) * 0x846ca68bU;
  return i ^ i >> 16;
}

/// Numbers in [-1, 1).
template <class T>
__global__ void fill_random(T* out, std::int64_t n, unsigned seed) {
  for (std::int64_t i = blockIdx.x * std::int64_t{operator_threads} + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * operator_threads) {
    const auto bits = static_cast<int>(hash(static_cast<unsigned>(i) ^ seed));
    out[i] = static_cast<T>(static_cast<float>(bits) * 0x1p-31F);
  }
}

/// Eight bf16, 16 bytes.
union Eight {
  uint4 words;
  __nv_bfloat162 pairs[4];
};

/// *largest = max |in|. `words` of 16 bytes; *largest is 0 before.
template <int THREADS>
__global__ void __launch_bounds__(THREADS)
    find_largest(const uint4* in, std::int64_t words, unsigned* largest) {
  __nv_bfloat162 most = __float2bfloat162_rn(0);
#pragma unroll 1
  for (std::int64_t i = blockIdx.x * std::int64_t{THREADS} + threadIdx.x; i < words;
       i += std::int64_t{gridDim.x} * THREADS) {
    Eight v;
    v.words = in[i];
#pragma unroll
    for (int k = 0; k < 4; ++k) most = __hmax2(most, __habs2(v.pairs[k]));
  }
  // Magnitudes order as their bits do.
  float f = fmaxf(__low2float(most), __high2float(most));
  unsigned bits = __float_as_uint(f);
  for (int lane = 16; lane > 0; lane /= 2) {
    bits = max(bits, __shfl_xor_sync(0xffffffffU, bits, lane));
  }
  if (threadIdx.x % 32 == 0) atomicMax(largest, bits);
}

/// out = in x 448 / largest as e4m3, and the factor that undoes it.
template <int THREADS>
__global__ void __launch_bounds__(THREADS)
    quantise(const uint4* in, std::int64_t words, const unsigned* largest, uint2* out,
             float* undo) {
  const float most = fmaxf(__uint_as_float(*largest), 1e-30F);
  const float scale = fp8_largest / most;
  if (blockIdx.x == 0 && threadIdx.x == 0) *undo = most / fp8_largest;
#pragma unroll 1
  for (std::int64_t i = blockIdx.x * std::int64_t{THREADS} + threadIdx.x; i < words;
       i += std::int64_t{gridDim.x} * THREADS) {
    Eight v;
    v.words = in[i];
    unsigned short halves[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float2 f = __bfloat1622float2(v.pairs[k]);
      halves[k] = __nv_cvt_float2_to_fp8x2(make_float2(f.x * scale, f.y * scale), __NV_SATFINITE,
                                           __NV_E4M3);
    }
    out[i] = make_uint2(halves[0] | static_cast<unsigned>(halves[1]) << 16,
                        halves[2] | static_cast<unsigned>(halves[3]) << 16);
  }
}

/// How far an element of a product may be off: rounding of the result, a share of it, and of the
/// sums before, a share of the sum of magnitudes.
struct Bound {
  float result;
  float sums;
};

/// Sampled elements of y = x w^T (per batch), each by one warp; counts those that are further off.
/// x (batch, rows, k), w (batch, columns, k).
template <class In, class Out>
__global__ void __launch_bounds__(operator_threads)
    check_products(const In* x, const In* w, const Out* y, std::int64_t rows, std::int64_t columns,
                   std::int64_t k, int batch, const float* undo_x, const float* undo_w, Bound bound,
                   unsigned* wrong) {
  const unsigned sample = (blockIdx.x * operator_threads + threadIdx.x) / 32;
  const std::int64_t b = hash(3 * sample) % static_cast<unsigned>(batch);
  const std::int64_t row = b * rows + hash(3 * sample + 1) % static_cast<unsigned>(rows);
  const std::int64_t column = hash(3 * sample + 2) % static_cast<unsigned>(columns);
  const In* const mine_x = x + row * k;
  const In* const mine_w = w + (b * columns + column) * k;
  float sum = 0, magnitude = 0;
#pragma unroll 1
  for (std::int64_t i = threadIdx.x % 32; i < k; i += 32) {
    const float a = static_cast<float>(mine_x[i]), c = static_cast<float>(mine_w[i]);
    sum = fmaf(a, c, sum);
    magnitude = fmaf(fabsf(a), fabsf(c), magnitude);
  }
  for (int lane = 16; lane > 0; lane /= 2) {
    sum += __shfl_xor_sync(0xffffffffU, sum, lane);
    magnitude += __shfl_xor_sync(0xffffffffU, magnitude, lane);
  }
  const float undo = undo_x == nullptr ? 1.0F : *undo_x * *undo_w;
  const float got = static_cast<float>(y[row * columns + column]);
  if (threadIdx.x % 32 == 0 &&
      !(fabsf(got - sum * undo) <= (bound.result * fabsf(sum) + bound.sums * magnitude) * undo)) {
    atomicAdd(wrong, 1U);
  }
}

/// Quantised elements further from the original than a 16th of it (e4m3 has three bits after the
/// leading one) or than the smallest step.
template <int THREADS>
__global__ void check_quantised(const __nv_bfloat16* in, const __nv_fp8_e4m3* out, std::int64_t n,
                                const float* undo, unsigned* wrong) {
  for (std::int64_t i = blockIdx.x * std::int64_t{THREADS} + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * THREADS) {
    const float want = __bfloat162float(in[i]), got = static_cast<float>(out[i]) * *undo;
    if (!(fabsf(got - want) <= fabsf(want) / 15 + *undo * 0x1p-9F)) atomicAdd(wrong, 1U);
  }
}

}  // namespace amasia::library
