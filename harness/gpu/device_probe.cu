#include "harness/gpu/device_probe.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace amasia {
namespace {

constexpr int probe_threads = 512;
constexpr int probe_blocks_per_sm = 2;
// Some ten microseconds in all: long enough to be measured by a clock with steps of 1 us, short
// enough that a hundred probes cost a group of a second less than 1 %.
constexpr int chain_links = 1000;
constexpr std::size_t part_bytes = std::size_t{32} << 20;

__device__ unsigned long long probe_nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__global__ void __launch_bounds__(probe_threads)
    probe_device(const int4* part, std::size_t words, float factor, ProbeStamp* stamps, int* sink) {
  ProbeStamp stamp;
  if (threadIdx.x == 0) stamp.began_ns = probe_nanoseconds();
  __syncthreads();
  const long long begin = clock64();
  float x = static_cast<float>(threadIdx.x);
  for (int i = 0; i < chain_links; ++i) x = x * factor + 1.0F;
  __syncthreads();
  stamp.cycles = static_cast<unsigned long long>(clock64() - begin);
  if (threadIdx.x == 0) stamp.computed_ns = probe_nanoseconds();
  int sum = __float_as_int(x);
  const std::size_t stride = std::size_t{gridDim.x} * probe_threads;
  for (std::size_t i = blockIdx.x * std::size_t{probe_threads} + threadIdx.x; i < words;
       i += stride) {
    const int4 v = part[i];
    sum ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  __syncthreads();
  if (sum == 0x7fffffff) *sink = sum;  // one in 2^32: keeps the compiler from dropping the work
  if (threadIdx.x == 0) {
    stamp.ended_ns = probe_nanoseconds();
    stamps[blockIdx.x] = stamp;
  }
}

double host_microseconds() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

DeviceProbe::DeviceProbe(const Device& device)
    : blocks_(probe_blocks_per_sm * device.sm_count), sink_(1) {
  ProbeStamp* stamps = nullptr;
  AMASIA_CUDA(cudaHostAlloc(&stamps, static_cast<std::size_t>(blocks_) * sizeof *stamps,
                            cudaHostAllocMapped));
  stamps_ = std::shared_ptr<ProbeStamp[]>(stamps, [](ProbeStamp* p) { cudaFreeHost(p); });
}

ProbeTimes DeviceProbe::take(cudaStream_t stream, const DeviceArray<int>& memory) {
  // The parts of the first half in turn: each was displaced from the L2 since it was read last,
  // also by the flush of a cold sample, which ends with the second half.
  const std::size_t bytes = std::min(part_bytes, memory.bytes() / 2);
  const std::size_t parts = std::max<std::size_t>(1, memory.bytes() / 2 / bytes);
  const auto* part =
      reinterpret_cast<const int4*>(memory.data()) + part_++ % parts * (bytes / sizeof(int4));
  ProbeTimes times;
  probe_device<<<blocks_, probe_threads, 0, stream>>>(part, bytes / sizeof(int4), 0.999F,
                                                      stamps_.get(), sink_.data());
  times.launched_us = host_microseconds();
  AMASIA_CUDA(cudaGetLastError());
  AMASIA_CUDA(cudaStreamSynchronize(stream));
  times.done_us = host_microseconds();

  // The GPU's clock counts from 1970; a double of nanoseconds since then would lose the last ones.
  const auto microseconds = [](unsigned long long ns) {
    return static_cast<double>(ns / 1000) + static_cast<double>(ns % 1000) * 1e-3;
  };
  unsigned long long began = ~0ULL, computed = ~0ULL, ended = 0;
  std::vector<unsigned long long> cycles;
  for (int b = 0; b < blocks_; ++b) {
    const ProbeStamp& s = stamps_[static_cast<std::size_t>(b)];
    began = std::min(began, s.began_ns);
    computed = std::min(computed, s.computed_ns);
    ended = std::max(ended, s.ended_ns);
    cycles.push_back(s.cycles);
  }
  std::nth_element(cycles.begin(), cycles.begin() + blocks_ / 2, cycles.end());
  times.began_us = microseconds(began);
  times.ended_us = microseconds(ended);
  times.arithmetic_cycles = static_cast<double>(cycles[static_cast<std::size_t>(blocks_ / 2)]);
  times.memory_us = times.ended_us - microseconds(computed);
  return times;
}

}  // namespace amasia
