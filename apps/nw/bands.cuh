// The persistent schedules: what a launch is given, and how bands are dealt out. Which cells a
// lane has: geometry.hpp. How a warp walks along a band: walk.cuh. How its bottom row gets to the
// band below: link.cuh.
//
// Bands are taken in order, by ticket. A block that waits for a band waits for one that is already
// being walked, however few blocks are resident.
#pragma once

#include <algorithm>
#include <climits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/nw/diagonals.cuh"
#include "variants/device/dependent_launch.cuh"
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
__device__ inline unsigned run_tag(const Handover& handover) {
  return *static_cast<volatile unsigned*>(handover.clock) + 1;
}
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

/// What a config says of the kernels of a persistent schedule, and how they are launched.
struct PersistentUse {
  std::string movement_name;  // what tells it from others of its schedule
  int threads = 0;
  std::size_t shared_bytes = 0;
  int producer_warps = 0;    // 0: the walking warp also copies
  int stages_in_flight = 0;  // at most, while one is computed
};

/// A launch of a run: as many blocks as find room, up to the bands that are left. One behind the
/// first comes beside it (variants/device/dependent_launch.cuh).
template <class Run, class... More>
struct PersistentPart {
  void (*kernel)(Run, More...);
  unsigned cluster = 1;
};

/// A config of the kernels of `parts`. `bands_of(problem)` counts bands; `run_of(problem, parties)`
/// is what a kernel is given, parties being the blocks or clusters of all launches; `arguments`
/// makes what it takes besides, as a tuple.
template <class B, class Part, class BandsOf, class RunOf, class Arguments>
ConfigOf<Problem> persistent_config(std::string_view schedule, const PersistentUse& use,
                                    const std::vector<Part>& parts, BandsOf bands_of, RunOf run_of,
                                    Arguments arguments) {
  ConfigOf<Problem> config;
  config.info.schedule = schedule;
  config.info.name = config.info.schedule + "/" + use.movement_name;
  for (const Part& part : parts) {
    config.info.kernels.push_back(
        {reinterpret_cast<const void*>(part.kernel), use.threads, use.shared_bytes,
         static_cast<int>(part.cluster),
         static_cast<std::size_t>(B::stage_bytes) * use.stages_in_flight});
  }
  config.prepare = [=](const Problem& p, const Device& device) -> Launch {
    const int bands = bands_of(p);
    int taken = 0;
    unsigned parties = 0;
    std::vector<FollowingShape> shapes;
    for (const Part& part : parts) {
      if (taken >= bands) break;
      const auto* function = reinterpret_cast<const void*>(part.kernel);
      const int cluster = static_cast<int>(part.cluster);
      FollowingShape shape{{dim3(part.cluster), dim3(use.threads)}};
      shape.dynamic_shared_bytes = use.shared_bytes;
      shape.cluster_blocks = part.cluster;
      allow_launch(function, shape);
      const int room = std::min(resident_blocks(function, shape, device.sm_count),
                                taken > 0 ? device.sm_count - taken : INT_MAX);
      const int wanted = static_cast<int>(round_up(bands - taken, cluster));
      const int blocks = std::min(wanted, room / cluster * cluster);
      if (blocks < cluster && taken > 0) break;
      shape.grid.x = static_cast<unsigned>(std::max(blocks, cluster));
      shape.early = taken > 0;
      taken += static_cast<int>(shape.grid.x);
      parties += shape.grid.x / part.cluster;
      shapes.push_back(shape);
    }
    return [=, run = run_of(p, parties), extra = arguments(p)](Stream stream) {
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        std::apply(
            [&](const auto&... more) { launch(parts[i].kernel, shapes[i], stream, run, more...); },
            extra);
      }
    };
  };
  return config;
}

template <class B, class... More, class Arguments = NoArguments>
ConfigOf<Problem> bands_config(const PersistentUse& use, void (*kernel)(BandRun, More...),
                               Arguments arguments = {}) {
  ConfigOf<Problem> config = persistent_config<B>(
      B::Schedule::name, use, std::vector{PersistentPart<BandRun, More...>{kernel}},
      [](const Problem& p) { return B::bands(p.ref.rows); },
      [](const Problem& p, unsigned) {
        return BandRun{p.ref, p.score, p.penalty, p.handover};
      },
      arguments);
  config.info.geometry = {{"band_rows", B::rows},
                          {"step_columns", B::step_columns},
                          {"hand_columns", B::hand_columns},
                          {"cluster", 1}};
  config.info.movement = {{"stages", B::stages},
                          {"stage_bytes", B::stage_bytes},
                          {"batch", B::batch},
                          {"producer_warps", use.producer_warps},
                          {"depth", use.stages_in_flight}};
  return config;
}

}  // namespace amasia::nw
