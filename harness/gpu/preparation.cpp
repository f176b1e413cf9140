#include "harness/gpu/preparation.hpp"

#include <cuda_runtime.h>

#include <exception>
#include <memory>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "harness/gpu/loaded_code.hpp"
#include "variants/device/cuda.hpp"
#include "variants/device/launch.hpp"

namespace amasia {
namespace {

/// The smallest launch of a kernel with its resources: one block, or one cluster.
LaunchShape shape_of(const KernelUse& k) {
  LaunchShape shape;
  shape.grid = dim3(static_cast<unsigned>(k.cluster_blocks));
  shape.block = dim3(static_cast<unsigned>(k.threads));
  shape.dynamic_shared_bytes = k.dynamic_shared_bytes;
  shape.cluster_blocks = static_cast<unsigned>(k.cluster_blocks);
  return shape;
}

/// What the device and this program's code for it rule out, before the variant is asked. `able` is
/// the device as the variant should see it: no abler than that code.
std::optional<std::string> device_limit(const Variant& variant, const Config& config,
                                        const Device& device, Device& able) {
  if (device.compute_capability < variant.traits.runs_from) {
    return fmt::format("needs compute capability {}.{}, this GPU has {}.{}",
                       variant.traits.runs_from / 10, variant.traits.runs_from % 10,
                       device.compute_capability / 10, device.compute_capability % 10);
  }
  for (const KernelUse& k : config.info.kernels) {
    if (k.dynamic_shared_bytes > device.shared_per_block) {
      return fmt::format("needs {} bytes of shared memory per block, this GPU has {}",
                         k.dynamic_shared_bytes, device.shared_per_block);
    }
    LoadedCode code;
    try {
      code = loaded_code(k.function, device);
    } catch (const NoCode& none) {
      return none.what();
    }
    if (auto old = code_objection(code, device, variant.strategy, variant.traits.runs_from)) {
      return old;
    }
    able.compute_capability = std::min(able.compute_capability, capability_of(code, device));
    const LaunchShape shape = shape_of(k);
    allow_launch(k.function, shape);
    if (resident_blocks(k.function, shape, device.sm_count) == 0) {
      return fmt::format(
          "a {} of {} threads and {} bytes of shared memory does not fit on this GPU",
          k.cluster_blocks > 1 ? fmt::format("cluster of {} blocks", k.cluster_blocks)
                               : std::string("block"),
          k.threads, k.dynamic_shared_bytes);
    }
  }
  return std::nullopt;
}

/// Why this config cannot run this problem here; nothing when it can.
std::optional<std::string> objection(const Variant& variant, const Config& config,
                                     const Instance& instance, const Device& device) {
  Device able = device;
  if (auto limit = device_limit(variant, config, device, able)) return limit;
  auto reason = config.unsupported(instance, able);
  if (reason && able.compute_capability < device.compute_capability &&
      !config.unsupported(instance, device)) {
    *reason +=
        fmt::format(", and this program's code for this GPU is older: {}", rebuild_for(device));
  }
  return reason;
}

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

const Config* choose_config(const Variant& variant, const std::string& name,
                            const Instance& instance, const Device& device, std::string& reason) {
  reason = fmt::format("has no config '{}'", name);
  for (std::size_t i = 0; i < variant.configs.size(); ++i) {
    const Config& config = variant.configs[i];
    const bool built_in_choice =
        name.empty() && !config.info.reference_only &&
        (i > 0 || variant.comparator || variant.configs.size() == 1);  // a comparator has no iso
    if (config.info.name != name && !built_in_choice) continue;
    const auto why_not = objection(variant, config, instance, device);
    if (!why_not) return &config;
    reason = *why_not;
  }
  return nullptr;
}

const Config* choose_best(const Variant& variant, const std::string& name, const Instance& instance,
                          const Device& device, std::string& reason) {
  const Config* winner = choose_config(variant, name, instance, device, reason);
  if (winner != nullptr) {
    reason.clear();
    return winner;
  }
  if (name.empty()) return nullptr;
  std::string none;
  const Config* built_in = choose_config(variant, "", instance, device, none);
  reason = built_in != nullptr ? fmt::format("the winner {} {}", name, reason) : none;
  return built_in;
}

const Config* choose_of_schedule(const Variant& variant, const std::string& schedule,
                                 const std::string& name, const Instance& instance,
                                 const Device& device, std::string& reason) {
  reason = fmt::format("has no config of schedule '{}'", schedule);
  for (const Declined& d : variant.declined) {
    if (d.schedule == schedule) reason = fmt::format("schedule {}: {}", schedule, d.reason);
  }
  std::vector<const Config*> in_order;
  for (const Config& config : variant.configs) {
    if (config.info.schedule != schedule || config.info.reference_only) continue;
    in_order.insert(config.info.name == name ? in_order.begin() : in_order.end(), &config);
  }
  for (const Config* config : in_order) {
    std::string limit;
    if (choose_config(variant, config->info.name, instance, device, limit) != nullptr) {
      if (config == in_order.front()) reason.clear();  // the winner, or nobody knows one
      return config;
    }
    reason = config->info.name == name ? fmt::format("the winner {} {}", name, limit) : limit;
  }
  return nullptr;
}

std::string fallback_of(const Variant& variant, const Config& config, const Device& device) {
  std::string remark;
  for (const KernelUse& k : config.info.kernels) {
    if (remark.empty()) {
      remark = fallback_of(loaded_code(k.function, device), device, variant.traits.native_from);
    }
  }
  return remark;
}

KernelEvidence resources_of(const KernelUse& k, const Device& device,
                            const LaunchedBlocks& launched) {
  KernelEvidence e;
  cudaFuncAttributes attributes{};
  AMASIA_CUDA(cudaFuncGetAttributes(&attributes, k.function));
  const char* name = nullptr;
  AMASIA_CUDA(cudaFuncGetName(&name, k.function));
  e.kernel = name;
  e.registers = attributes.numRegs;
  e.local_bytes = attributes.localSizeBytes;
  e.static_shared_bytes = attributes.sharedSizeBytes;
  e.dynamic_shared_bytes = k.dynamic_shared_bytes;
  e.threads = k.threads;
  e.cluster_blocks = k.cluster_blocks;
  e.binary_version = attributes.binaryVersion;
  const LaunchShape shape = shape_of(k);
  const int resident = resident_blocks(k.function, shape, device.sm_count);
  // With clusters the resident blocks need not divide evenly: the rounded-down mean is reported.
  e.blocks_per_sm = std::max(1, resident / device.sm_count);
  e.launched_blocks = blocks_of(launched, e.kernel);
  e.bytes_in_flight_per_sm = bytes_in_flight_per_sm(k.bytes_in_flight_per_block, resident,
                                                    e.launched_blocks, device.sm_count);
  e.source = "none: not disassembled";  // the parent process fills in the instruction counts
  return e;
}

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

LoadedCode loaded_code(const void* kernel, const Device& device) {
  cudaFuncAttributes attributes{};
  const cudaError_t code = cudaFuncGetAttributes(&attributes, kernel);
  if (code != cudaSuccess) {
    cudaGetLastError();
    throw NoCode(no_code(cudaGetErrorName(code), device));
  }
  return {attributes.ptxVersion, attributes.binaryVersion};
}

PersistingL2::PersistingL2(int device) {
  int most = 0;
  AMASIA_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, device));
  exists_ = most > 0;
  if (exists_) first_limit_ = limit();
}

std::size_t PersistingL2::limit() {
  std::size_t bytes = 0;
  cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize);
  return bytes;
}

std::string PersistingL2::put_back(Stream stream) const {
  if (!exists_) return "";
  std::string left;
  if (const std::size_t now = limit(); now != first_limit_) {
    left = fmt::format("cudaLimitPersistingL2CacheSize at {} bytes", now);
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, first_limit_);
  }
  cudaStreamAttrValue policy{};
  const auto attribute = cudaStreamAttributeAccessPolicyWindow;
  if (cudaStreamGetAttribute(stream, attribute, &policy) == cudaSuccess &&
      policy.accessPolicyWindow.num_bytes > 0) {
    left += fmt::format("{}an access policy of the stream for {} bytes",
                        left.empty() ? "" : " and ", policy.accessPolicyWindow.num_bytes);
    policy = {};
    cudaStreamSetAttribute(stream, attribute, &policy);
  }
  cudaCtxResetPersistingL2Cache();
  // Where a MIG instance or MPS lets nobody set any of it, nothing can be left.
  cudaGetLastError();
  return left;
}

}  // namespace amasia
