// A strategy as the host sees it: its kernels, what it needs of shared memory, and what the machine
// code must show.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "microbench/twin/movers.cuh"
#include "variants/strategy.hpp"

namespace amasia::twin {

struct Way {
  Strategy strategy;
  /// One for each of 1, 2, 4 and 8 chunks per thread.
  TwinKernel kernels[4];
  /// Bytes of shared memory for the stages of these traits, and how many stages that are.
  std::size_t (*stage_bytes)(const Shape& shape, const Traits& traits);
  int (*stages)(const Traits& traits);
  unsigned cluster_blocks;
  bool bulk;  // the copy engine moves its tiles
  /// Bytes behind the stages, for barriers.
  std::size_t extra_bytes;
  /// Why this strategy is no other than one of the others at these traits; "" where it is.
  std::string (*objection)(const Traits& traits);
  std::vector<Claim> claims;

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

inline std::size_t whole_tiles(const Shape& s, const Traits&) {
  return 16U * static_cast<unsigned>(tile_stage_chunks(s));
}
inline int one_stage(const Traits&) { return 1; }
inline int all_stages(const Traits& t) { return static_cast<int>(t.stages); }
inline std::string no_objection(const Traits&) { return ""; }

}  // namespace amasia::twin
