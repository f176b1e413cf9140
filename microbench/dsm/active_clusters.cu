// dsm/active_clusters: how many blocks are resident at once when they come in clusters, by cluster
// size and shared memory per block (Hopper Tuning Guide, 4.1.1).
//
// Method: how=asked is cudaOccupancyMaxActiveClusters times the cluster size. With how=seen twice
// as many clusters are launched. Each block notes when it starts and then stays for 0.3 ms: blocks
// that start within 0.15 ms of the first one are resident together. A cluster needs all its blocks
// in one GPC, so the SMs of a GPC beyond a multiple of the cluster size stay empty. Sizes above 8
// have to be allowed by an attribute.

#include "microbench/dsm/cluster.cuh"
#include "microbench/residency.cuh"

namespace amasia::dsm {
namespace {

constexpr int threads = 128;

LaunchShape shape_of(int cluster, std::size_t bytes, const Device& device) {
  return fill_device(stay<threads>, cluster, threads, bytes, device);
}

Sampling asked(int cluster, std::size_t bytes, const Device& device) {
  const unsigned first = shape_of(cluster, bytes, device).grid.x;
  return [=] {
    const unsigned blocks = shape_of(cluster, bytes, device).grid.x;
    if (blocks != first) throw std::runtime_error("the answer changed");
    return Reading{static_cast<double>(blocks)};
  };
}

Sampling seen(int cluster, std::size_t bytes, const Device& device, Stream stream) {
  LaunchShape shape = shape_of(cluster, bytes, device);
  shape.grid.x *= 2;
  const auto census = std::make_shared<Census>(shape.grid.x);
  return [=] {
    return Reading{census->resident(stream, [&](unsigned long long* started) {
      launch(stay<threads>, shape, stream, census_ns, started);
    })};
  };
}

std::vector<Point> points(const Device& device, Scope scope) {
  std::vector<Point> all;
  const std::size_t most = device.shared_per_block / 1024 * 1024;
  for (const int cluster : cluster_sizes) {
    for (const std::size_t bytes : {std::size_t{0}, most / 8, most / 4, most / 2, most}) {
      for (const char* how : {"asked", "seen"}) {
        const bool ask = std::string(how) == "asked";
        if (scope == Scope::quick && bytes != most) continue;
        const std::string shared = bytes == 0 ? "none"
                                   : bytes == most
                                       ? "all of a block"
                                       : "1/" + std::to_string(most / bytes) + " of a block";
        Point& p = add_cluster_point(all,
                                     {{"how", how},
                                      {"cluster", std::to_string(cluster)},
                                      {"shared", shared},
                                      {"threads", std::to_string(threads)}},
                                     "resident blocks", "blocks", Better::larger,
                                     kernel_use(stay<threads>, threads, bytes, cluster), device);
        p.claims = {{"STG", "st.global", 1, false}};
        p.prepare = [=](const Device& d, Stream stream) {
          return ask ? asked(cluster, bytes, d) : seen(cluster, bytes, d, stream);
        };
      }
    }
  }
  return all;
}

/// The largest cluster of which any was resident.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  double largest = 0;
  for (const MeasuredPoint& p : measured) {
    if (value_of(p.at, "how") != "seen") continue;
    largest = std::max(largest, std::stod(value_of(p.at, "cluster")));
  }
  if (largest == 0) return {};
  return {single_finding({{"how", "seen"}}, "largest", "blocks", largest,
                         "The largest of the cluster sizes whose blocks were resident together")};
}

const bool registered = register_microbenchmark(
    {"dsm/active_clusters", "How many blocks are resident at once when they come in clusters?",
     "What cudaOccupancyMaxActiveClusters says, and how many blocks of a launch twice as large "
     "start before any ends, by cluster size and shared memory per block.",
     points, findings});

}  // namespace
}  // namespace amasia::dsm
