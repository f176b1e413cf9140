// What the files of this folder share: the whole device filled with clusters of one size, one block
// per SM; random words; a count of what is wrong.
#pragma once

#include "microbench/walks.cuh"
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

/// One cluster, allowed for `kernel`.
template <class Kernel>
LaunchShape one_cluster(Kernel kernel, int cluster, int threads, std::size_t dynamic_bytes = 0) {
  LaunchShape shape;
  shape.grid = dim3(static_cast<unsigned>(cluster));
  shape.block = dim3(static_cast<unsigned>(threads));
  shape.dynamic_shared_bytes = dynamic_bytes;
  shape.cluster_blocks = static_cast<unsigned>(cluster);
  allow_launch(reinterpret_cast<const void*>(kernel), shape);
  return shape;
}

/// As many clusters as fit on the device at once. Throws std::runtime_error when none does.
template <class Kernel>
LaunchShape fill_device(Kernel kernel, int cluster, int threads, std::size_t dynamic_bytes,
                        const Device& device) {
  LaunchShape shape = one_cluster(kernel, cluster, threads, dynamic_bytes);
  const int blocks = resident_blocks(reinterpret_cast<const void*>(kernel), shape, device.sm_count);
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

/// A point of a kernel that is launched in clusters.
inline Point& add_cluster_point(std::vector<Point>& points, Coordinates at, const char* quantity,
                                const char* unit, Better better, const KernelUse& kernel,
                                const Device& device) {
  Point& p = add_point(points, std::move(at), quantity, unit, better);
  p.runs_from = 90;
  p.unsupported = obstacle(kernel.cluster_blocks, kernel.dynamic_shared_bytes, device);
  p.kernels = {kernel};
  return p;
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
    return first_of(count_);
  }

  Stream stream_;
  DeviceArray<unsigned> count_;
};

}  // namespace amasia::dsm
