// What the files of this folder share: the whole device filled with clusters of one size, one block
// per SM; random words; a rate as the slope in time between two numbers of rounds.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "harness/microbenchmark.hpp"
#include "microbench/walks.cuh"
#include "variants/device/cuda.hpp"
#include "variants/device/launch.hpp"
#include "variants/ptx/cluster.cuh"

namespace amasia::dsm {

constexpr int cluster_sizes[] = {1, 2, 4, 8, 16};  // 8 is the portable limit, 16 that of sm_90

/// A word of data, another one for each index and each owner.
__device__ inline unsigned random_word(unsigned index, unsigned owner) {
  unsigned x = index * 0x9E3779B1U + owner * 0x85EBCA77U + 0x27D4EB2FU;
  x = (x ^ (x >> 16)) * 0x7FEB352DU;
  x = (x ^ (x >> 15)) * 0x846CA68BU;
  return x ^ (x >> 16);
}

/// As many clusters as fit on the device at once. Throws std::runtime_error when none does.
inline LaunchShape fill_device(const void* kernel, int cluster, int threads,
                               std::size_t dynamic_bytes, const Device& device) {
  LaunchShape shape;
  shape.block = dim3(static_cast<unsigned>(threads));
  shape.dynamic_shared_bytes = dynamic_bytes;
  shape.cluster_blocks = static_cast<unsigned>(cluster);
  allow_launch(kernel, shape);
  const int blocks = resident_blocks(kernel, shape, device.sm_count);
  if (blocks == 0) {
    throw std::runtime_error("no cluster of " + std::to_string(cluster) + " blocks fits");
  }
  shape.grid = dim3(static_cast<unsigned>(blocks));
  return shape;
}

/// Why blocks of so much shared memory cannot run in such clusters, "" when they can.
inline std::string obstacle(int cluster, std::size_t bytes, const Device& device) {
  if (cluster > 8 && device.compute_capability >= 120) {
    return "clusters of more than 8 blocks exist on compute capability 9.0 and 10.x";
  }
  if (bytes <= device.shared_per_block) return "";
  return "needs " + std::to_string(bytes) + " bytes of shared memory per block, a block can have " +
         std::to_string(device.shared_per_block);
}

/// Time of one round of all blocks together: slope between `few` and `many` rounds, each launched
/// twice and timed by events the second time. `enqueue(rounds)` launches; block 0 leaves the Stamp
/// of its loop in `taken`, whose clock turns the time into cycles.
template <class Enqueue>
Reading time_of_round(Stream stream, const DeviceArray<Stamp>& taken, int few, int many,
                      Enqueue enqueue) {
  const auto time_ns = [&](int rounds) {
    const OwnedEvent start, stop;
    enqueue(rounds);
    AMASIA_CUDA(cudaEventRecord(start, stream));
    enqueue(rounds);
    AMASIA_CUDA(cudaEventRecord(stop, stream));
    AMASIA_CUDA(cudaEventSynchronize(stop));
    float ms = 0;
    AMASIA_CUDA(cudaEventElapsedTime(&ms, start, stop));
    return 1e6 * ms;
  };
  const double less = time_ns(few);
  const double more = time_ns(many);
  Stamp stamp{};
  taken.download(&stamp);  // of the longer launch
  Reading r;
  r.time_ns = (more - less) / (many - few);
  r.clock_mhz = 1e3 * static_cast<double>(stamp.cycles) / static_cast<double>(stamp.nanoseconds);
  r.cycles = *r.time_ns * *r.clock_mhz * 1e-3;
  return r;
}

/// Counts what a kernel found wrong, from one sample to the next.
class Mistakes {
 public:
  explicit Mistakes(Stream stream) : stream_(stream), count_(1) { clear(); }
  unsigned* data() const { return count_.data(); }
  void clear() const { AMASIA_CUDA(cudaMemsetAsync(count_.data(), 0, sizeof(unsigned), stream_)); }
  /// Throws std::runtime_error unless there are none.
  void expect_none(const char* what) const {
    const unsigned count = so_far();
    if (count != 0) throw std::runtime_error(std::to_string(count) + " " + what);
  }
  /// The same for a run that was spoilt on purpose: a check that finds nothing then checks nothing.
  void expect_some(const char* what) const {
    const unsigned count = so_far();
    clear();
    if (count == 0) throw std::runtime_error(what);
  }

 private:
  unsigned so_far() const {
    AMASIA_CUDA(cudaStreamSynchronize(stream_));
    unsigned count = 0;
    count_.download(&count);
    return count;
  }

  Stream stream_;
  DeviceArray<unsigned> count_;
};

}  // namespace amasia::dsm
