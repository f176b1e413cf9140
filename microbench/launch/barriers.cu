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

#include <memory>

#include "microbench/walks.cuh"
#include "variants/device/launch.hpp"
#include "variants/ptx/cluster.cuh"

namespace amasia {
namespace {

constexpr int unroll = 32;
enum class Barrier { block, cluster, relaxed, grid };

/// links: barriers / unroll.
template <Barrier BARRIER>
__global__ void __launch_bounds__(1024) synchronise(Walks walks, Stamp* taken) {
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    const unsigned long long begin_ns = nanoseconds_now();
    const long long begin = clock_now();
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
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      taken[w].cycles = clock_now() - begin;
      taken[w].nanoseconds = nanoseconds_now() - begin_ns;
    }
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
  LaunchShape shape;
  shape.block = dim3(static_cast<unsigned>(c.threads));
  shape.cluster_blocks = static_cast<unsigned>(c.cluster);
  shape.cooperative = c.barrier == Barrier::grid;
  shape.grid = dim3(1);
  if (c.barrier == Barrier::grid) {
    shape.grid = dim3(static_cast<unsigned>(device.sm_count * c.per_sm));
  } else if (c.cluster > 1) {
    // More than half of the shared memory: one block per SM.
    shape.dynamic_shared_bytes = device.shared_per_sm / 2;
  }
  allow_launch(reinterpret_cast<const void*>(kernel), shape);
  if (c.cluster > 1) {
    shape.grid = dim3(static_cast<unsigned>(
        resident_blocks(reinterpret_cast<const void*>(kernel), shape, device.sm_count)));
    if (shape.grid.x == 0) {
      throw std::runtime_error("no cluster of " + std::to_string(c.cluster) + " blocks fits");
    }
  }
  auto taken = std::make_shared<DeviceArray<Stamp>>(max_walks);
  return [=] {
    const int shorter = 4, longer = c.barrier == Barrier::grid ? 16 : 128;
    launch(kernel, shape, stream, Walks{{shorter, shorter, longer}}, taken->data());
    AMASIA_CUDA(cudaStreamSynchronize(stream));
    Stamp host[max_walks];
    taken->download(host);
    return slope_between(host[1], shorter * unroll, host[2], longer * unroll);
  };
}

std::vector<Point> points(const Device& device, Scope scope) {
  const bool full = scope == Scope::full;
  std::vector<Point> all;
  const auto add = [&](Case c) {
    Point p;
    const bool grid = c.barrier == Barrier::grid, block = c.barrier == Barrier::block;
    p.at = {{"scope", block  ? "block"
                      : grid ? "grid"
                             : "cluster"},
            {"order", c.barrier == Barrier::relaxed ? "relaxed" : "acq_rel"},
            {"threads", std::to_string(c.threads)}};
    if (grid) p.at.push_back({"blocks", std::to_string(c.per_sm)});
    if (!grid && !block) p.at.push_back({"cluster", std::to_string(c.cluster)});
    p.quantity = "latency";
    p.unit = "cycles";
    p.runs_from = grid || block ? 0 : 90;
    if (grid && !device.cooperative_launch) {
      p.unsupported = "the device has no cooperative launch";
    } else if (c.cluster > 8 && device.compute_capability >= 120) {
      p.unsupported = "clusters of more than 8 blocks exist on compute capability 9.0 and 10.x";
    } else if (c.threads * c.per_sm > device.max_threads_per_sm) {
      p.unsupported = "more threads than an SM holds";
    }
    p.kernels = {{reinterpret_cast<const void*>(kernel_of(c.barrier)), c.threads, 0, c.cluster}};
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
    all.push_back(std::move(p));
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
