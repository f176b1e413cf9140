// launch/barriers: cost of a barrier when all threads arrive at once: of a block by its threads, of
// a cluster by its size and memory order, of the whole grid.
//
// Method: threads do nothing but synchronise, 32 times per iteration of a loop. The cost of one is
// the slope between two numbers of barriers, in the cycles of one SM.
// `scope=block`: __syncthreads of one block on an otherwise empty device.
// `scope=cluster`: barrier.cluster of clusters that fill the device, one block per SM.
//   order=acq_rel is arrive.release and wait.acquire, which hand data over; order=relaxed is
//   arrive.relaxed, which only synchronises.
// `scope=grid`: grid.sync of cooperative groups, `blocks` per SM.
// The ceilings block_barrier_ns, cluster_barrier_ns and grid_barrier_us are one point of each.

#include <cooperative_groups.h>

#include "microbench/dsm/cluster.cuh"

namespace amasia {
namespace {

constexpr int unroll = 32;
enum class Barrier { block, cluster, relaxed, grid };

/// links: barriers / unroll.
template <Barrier BARRIER>
__global__ void __launch_bounds__(1024) synchronise(Walks walks, Stamp* taken) {
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    const Stopwatch watch;
#pragma unroll 1
    for (int i = 0; i < walks.links[w]; ++i) {
      if constexpr (BARRIER == Barrier::grid) {
        const auto grid = cooperative_groups::this_grid();
#pragma unroll 1
        for (int k = 0; k < unroll; ++k) grid.sync();
      } else {
#pragma unroll
        for (int k = 0; k < unroll; ++k) {
          if constexpr (BARRIER == Barrier::block) __syncthreads();
          if constexpr (BARRIER == Barrier::cluster) dsm::cluster_sync();
          if constexpr (BARRIER == Barrier::relaxed) {
            AMASIA_SM90_ASM("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
            AMASIA_SM90_ASM("barrier.cluster.wait.aligned;" ::: "memory");
          }
        }
      }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) watch.stop(taken[w]);
  }
}

using SyncKernel = void (*)(Walks, Stamp*);
SyncKernel kernel_of(Barrier b) {
  return b == Barrier::block     ? synchronise<Barrier::block>
         : b == Barrier::cluster ? synchronise<Barrier::cluster>
         : b == Barrier::relaxed ? synchronise<Barrier::relaxed>
                                 : synchronise<Barrier::grid>;
}

struct Case {
  Barrier barrier;
  int threads;
  int cluster = 1;
  int per_sm = 1;
};

Sampling synchronised(const Case& c, const Device& device, Stream stream) {
  const SyncKernel kernel = kernel_of(c.barrier);
  // In clusters more than half of the shared memory: one block per SM.
  LaunchShape shape = c.cluster > 1 ? dsm::fill_device(kernel, c.cluster, c.threads,
                                                       device.shared_per_sm / 2, device)
                                    : dsm::one_cluster(kernel, 1, c.threads);
  if (c.barrier == Barrier::grid) {
    shape.cooperative = true;
    shape.grid = dim3(static_cast<unsigned>(device.sm_count * c.per_sm));
  }
  auto taken = std::make_shared<DeviceArray<Stamp>>(max_walks);
  return [=] {
    const int shorter = 4, longer = c.barrier == Barrier::grid ? 16 : 128;
    const Walks walks{{shorter, shorter, longer}};
    launch(kernel, shape, stream, walks, taken->data());
    return slope_of_walks(stream, *taken, walks, unroll);
  };
}

std::vector<Point> points(const Device& device, Scope scope) {
  const bool full = scope == Scope::full;
  std::vector<Point> all;
  const auto add = [&](Case c) {
    const bool grid = c.barrier == Barrier::grid, block = c.barrier == Barrier::block;
    Point& p = add_point(all,
                         {{"scope", block  ? "block"
                                    : grid ? "grid"
                                           : "cluster"},
                          {"order", c.barrier == Barrier::relaxed ? "relaxed" : "acq_rel"},
                          {"threads", std::to_string(c.threads)}},
                         "latency", "cycles");
    if (grid) p.at.push_back({"blocks", std::to_string(c.per_sm)});
    if (!grid && !block) p.at.push_back({"cluster", std::to_string(c.cluster)});
    p.runs_from = grid || block ? 0 : 90;
    p.unsupported = dsm::obstacle(c.cluster, 0, device);
    if (grid && !device.cooperative_launch) {
      p.unsupported = "the device has no cooperative launch";
    } else if (c.threads * c.per_sm > device.max_threads_per_sm) {
      p.unsupported = "more threads than an SM holds";
    }
    p.kernels = {kernel_use(kernel_of(c.barrier), c.threads, 0, c.cluster)};
    if (grid) {
      p.claims = {{"ATOM", "atom", 1}};  // the arrival, by one thread of each block
    } else if (block) {
      p.claims = {{"BAR", "bar.sync", unroll}};
    } else {
      p.claims = {{"UCGABAR_ARV", "barrier.cluster.arrive", unroll},
                  {"UCGABAR_WAIT", "barrier.cluster.wait", unroll}};
      // A release is a fence before the arrival; the relaxed form has none.
      if (c.barrier == Barrier::relaxed) p.claims.push_back({"MEMBAR", "membar", 0});
    }
    p.prepare = [c](const Device& d, Stream stream) { return synchronised(c, d, stream); };
  };
  for (const int threads : {32, 64, 128, 256, 512, 1024}) {
    if (full || threads == 32 || threads == 1024) add({Barrier::block, threads});
  }
  for (const Barrier order : {Barrier::cluster, Barrier::relaxed}) {
    for (const int cluster : {2, 4, 8, 16}) {
      for (const int threads : {32, 256, 1024}) {
        if (full || (threads == 256 && cluster % 6 == 2)) add({order, threads, cluster});
      }
    }
  }
  for (const int threads : {32, 256, 1024}) {
    for (const int per_sm : {1, 2}) {
      if (full || (threads == 256 && per_sm == 1)) add({Barrier::grid, threads, 1, per_sm});
    }
  }
  return all;
}

const bool registered = register_microbenchmark(
    {"launch/barriers", "What does a barrier of a block, a cluster or the grid cost?",
     "Threads that do nothing but synchronise: __syncthreads of one block, barrier.cluster of "
     "clusters that fill the device, with release and acquire or relaxed, grid.sync of cooperative "
     "groups; slope over two numbers of barriers in one launch, in cycles of one SM.",
     points});

}  // namespace
}  // namespace amasia
