// How many blocks are resident at once, observed by launching more than fit. Every block notes when
// it starts and stays for a while. Blocks that start in the first half of the first one's stay are
// resident together with it, because none has ended.
#pragma once

#include "microbench/walks.cuh"

namespace amasia {

constexpr unsigned long long census_ns = 300'000;  // a launch spreads over the SMs in a few us

/// One word per block of `started`. In a template, because several files define it.
template <int THREADS>
__global__ void __launch_bounds__(THREADS)
    stay(unsigned long long duration_ns, unsigned long long* started) {
  const unsigned long long begin = nanoseconds_now();
  if (threadIdx.x == 0) started[blockIdx.x] = begin;
  while (nanoseconds_now() - begin < duration_ns) {
  }
}

class Census {
 public:
  explicit Census(unsigned blocks) : started_(blocks) {}

  /// `enqueue(started)` launches a kernel of as many blocks that does what stay() does. Throws
  /// std::runtime_error when all of them were resident, since then more might be.
  template <class Enqueue>
  double resident(cudaStream_t stream, Enqueue enqueue) const {
    started_.poison(stream);
    enqueue(started_.data());
    finish(stream);
    const std::vector<unsigned long long> at = downloaded(started_);
    const unsigned long long first = *std::min_element(at.begin(), at.end());
    const auto together = std::count_if(
        at.begin(), at.end(), [first](unsigned long long t) { return t - first < census_ns / 2; });
    if (static_cast<std::size_t>(together) == at.size()) {
      throw std::runtime_error("all blocks of the launch were resident: it was too small");
    }
    return static_cast<double>(together);
  }

 private:
  DeviceArray<unsigned long long> started_;
};

}  // namespace amasia
