// Bandwidth at which all SMs together read data that the L2 holds, in GB/s (1e9).
//
// Method: a buffer of a quarter of the L2 is read 512 times by a grid that fills the device. Loads
// bypass L1 (ld.global.cg), are 16 bytes wide, neighbours next to each other, two in flight per
// thread (64 KiB per SM; with four or eight an H200 reads no faster). A block reads another part of
// the buffer in each pass, so that no SM reads the near half of a partitioned L2 only. Values are
// folded into a sum that could be stored.

#include "harness/ceiling.hpp"
#include "microbench/ceilings/timing.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::ceilings {
namespace {

constexpr int threads = 512;
constexpr int words_per_thread = 2;
constexpr int passes = 512;

__global__ void __launch_bounds__(threads)
    read_cached(const int4* data, unsigned chunks, int* sink) {
  constexpr unsigned words_per_chunk = threads * words_per_thread;
  int folded = 0;
  // Each step of the grid covers gridDim.x chunks; passes * chunks in all, counted exactly.
  unsigned chunk = blockIdx.x % chunks;
  const unsigned stride = gridDim.x % chunks;
  const unsigned long long total = static_cast<unsigned long long>(chunks) * passes;
#pragma unroll 1  // two loads a step on every architecture: the compiler unrolls it for sm_100
                  // alone
  for (unsigned long long n = blockIdx.x; n < total; n += gridDim.x) {
    const int4* const mine = data + std::size_t{chunk} * words_per_chunk + threadIdx.x;
    int4 held[words_per_thread];
#pragma unroll
    for (int k = 0; k < words_per_thread; ++k) held[k] = __ldcg(mine + k * threads);
#pragma unroll
    for (int k = 0; k < words_per_thread; ++k) {
      folded ^= held[k].x ^ held[k].y ^ held[k].z ^ held[k].w;
    }
    chunk += stride;
    if (chunk >= chunks) chunk -= chunks;
  }
  if (folded == 0x12345678) *sink = folded;
}

double measure_l2_read(const Device& device, Stream stream) {
  constexpr std::size_t chunk_bytes = sizeof(int4) * threads * words_per_thread;
  const auto chunks = static_cast<unsigned>(device.l2_bytes / 4 / chunk_bytes);
  if (chunks == 0) throw std::runtime_error("the L2 is smaller than four chunks of 16 KiB");
  const DeviceBytes buffer(chunks * chunk_bytes);
  const DeviceArray<int> sink(1);
  AMASIA_CUDA(cudaMemsetAsync(buffer.data(), 0x5a, buffer.bytes(), stream));
  const unsigned blocks = full_grid(read_cached, threads, device.sm_count);
  const double ms = warm_milliseconds(stream, [&] {
    read_cached<<<blocks, threads, 0, stream>>>(static_cast<const int4*>(buffer.data()), chunks,
                                                sink.data());
  });
  return static_cast<double>(buffer.bytes()) * passes / ms * 1e-6;
}

const bool registered = register_ceiling({"l2_read_bandwidth", "GB/s",
                                          "A buffer of a quarter of the L2 read 512 times by all "
                                          "SMs past L1, 16-byte words, 2 in flight "
                                          "per thread",
                                          true, 0, measure_l2_read});

}  // namespace
}  // namespace amasia::ceilings
