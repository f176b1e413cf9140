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

#include "microbench/dsm/cluster.cuh"

namespace amasia::dsm {
namespace {

constexpr unsigned words = 1024;
constexpr int unroll = 32;  // links per iteration: the loop itself is ~3 of ~35 instructions
constexpr int shorter = 1024, longer = 16384;

enum class Access { load, load_add_store, atomic_add };
constexpr const char* name_of(Access a) {
  return a == Access::load ? "load" : a == Access::load_add_store ? "load_add_store" : "atomic_add";
}

/// One link. `at` is the address of the next load, or the value that the last access left.
template <Access ACCESS>
__device__ unsigned follow(unsigned at, unsigned word) {
  unsigned value = 0;
  if constexpr (ACCESS == Access::load) {
    AMASIA_SM90_ASM("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
  } else if constexpr (ACCESS == Access::load_add_store) {
    // Relaxed, not weak: a weak load could be given the register that was stored just before.
    AMASIA_SM90_ASM("ld.relaxed.cluster.shared::cluster.u32 %0, [%1];"
                    : "=r"(value)
                    : "r"(word)
                    : "memory");
    value += 1 + (at >> 31);  // + 1: the value that went before is needed, and stays below 2^31
    AMASIA_SM90_ASM("st.relaxed.cluster.shared::cluster.u32 [%0], %1;" ::"r"(word), "r"(value)
                    : "memory");
  } else {
    // The address needs the value that went before; were it the same for the warp, ptxas would add
    // up what the warp's threads add.
    AMASIA_SM90_ASM("atom.relaxed.cluster.shared::cluster.add.u32 %0, [%1], 1;"
                    : "=r"(value)
                    : "r"(word + (at >> 31))
                    : "memory");
  }
  return value;
}

template <Access ACCESS>
__device__ unsigned walk(unsigned at, unsigned word, int links) {
#pragma unroll 1
  for (int i = 0; i < links; i += unroll) {
#pragma unroll
    for (int k = 0; k < unroll; ++k) at = follow<ACCESS>(at, word);
  }
  return at;
}

/// A full cycle of addresses in the cluster's window: 129 is odd.
__device__ inline void lay_out(unsigned* ring) {
  const unsigned first = remote_address(ring, rank());
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < words; i += 32) ring[i] = first + 4 * ((i + 129) % words);
}

template <Access ACCESS>
__global__ void __launch_bounds__(32)
    reach(unsigned distance, Walks walks, Stamp* taken, unsigned* left) {
  __shared__ unsigned ring[words];
  if constexpr (ACCESS == Access::load) {
    lay_out(ring);
  } else {
    if (threadIdx.x == 0) ring[0] = 0;
  }
  cluster_sync();
  if (rank() == 0 && threadIdx.x == 0) {
    const unsigned word = remote_address(ring, distance);
    unsigned at = ACCESS == Access::load ? word : 0;
#pragma unroll 1
    for (int w = 0; w < max_walks; ++w) {
      const Stopwatch watch;
      at = walk<ACCESS>(at, word, walks.links[w]);
      watch.stop(taken[w]);
    }
    *left = at;
  }
  __syncwarp();
  cluster_sync();
  // What the accesses left behind; the chain's own end is of no interest but keeps its loads.
  if (ACCESS != Access::load && rank() == distance && threadIdx.x == 0) *left = ring[0];
}

constexpr int pair_cluster = 16;  // the largest: the most pairs
constexpr int pair_shorter = 64, pair_longer = 320;

/// cycles[block * pair_cluster + peer], of the links by which the walks differ; 0: itself.
template <int CLUSTER>
__global__ void __launch_bounds__(32) reach_all(unsigned* cycles, unsigned* sm, unsigned* sink) {
  __shared__ unsigned ring[words];
  lay_out(ring);
  if (threadIdx.x == 0) {
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm[blockIdx.x]));
    cycles[blockIdx.x * CLUSTER + rank()] = 0;
  }
  unsigned at = 0;
#pragma unroll 1
  for (unsigned step = 0; step < CLUSTER * CLUSTER; ++step) {
    const unsigned reader = step / CLUSTER, peer = step % CLUSTER;
    cluster_sync();
    if (reader != peer && rank() == reader && threadIdx.x == 0) {
      unsigned took[3];
      at = remote_address(ring, peer);
#pragma unroll 1
      for (int w = 0; w < 3; ++w) {
        const long long begin = clock_now();
        at = walk<Access::load>(at, 0, w == 2 ? pair_longer : pair_shorter);
        took[w] = static_cast<unsigned>(clock_now() - begin);
      }
      cycles[blockIdx.x * CLUSTER + peer] = took[2] - took[1];
    }
    __syncwarp();
  }
  cluster_sync();
  if (at == 1) *sink = at;  // never: addresses are even
}

using ReachKernel = void (*)(unsigned, Walks, Stamp*, unsigned*);
ReachKernel kernel_of(Access a) {
  return a == Access::load             ? reach<Access::load>
         : a == Access::load_add_store ? reach<Access::load_add_store>
                                       : reach<Access::atomic_add>;
}

Sampling one_pair(Access access, int cluster, unsigned distance, Stream stream) {
  const ReachKernel kernel = kernel_of(access);
  const LaunchShape shape = one_cluster(kernel, cluster, 32);
  auto taken = std::make_shared<DeviceArray<Stamp>>(max_walks);
  auto left = std::make_shared<DeviceArray<unsigned>>(1);
  return [=] {
    const Walks walks{{shorter, shorter, longer}};
    launch(kernel, shape, stream, distance, walks, taken->data(), left->data());
    const Reading reading = slope_of_walks(stream, *taken, walks);
    const unsigned got = first_of(*left);
    if (access != Access::load && got != 2 * shorter + longer) {
      throw std::runtime_error("the remote word holds " + std::to_string(got) + " after " +
                               std::to_string(2 * shorter + longer) + " additions");
    }
    return reading;
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
  LaunchShape shape = fill_device(kernel, pair_cluster, 32, 0, device);
  // More than one of these small blocks fits on an SM; a cluster spreads over as many as it has.
  const unsigned blocks =
      std::min(shape.grid.x, static_cast<unsigned>(device.sm_count) / pair_cluster * pair_cluster);
  shape.grid = dim3(blocks);
  auto cycles = std::make_shared<DeviceArray<unsigned>>(std::size_t{blocks} * pair_cluster);
  auto sm = std::make_shared<DeviceArray<unsigned>>(blocks);
  auto sink = std::make_shared<DeviceArray<unsigned>>(1);
  return [=] {
    launch(kernel, shape, stream, cycles->data(), sm->data(), sink->data());
    AMASIA_CUDA(cudaStreamSynchronize(stream));
    const std::vector<unsigned> took = downloaded(*cycles), on = downloaded(*sm);
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

std::vector<Point> points(const Device& device, Scope scope) {
  std::vector<Point> all;
  const auto add = [&](Access access, int cluster, int distance) {
    Point& p = add_cluster_point(all,
                                 {{"access", name_of(access)},
                                  {"cluster", std::to_string(cluster)},
                                  {"distance", std::to_string(distance)}},
                                 "latency", "cycles", Better::smaller,
                                 kernel_use(kernel_of(access), 32, 0, cluster), device);
    const bool atomic = access == Access::atomic_add;
    p.claims = {
        {atomic ? "ATOM" : "LD", atomic ? "atom.shared::cluster" : "ld.shared::cluster", unroll}};
    if (access == Access::load_add_store) p.claims.push_back({"ST", "st.shared::cluster", unroll});
    p.prepare = [=](const Device&, Stream stream) {
      return one_pair(access, cluster, static_cast<unsigned>(distance), stream);
    };
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
    Point& p = add_cluster_point(all,
                                 {{"access", "load"},
                                  {"cluster", std::to_string(pair_cluster)},
                                  {"pairs", s.pairs},
                                  {"statistic", s.name}},
                                 "latency", "cycles", Better::smaller,
                                 kernel_use(reach_all<pair_cluster>, 32, 0, pair_cluster), device);
    p.claims = {{"LD", "ld.shared::cluster", unroll}};
    p.prepare = [s](const Device& d, Stream stream) { return all_pairs(s, d, stream); };
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
