// Configs of dsm: what its three ways of sharing have in common on the host.
#pragma once

#include "apps/histogram/counting.cuh"

namespace amasia::histogram {

/// merge, merge_bulk: every block has all counters. multicast: every key comes to every block of a
/// cluster, which spreads the counters. spread: every increment goes to the block that keeps its
/// counter.
enum class Way { merge, merge_bulk, multicast, spread };
constexpr bool merges(Way way) { return way == Way::merge || way == Way::merge_bulk; }

inline const char* word_of(Way way) {
  constexpr const char* words[] = {"merge", "merge-bulk", "multicast", "spread"};
  return words[static_cast<int>(way)];
}

template <class C>
struct ClusterConfig {
  Way way;
  CountKernels kernels;
  int cluster;
  std::size_t ring_bytes;

  /// What one block keeps. 0 windows: it does not fit.
  CounterPlan plan(const Problem& p, const Device& device) const {
    const std::int64_t budget =
        shared_budget(device, C::blocks_per_sm) - static_cast<std::int64_t>(ring_bytes);
    CounterPlan one;
    one.windows = 0;
    if (budget < 128) return one;
    if (way == Way::multicast) return plan_of(C::home, p.counters, budget, cluster);
    one = plan_of(C::home, merges(way) ? p.counters : ceil_div(p.counters, cluster), budget);
    if (one.windows > 1) one.windows = 0;
    if (way == Way::spread) one.log2_copies = 0;
    return one;
  }
  LaunchShape shape(const CounterPlan& plan) const {
    LaunchShape s;
    s.block = dim3(C::launched_threads);
    s.dynamic_shared_bytes = ring_bytes + static_cast<std::size_t>(plan.bytes());
    s.cluster_blocks = static_cast<unsigned>(cluster);
    return s;
  }
  const void* kernel(const Problem& p, const CounterPlan& plan) const {
    return reinterpret_cast<const void*>(kernels.of(p, plan));
  }
  std::optional<std::string> unsupported(const Problem& p, const Device& device) const {
    const CounterPlan fits = plan(p, device);
    if (kernel(p, fits) == nullptr) return fits_any_block;
    if (fits.windows == 0) {
      return std::to_string(p.counters) + " counters do not fit in the " +
             std::to_string(shared_budget(device, C::blocks_per_sm)) + " bytes of " +
             (merges(way) ? "a block" : "each of " + std::to_string(cluster) + " blocks");
    }
    allow_launch(kernel(p, fits), shape(fits));
    if (resident_blocks(kernel(p, fits), shape(fits), device.sm_count) > 0) return std::nullopt;
    return "no cluster of " + std::to_string(cluster) + " blocks with " +
           std::to_string(shape(fits).dynamic_shared_bytes) + " bytes of shared memory each fits";
  }
  Launch prepare(const Problem& p, const Device& device) const {
    const CounterPlan plan = this->plan(p, device);
    LaunchShape launched = shape(plan);
    allow_launch(kernel(p, plan), launched);
    const int blocks = std::min(resident_blocks(kernel(p, plan), launched, device.sm_count),
                                C::blocks_per_sm * device.sm_count);
    Run run = make_run<C>(p, plan);
    if (way == Way::multicast) {
      run.groups = useful_groups(blocks / plan.windows, run.tiles);
    } else {
      run.groups = useful_groups(blocks / cluster, ceil_div(run.tiles, cluster)) * cluster;
    }
    launched.grid = dim3(static_cast<unsigned>(run.groups * plan.windows));
    return clear_then(p, [run, launched, kernel = kernels.of(p, plan)](Stream stream) {
      launch(kernel, launched, stream, run);
    });
  }
};

/// A config of `kernels` in clusters of `cluster` blocks, each with `ring_bytes` of shared memory
/// in front of its counters. Producer warps are part of the name where others have none.
template <class C>
ConfigOf<Problem> clustered(Way way, int cluster, const CountKernels& kernels,
                            std::size_t ring_bytes, std::size_t in_flight) {
  const ClusterConfig<C> c{way, kernels, cluster, ring_bytes};
  std::string name = std::string(C::name) + "/" + word_of(way) + "-" + std::to_string(cluster);
  if (merges(way) && C::producer_warps > 0) {
    name += "-" + std::to_string(C::producer_warps) + "-producers";
  }
  if (C::l2_ahead > 0) name += "-l2";
  ConfigOf<Problem> config;
  config.info = info_of<C>(std::move(name));
  config.info.geometry.push_back({"cluster_blocks", cluster});
  config.info.reference_only = cluster == 1;  // nothing is remote
  for (const CountKernel kernel : {kernels.words, kernels.bytes}) {
    if (kernel == nullptr) continue;
    const auto kept_by = static_cast<std::size_t>(merges(way) ? 1 : cluster);
    config.info.kernels.push_back({reinterpret_cast<const void*>(kernel), C::launched_threads,
                                   ring_bytes + nominal_counter_bytes(C::home) / kept_by, cluster,
                                   in_flight});
  }
  config.prepare = [c](const Problem& p, const Device& d) { return c.prepare(p, d); };
  config.unsupported = [c](const Problem& p, const Device& d) { return c.unsupported(p, d); };
  return config;
}

}  // namespace amasia::histogram
