// The persistent schedule of all six `best` variants: what a launch is given, and how bands are
// dealt out. geometry.hpp says which cells a lane has, walk.cuh how a warp walks along a band,
// link.cuh how its bottom row gets to the band below.
//
// Bands are taken in order, by ticket: whoever waits for a band waits for one that is already being
// walked, however many blocks are resident.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "apps/nw/diagonals.cuh"
#include "variants/geometry/ring.hpp"

namespace amasia::nw {

/// Arguments of a launch.
struct BandRun {
  Grid<const int> ref;
  Grid<int> score;
  int penalty = 0;
  Handover handover;
};

/// A barrier of the whole block whose two sides are different code. Not bar.sync, which is the
/// aligned form: synccheck wants all threads of a block at one such instruction.
template <int THREADS>
__device__ void block_barrier() {
  asm volatile("barrier.sync 1, %0;\n" ::"n"(THREADS) : "memory");
}

/// Tickets and the end of a run.
__device__ inline int take_ticket(const BandRun& run) {
  return static_cast<int>(atomicAdd(&run.handover.clock[1], 1u));
}
__device__ inline unsigned run_tag(const BandRun& run) {
  return *static_cast<volatile unsigned*>(run.handover.clock) + 1;
}
/// By one thread of every block (or cluster) after its last band; `parties` of them. The last one
/// moves the clock on.
__device__ inline void finish_run(const BandRun& run, unsigned parties) {
  __threadfence();
  if (atomicAdd(&run.handover.clock[2], 1u) == parties - 1) {
    run.handover.clock[1] = 0;
    run.handover.clock[2] = 0;
    run.handover.clock[0] += 1;
  }
}

/// The config of a band kernel. `arguments` makes what the kernel takes besides the run, as a
/// tuple.
template <class B, class Kernel, class Arguments = NoArguments>
ConfigOf<Problem> bands_config(std::string name, Kernel kernel, int threads,
                               std::size_t shared_bytes, int stages_in_flight,
                               Arguments arguments = {}, unsigned cluster = 1) {
  ConfigOf<Problem> config;
  config.info = {
      std::move(name),
      {{"band_rows", B::rows}, {"stages", B::stages}, {"cluster", cluster}},
      {{reinterpret_cast<const void*>(kernel), threads, shared_bytes, static_cast<int>(cluster),
        static_cast<std::size_t>(B::stage_bytes) * stages_in_flight}}};
  config.prepare = [=](const Problem& p, const Device& device) -> Launch {
    LaunchShape shape;
    shape.block = dim3(threads);
    shape.dynamic_shared_bytes = shared_bytes;
    shape.cluster_blocks = cluster;
    const auto* function = reinterpret_cast<const void*>(kernel);
    shape.grid = dim3(cluster);
    allow_launch(function, shape);
    const long long resident = resident_blocks(function, shape, device.sm_count);
    const long long wanted = round_up(B::bands(p.ref.rows), cluster);
    const long long blocks = wanted < resident ? wanted : resident;
    shape.grid = dim3(static_cast<unsigned>(blocks < cluster ? cluster : blocks));
    return [=, extra = arguments(p)](Stream stream) {
      const BandRun run{p.ref, p.score, p.penalty, p.handover};
      std::apply([&](const auto&... more) { launch(kernel, shape, stream, run, more...); }, extra);
    };
  };
  return config;
}

}  // namespace amasia::nw
