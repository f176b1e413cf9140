// A launch made ready to be enqueued again and again, in a stream or as a graph.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "variants/host_device.hpp"

namespace amasia {

/// A prepared launch in one launch mode. In graph mode the work is captured once and replayed.
class PreparedRun {
 public:
  /// Captures `launch` to count its nodes, and in graph mode to instantiate it. Throws CudaError,
  /// and what the launch itself throws.
  PreparedRun(Launch launch, LaunchMode mode, cudaStream_t stream);
  ~PreparedRun();
  PreparedRun(const PreparedRun&) = delete;
  PreparedRun& operator=(const PreparedRun&) = delete;

  void enqueue(cudaStream_t stream) const;
  /// Kernels and memsets of one run.
  std::size_t nodes() const { return nodes_; }
  /// Whether the whole run fits in the launch queue behind the spin kernel.
  bool can_be_blocked() const;

 private:
  Launch launch_;
  LaunchMode mode_;
  std::size_t nodes_ = 0;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace amasia
