// Device memory bandwidth, read, write, copy and triad, in GB/s (1e9) of bytes read plus bytes
// written.
//
// Method: buffers of 4 GiB each, or an eighth of the memory where that is less, and never below
// eight times the L2 (smaller than that is refused, not measured), so that the cache holds nothing
// of use. Every thread moves 16-byte words, neighbours next to each other, and has eight loads in
// flight before it uses the first. The grid holds one block per 8 x 256 words: short blocks even
// out the SMs' different distances to the memory. Values read are folded into a sum that could be
// stored, so no load can be dropped; buffers hold hashed, not constant, data. One sample is one
// pass over the buffers behind an equal pass that warms up.

#include <algorithm>
#include <string>

#include "harness/ceiling.hpp"
#include "harness/gpu/cuda.hpp"
#include "microbench/ceilings/timing.hpp"

namespace amasia::ceilings {
namespace {

constexpr int threads = 256;
constexpr int words_per_thread =
    8;  // 128 B a thread, 256 KiB an SM at full occupancy: > 32 KiB needed
constexpr std::size_t words_per_block = std::size_t{threads} * words_per_thread;

__device__ std::size_t first_word() { return blockIdx.x * words_per_block + threadIdx.x; }

__global__ void __launch_bounds__(threads) write_words(int4* out) {
  int4* const mine = out + first_word();
#pragma unroll
  for (int k = 0; k < words_per_thread; ++k) {
    // Weyl sequence: bits that do not repeat, for one multiplication.
    const unsigned x = 2654435769U * static_cast<unsigned>(first_word() + k * threads);
    mine[k * threads] = make_int4(x, x ^ 0x5bd1e995U, ~x, x + 0x9e3779b9U);
  }
}

__global__ void __launch_bounds__(threads) read_words(const int4* in, int* sink) {
  const int4* const mine = in + first_word();
  int4 held[words_per_thread];
#pragma unroll
  for (int k = 0; k < words_per_thread; ++k) held[k] = mine[k * threads];
  int folded = 0;
#pragma unroll
  for (int k = 0; k < words_per_thread; ++k) {
    folded ^= held[k].x ^ held[k].y ^ held[k].z ^ held[k].w;
  }
  // About one thread in 2^32 stores: too few to cost, too many for the compiler to drop the loads.
  if (folded == 0x12345678) *sink = folded;
}

__global__ void __launch_bounds__(threads) copy_words(int4* out, const int4* in) {
  const std::size_t first = first_word();
  int4 held[words_per_thread];
#pragma unroll
  for (int k = 0; k < words_per_thread; ++k) held[k] = in[first + k * threads];
#pragma unroll
  for (int k = 0; k < words_per_thread; ++k) out[first + k * threads] = held[k];
}

/// a = b + scalar * c
__global__ void __launch_bounds__(threads)
    triad_words(float4* a, const float4* b, const float4* c, float scalar) {
  const std::size_t first = first_word();
  float4 left[words_per_thread];
  float4 right[words_per_thread];
#pragma unroll
  for (int k = 0; k < words_per_thread; ++k) {
    left[k] = b[first + k * threads];
    right[k] = c[first + k * threads];
  }
#pragma unroll
  for (int k = 0; k < words_per_thread; ++k) {
    a[first + k * threads] =
        make_float4(left[k].x + scalar * right[k].x, left[k].y + scalar * right[k].y,
                    left[k].z + scalar * right[k].z, left[k].w + scalar * right[k].w);
  }
}

struct Buffers {
  Buffers(const Device& device, int count) {
    constexpr std::size_t block_bytes = words_per_block * sizeof(int4);
    bytes = std::min(std::size_t{4} << 30, device.memory_bytes / 8) / block_bytes * block_bytes;
    if (bytes < 8 * device.l2_bytes) {
      throw std::runtime_error("an eighth of the memory, " + std::to_string(bytes) +
                               " bytes, is less than eight times the L2");
    }
    blocks = static_cast<unsigned>(bytes / block_bytes);
    for (int i = 0; i < count; ++i) buffer[i] = DeviceBytes(bytes);
  }
  template <class T>
  T* at(int i) const {
    return static_cast<T*>(buffer[i].data());
  }
  void fill(int i, cudaStream_t stream) const {
    write_words<<<blocks, threads, 0, stream>>>(at<int4>(i));
  }

  std::size_t bytes = 0;  // of each
  unsigned blocks = 0;
  DeviceBytes buffer[3];
};

double gigabytes_per_second(double bytes, double milliseconds) {
  return bytes / milliseconds * 1e-6;
}

double measure_read(const Device& device, Stream stream) {
  const Buffers buffers(device, 1);
  const DeviceArray<int> sink(1);
  buffers.fill(0, stream);
  return gigabytes_per_second(buffers.bytes, warm_milliseconds(stream, [&] {
                                read_words<<<buffers.blocks, threads, 0, stream>>>(
                                    buffers.at<int4>(0), sink.data());
                              }));
}

double measure_write(const Device& device, Stream stream) {
  const Buffers buffers(device, 1);
  return gigabytes_per_second(buffers.bytes,
                              warm_milliseconds(stream, [&] { buffers.fill(0, stream); }));
}

double measure_copy(const Device& device, Stream stream) {
  const Buffers buffers(device, 2);
  buffers.fill(1, stream);
  return gigabytes_per_second(2.0 * buffers.bytes, warm_milliseconds(stream, [&] {
                                copy_words<<<buffers.blocks, threads, 0, stream>>>(
                                    buffers.at<int4>(0), buffers.at<int4>(1));
                              }));
}

double measure_triad(const Device& device, Stream stream) {
  const Buffers buffers(device, 3);
  buffers.fill(1, stream);
  buffers.fill(2, stream);
  return gigabytes_per_second(3.0 * buffers.bytes, warm_milliseconds(stream, [&] {
                                triad_words<<<buffers.blocks, threads, 0, stream>>>(
                                    buffers.at<float4>(0), buffers.at<float4>(1),
                                    buffers.at<float4>(2), 3.0F);
                              }));
}

const std::string size_rule =
    " over buffers of 4 GiB each, or an eighth of the memory where that is less, in 16-byte words, "
    "8 in flight per thread";

const bool registered =
    register_ceiling(
        {"read_bandwidth", "GB/s", "Every word read once" + size_rule, true, 0, measure_read}) &&
    register_ceiling({"write_bandwidth", "GB/s", "Every word written once" + size_rule, true, 0,
                      measure_write}) &&
    register_ceiling({"copy_bandwidth", "GB/s",
                      "One buffer copied to another" + size_rule + "; bytes read + written", true,
                      0, measure_copy}) &&
    register_ceiling({"triad_bandwidth", "GB/s",
                      "a = b + s c in fp32" + size_rule + "; bytes read + written", true, 0,
                      measure_triad});

}  // namespace
}  // namespace amasia::ceilings
