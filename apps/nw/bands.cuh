// The persistent schedules: what a launch is given, and how bands are dealt out. Which cells a
// lane has: geometry.hpp. How a warp walks along a band: walk.cuh. How its bottom row gets to the
// band below: link.cuh.
//
// Bands are taken in order, by ticket. A block that waits for a band waits for one that is already
// being walked, however few blocks are resident.
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
__device__ inline int take_tickets(const Handover& handover, unsigned count) {
  return static_cast<int>(atomicAdd(&handover.clock[1], count));
}
__device__ inline int take_ticket(const BandRun& run) { return take_tickets(run.handover, 1); }
__device__ inline unsigned run_tag(const Handover& handover) {
  return *static_cast<volatile unsigned*>(handover.clock) + 1;
}
__device__ inline unsigned run_tag(const BandRun& run) { return run_tag(run.handover); }
/// By one thread of every block (or cluster) after its last band; `parties` of them. The last one
/// moves the clock on.
__device__ inline void finish_run(const Handover& handover, unsigned parties) {
  __threadfence();
  if (atomicAdd(&handover.clock[2], 1u) == parties - 1) {
    handover.clock[1] = 0;
    handover.clock[2] = 0;
    handover.clock[0] += 1;
  }
}
__device__ inline void finish_run(const BandRun& run, unsigned parties) {
  finish_run(run.handover, parties);
}

/// What a config says of a band kernel, and how it is launched.
struct BandsUse {
  std::string movement_name;  // what tells it from others of its schedule
  int threads = 0;
  std::size_t shared_bytes = 0;
  int producer_warps = 0;    // 0: the walking warp also copies
  int stages_in_flight = 0;  // at most, while one is computed
  unsigned cluster = 1;
};

/// `Schedule` is that of B. `arguments` makes what the kernel takes besides the run, as a tuple.
template <class Schedule, class B, class Kernel, class Arguments = NoArguments>
ConfigOf<Problem> bands_config(const BandsUse& use, Kernel kernel, Arguments arguments = {}) {
  ConfigOf<Problem> config;
  const auto* function = reinterpret_cast<const void*>(kernel);
  config.info.name = std::string(Schedule::name) + "/" + use.movement_name;
  config.info.geometry = {{"band_rows", B::rows},
                          {"step_columns", B::step_columns},
                          {"hand_columns", B::hand_columns},
                          {"cluster", use.cluster}};
  config.info.kernels = {{function, use.threads, use.shared_bytes, static_cast<int>(use.cluster),
                          static_cast<std::size_t>(B::stage_bytes) * use.stages_in_flight}};
  config.info.schedule = Schedule::name;
  config.info.movement = {{"stages", B::stages},
                          {"stage_bytes", B::stage_bytes},
                          {"batch", B::batch},
                          {"producer_warps", use.producer_warps},
                          {"depth", use.stages_in_flight}};
  config.prepare = [=](const Problem& p, const Device& device) -> Launch {
    LaunchShape shape;
    shape.block = dim3(use.threads);
    shape.dynamic_shared_bytes = use.shared_bytes;
    shape.cluster_blocks = use.cluster;
    shape.grid = dim3(use.cluster);
    allow_launch(function, shape);
    const long long resident = resident_blocks(function, shape, device.sm_count);
    const long long wanted = round_up(B::bands(p.ref.rows), use.cluster);
    const long long blocks = wanted < resident ? wanted : resident;
    shape.grid = dim3(static_cast<unsigned>(blocks < use.cluster ? use.cluster : blocks));
    return [=, extra = arguments(p)](Stream stream) {
      const BandRun run{p.ref, p.score, p.penalty, p.handover};
      std::apply([&](const auto&... more) { launch(kernel, shape, stream, run, more...); }, extra);
    };
  };
  return config;
}

}  // namespace amasia::nw
