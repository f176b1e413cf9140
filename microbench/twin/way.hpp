// A strategy as the host sees it: its kernels, what it needs of shared memory, and what the machine
// code must show.
#pragma once

#include "microbench/points.hpp"
#include "microbench/twin/movers.cuh"
#include "variants/strategy.hpp"

namespace amasia::twin {

template <int CHUNKS, class Mover>
__global__ void __launch_bounds__(most_threads(CHUNKS), 1)
    run_twin(const __grid_constant__ Work work, const __grid_constant__ CUtensorMap map) {
  Mover mover(work, map);
  walk_tiles<CHUNKS>(work, mover);
  mover.finish();
}

/// One for each of 1, 2, 4 and 8 chunks per thread.
template <template <int> class Mover>
std::array<TwinKernel, 4> kernels_of() {
  return {run_twin<1, Mover<1>>, run_twin<2, Mover<2>>, run_twin<4, Mover<4>>,
          run_twin<8, Mover<8>>};
}

inline std::size_t whole_tiles(const Shape& s, const Traits&) {
  return 16U * static_cast<unsigned>(tile_stage_chunks(s));
}
inline int one_stage(const Traits&) { return 1; }
inline int all_stages(const Traits& t) { return static_cast<int>(t.stages); }
inline std::string no_objection(const Traits&) { return ""; }

struct Way {
  Strategy strategy;
  std::array<TwinKernel, 4> kernels;
  std::vector<Claim> claims;
  /// Bytes of shared memory for a stage of these traits, and how many stages there are.
  std::size_t (*stage_bytes)(const Shape& shape, const Traits& traits) = whole_tiles;
  int (*stages)(const Traits& traits) = all_stages;
  unsigned cluster_blocks = 1;
  bool bulk = false;            // the copy engine moves its tiles
  std::size_t extra_bytes = 0;  // behind the stages, for barriers
  /// Why this strategy is no other than one of the others at these traits; "" where it is.
  std::string (*objection)(const Traits& traits) = no_objection;

  TwinKernel kernel_of(int chunks) const {
    return kernels[chunks == 1 ? 0 : chunks == 2 ? 1 : chunks == 4 ? 2 : 3];
  }
  std::size_t shared_bytes(const Shape& shape, const Traits& traits) const {
    return static_cast<std::size_t>(stages(traits)) * stage_bytes(shape, traits) + extra_bytes;
  }
};

// Each strategy's own file defines its way.
Way baseline_way();
Way register_bypass_way();
Way overlap_way();
Way drop_off_way();
Way tma_way();
Way dsm_way();

}  // namespace amasia::twin
