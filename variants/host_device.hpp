// Lets one definition serve device code and CPU tests, and lets host-only builds (preset `cpu`)
// name a stream without the CUDA headers.
#pragma once

#include <functional>

#ifdef __CUDACC__
#define AMASIA_HD __host__ __device__
#else
#define AMASIA_HD
#endif

struct CUstream_st;
namespace amasia {
using Stream = CUstream_st*;  // the same type as cudaStream_t

/// Enqueues all work of one run on the stream: kernels and any memset they need, nothing else. Must
/// be capturable into a CUDA graph. Owns what the run needs (tensor maps, scratch) by capture.
using Launch = std::function<void(Stream)>;

/// How a run reaches the device: each launch enqueued by the host, or all of them captured once and
/// replayed as one graph.
enum class LaunchMode { stream, graph };
}  // namespace amasia
