#include "variants/device/prepared_run.hpp"

#include <utility>

#include "variants/device/cuda.hpp"

namespace amasia {
namespace {

// The queue of a stream holds about a thousand entries. A launch beyond it blocks the host, for
// which the spin kernel still waits. Half of it is safe, with room for reset and flush.
constexpr std::size_t queue_limit = 512;

}  // namespace

PreparedRun::PreparedRun(Launch launch, LaunchMode mode, cudaStream_t stream)
    : launch_(std::move(launch)), mode_(mode) {
  AMASIA_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  try {
    launch_(stream);
  } catch (...) {
    cudaGraph_t broken = nullptr;
    cudaStreamEndCapture(stream, &broken);
    if (broken != nullptr) cudaGraphDestroy(broken);
    cudaGetLastError();
    throw;
  }
  cudaGraph_t graph = nullptr;
  AMASIA_CUDA(cudaStreamEndCapture(stream, &graph));
  const cudaError_t counted = cudaGraphGetNodes(graph, nullptr, &nodes_);
  cudaError_t instantiated = cudaSuccess;
  if (mode_ == LaunchMode::graph) {  // each kernel with the priority of the stream it came from
    instantiated =
        cudaGraphInstantiate(&executable_, graph, cudaGraphInstantiateFlagUseNodePriority);
  }
  cudaGraphDestroy(graph);
  AMASIA_CUDA(counted);
  AMASIA_CUDA(instantiated);
  if (mode_ == LaunchMode::graph) AMASIA_CUDA(cudaGraphUpload(executable_, stream));
}

PreparedRun::~PreparedRun() {
  if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
}

void PreparedRun::enqueue(cudaStream_t stream) const {
  if (mode_ == LaunchMode::graph) {
    AMASIA_CUDA(cudaGraphLaunch(executable_, stream));
  } else {
    launch_(stream);
    AMASIA_CUDA(cudaGetLastError());
  }
}

bool PreparedRun::can_be_blocked() const {
  return mode_ == LaunchMode::graph || nodes_ <= queue_limit;
}

}  // namespace amasia
