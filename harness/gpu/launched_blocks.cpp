#include "harness/gpu/launched_blocks.hpp"

#include <exception>
#include <memory>
#include <type_traits>
#include <vector>

#include "variants/device/cuda.hpp"

namespace amasia {
namespace {

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
using OwnedGraph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;

/// The run as a graph; none when a call of it fails or cannot be captured. Performing the run
/// meets the same error, and reports it.
OwnedGraph captured(const Launch& launch, cudaStream_t stream) {
  if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) return {};
  bool complete = true;
  try {
    launch(stream);
  } catch (const std::exception&) {
    complete = false;
  }
  cudaGraph_t graph = nullptr;
  complete = cudaStreamEndCapture(stream, &graph) == cudaSuccess && complete;
  OwnedGraph owned(graph);
  if (!complete) owned.reset();
  return owned;
}

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  if (cudaGraphGetNodes(graph, nullptr, &count) != cudaSuccess) return {};
  std::vector<cudaGraphNode_t> nodes(count);
  if (cudaGraphGetNodes(graph, nodes.data(), &count) != cudaSuccess) return {};
  return nodes;
}

}  // namespace

LaunchedBlocks launched_blocks(const Launch& launch, Stream stream) {
  std::map<const void*, std::int64_t> by_function;
  if (const OwnedGraph graph = captured(launch, stream)) {
    for (const cudaGraphNode_t node : nodes_of(graph.get())) {
      cudaGraphNodeType type{};
      cudaKernelNodeParams kernel{};
      // The runtime knows its own kernels only: a library's node is refused.
      if (cudaGraphNodeGetType(node, &type) != cudaSuccess || type != cudaGraphNodeTypeKernel ||
          cudaGraphKernelNodeGetParams(node, &kernel) != cudaSuccess) {
        continue;
      }
      const dim3 grid = kernel.gridDim;
      std::int64_t& most = by_function[kernel.func];
      most = std::max(most, std::int64_t{grid.x} * grid.y * grid.z);
    }
  }
  LaunchedBlocks blocks;
  for (const auto& [function, count] : by_function) {
    const char* name = nullptr;
    if (cudaFuncGetName(&name, function) != cudaSuccess || name == nullptr) continue;
    std::int64_t& most = blocks[name];
    most = std::max(most, count);
  }
  cudaGetLastError();  // what was refused above is no error of the run
  return blocks;
}

}  // namespace amasia
