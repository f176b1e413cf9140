// dsm/latency: what one access to the shared memory of another SM costs, by distance in the
// cluster and over all pairs of SMs.
//
// Method, access=load: one thread of the block ranked 0 follows a chain of addresses through 4 KiB
// of the block ranked `distance` (distance 0: its own memory by its address in the cluster's
// window), with ld.shared::cluster, one load per link. The latency is the slope between walks of
// 1,024 and 16,384 links. One cluster is launched, so that nothing else is on the network.
// Method, access=load_add_store and atomic_add: the method that Luo et al. 2024 describe (III-D3,
// "adding register values of the first block to the second one"); the code they published chases
// pointers. The same remote word is loaded, added to and stored, or added to atomically. Each link
// needs the value that the one before left; the word is checked at the end.
// Method, pairs: clusters of 16 fill the device. In each, one block after the other chases through
// the memory of every other one while the rest wait at the cluster's barrier. The statistic over
// the pairs of SMs is a coordinate. Pairs of one TPC are those whose %smid differ in the last bit.

#include <algorithm>
#include <vector>

#include "microbench/dsm/reach.cuh"

namespace amasia::dsm {
namespace {

using ReachKernel = void (*)(unsigned, Walks, Stamp*, unsigned*);
ReachKernel kernel_of(Access a) {
  return a == Access::load             ? reach<Access::load>
         : a == Access::load_add_store ? reach<Access::load_add_store>
                                       : reach<Access::atomic_add>;
}

Sampling one_pair(Access access, int cluster, unsigned distance, Stream stream) {
  LaunchShape shape;
  shape.grid = dim3(static_cast<unsigned>(cluster));
  shape.block = dim3(32);
  shape.cluster_blocks = static_cast<unsigned>(cluster);
  const ReachKernel kernel = kernel_of(access);
  allow_launch(reinterpret_cast<const void*>(kernel), shape);
  auto taken = std::make_shared<DeviceArray<Stamp>>(max_walks);
  auto left = std::make_shared<DeviceArray<unsigned>>(1);
  return [=] {
    const Walks walks{{shorter, shorter, longer}};
    launch(kernel, shape, stream, distance, walks, taken->data(), left->data());
    AMASIA_CUDA(cudaStreamSynchronize(stream));
    unsigned got = 0;
    left->download(&got);
    if (access != Access::load && got != 2 * shorter + longer) {
      throw std::runtime_error("the remote word holds " + std::to_string(got) + " after " +
                               std::to_string(2 * shorter + longer) + " additions");
    }
    Stamp host[max_walks];
    taken->download(host);
    return slope_between(host[1], shorter, host[2], longer);
  };
}

// ---- All pairs ----------------------------------------------------------------------------------

struct Statistic {
  const char* pairs;
  const char* name;
};
constexpr Statistic statistics[] = {{"all", "least"},
                                    {"all", "median"},
                                    {"all", "greatest"},
                                    {"one TPC", "median"},
                                    {"two TPCs", "median"}};

double select(std::vector<double> values, const std::string& statistic) {
  if (values.empty()) throw std::runtime_error("there is no such pair of SMs");
  std::sort(values.begin(), values.end());
  return statistic == "least"      ? values.front()
         : statistic == "greatest" ? values.back()
                                   : values[values.size() / 2];
}

Sampling all_pairs(const Statistic& wanted, const Device& device, Stream stream) {
  const auto kernel = reach_all<pair_cluster>;
  const LaunchShape shape =
      fill_device(reinterpret_cast<const void*>(kernel), pair_cluster, 32, 0, device);
  // More than one of these small blocks fits on an SM; a cluster spreads over as many as it has.
  const unsigned blocks =
      std::min(shape.grid.x, static_cast<unsigned>(device.sm_count) / pair_cluster * pair_cluster);
  auto cycles = std::make_shared<DeviceArray<unsigned>>(std::size_t{blocks} * pair_cluster);
  auto sm = std::make_shared<DeviceArray<unsigned>>(blocks);
  auto sink = std::make_shared<DeviceArray<unsigned>>(1);
  return [=] {
    LaunchShape s = shape;
    s.grid = dim3(blocks);
    launch(kernel, s, stream, cycles->data(), sm->data(), sink->data());
    AMASIA_CUDA(cudaStreamSynchronize(stream));
    std::vector<unsigned> took(cycles->size()), on(blocks);
    cycles->download(took.data());
    sm->download(on.data());
    std::vector<double> values;
    for (unsigned b = 0; b < blocks; ++b) {
      for (unsigned peer = 0; peer < pair_cluster; ++peer) {
        const unsigned other = on[b / pair_cluster * pair_cluster + peer];
        if (took[b * pair_cluster + peer] == 0 || other == on[b]) continue;
        const bool one_tpc = (other ^ on[b]) == 1;
        const std::string pairs = wanted.pairs;
        if (pairs == "all" || one_tpc == (pairs == "one TPC")) {
          values.push_back(took[b * pair_cluster + peer] /
                           static_cast<double>(pair_longer - pair_shorter));
        }
      }
    }
    Reading r;
    r.cycles = r.value = select(std::move(values), wanted.name);
    return r;
  };
}

// ---- Registration -------------------------------------------------------------------------------

Point common(const Device& device, int cluster) {
  Point p;
  p.quantity = "latency";
  p.unit = "cycles";
  p.runs_from = 90;
  p.unsupported = obstacle(cluster, 0, device);
  return p;
}

std::vector<Point> points(const Device& device, Scope scope) {
  std::vector<Point> all;
  const auto add = [&](Access access, int cluster, int distance) {
    Point p = common(device, cluster);
    p.at = {{"access", name_of(access)},
            {"cluster", std::to_string(cluster)},
            {"distance", std::to_string(distance)}};
    p.kernels = {{reinterpret_cast<const void*>(kernel_of(access)), 32, 0, cluster}};
    if (access == Access::atomic_add) {
      p.claims = {{"ATOM", "atom.shared::cluster", unroll}};
    } else {
      p.claims = {{"LD", "ld.shared::cluster", unroll}};
    }
    if (access == Access::load_add_store) p.claims.push_back({"ST", "st.shared::cluster", unroll});
    p.prepare = [=](const Device&, Stream stream) {
      return one_pair(access, cluster, static_cast<unsigned>(distance), stream);
    };
    all.push_back(std::move(p));
  };
  for (const int cluster : {2, 4, 8, 16}) {
    for (int distance = cluster == 2 ? 0 : 1; distance < cluster; ++distance) {
      if (scope == Scope::full || distance <= 1) add(Access::load, cluster, distance);
    }
  }
  add(Access::load_add_store, 2, 1);
  add(Access::atomic_add, 2, 1);
  for (const Statistic& s : statistics) {
    if (scope == Scope::quick && std::string(s.pairs) != "all") continue;
    Point p = common(device, pair_cluster);
    p.at = {{"access", "load"},
            {"cluster", std::to_string(pair_cluster)},
            {"pairs", s.pairs},
            {"statistic", s.name}};
    p.kernels = {{reinterpret_cast<const void*>(reach_all<pair_cluster>), 32, 0, pair_cluster}};
    p.claims = {{"LD", "ld.shared::cluster", unroll}};
    p.prepare = [s](const Device& d, Stream stream) { return all_pairs(s, d, stream); };
    all.push_back(std::move(p));
  }
  return all;
}

const bool registered = register_microbenchmark(
    {"dsm/latency", "What does one access to another SM's shared memory cost?",
     "One thread follows addresses through the shared memory of another block of its cluster, or "
     "adds to a word of it, plainly or atomically; latency as the slope over two lengths of the "
     "walk, by cluster size and distance in rank, and over all pairs of SMs of clusters of 16.",
     points});

}  // namespace
}  // namespace amasia::dsm
