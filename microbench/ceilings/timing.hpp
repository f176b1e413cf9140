// How every ceiling is timed: CUDA events around work that was all enqueued while the device was
// still busy with a warm-up, so that the host's launch cost is not in the interval. Costs of single
// operations are the slope over two lengths, which cancels the cost of a launch.
#pragma once

#include "variants/device/cuda.hpp"

namespace amasia {

/// Milliseconds of what `enqueue()` puts on the stream behind what `before()` puts there, which
/// hides what launches cost the host. Throws CudaError, also for a fault inside the kernels.
template <class Before, class Enqueue>
double milliseconds(cudaStream_t stream, Before before, Enqueue enqueue) {
  const OwnedEvent start, stop;
  before();
  AMASIA_CUDA(cudaEventRecord(start, stream));
  enqueue();
  AMASIA_CUDA(cudaEventRecord(stop, stream));
  AMASIA_CUDA(cudaEventSynchronize(stop));
  AMASIA_CUDA(cudaGetLastError());
  float ms = 0;
  AMASIA_CUDA(cudaEventElapsedTime(&ms, start, stop));
  return ms;
}

namespace ceilings {

/// The same for the second of two runs.
template <class Enqueue>
double warm_milliseconds(cudaStream_t stream, Enqueue enqueue) {
  return milliseconds(stream, enqueue, enqueue);
}

/// Nanoseconds per step of `enqueue(steps)`: (time of `longer` - time of `shorter`) / difference.
template <class Enqueue>
double slope_ns(cudaStream_t stream, int shorter, int longer, Enqueue enqueue) {
  const double less = warm_milliseconds(stream, [&] { enqueue(shorter); });
  const double more = warm_milliseconds(stream, [&] { enqueue(longer); });
  return (more - less) * 1e6 / (longer - shorter);
}

/// Blocks of `kernel` that fill the device once: SMs x resident blocks.
template <class Kernel>
unsigned full_grid(Kernel kernel, int threads, int sm_count, std::size_t dynamic_shared_bytes = 0) {
  int per_sm = 0;
  AMASIA_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, threads,
                                                            dynamic_shared_bytes));
  return static_cast<unsigned>(per_sm * sm_count);
}

}  // namespace ceilings
}  // namespace amasia
