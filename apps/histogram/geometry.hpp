// How counters are laid out in shared memory and keys are dealt out to blocks: plain arithmetic,
// the same on host and device, so the CPU tests cover it.
#pragma once

#include <cstdint>

#include "variants/geometry/ring.hpp"
#include "variants/host_device.hpp"

namespace amasia::histogram {

/// THREADS threads per block (that count; a copying warp comes on top), CHUNKS 16-byte chunks of
/// keys per thread and tile, STAGES tiles in a ring, BLOCKS blocks that share an SM.
template <int THREADS, int CHUNKS, int STAGES, int BLOCKS>
struct Shape {
  static constexpr int threads = THREADS;
  static constexpr int warps = THREADS / 32;
  static constexpr int chunks = CHUNKS;
  static constexpr int stages = STAGES;
  static constexpr int blocks_per_sm = BLOCKS;
  static constexpr int tile_chunks = THREADS * CHUNKS;
  static constexpr int tile_bytes = 16 * tile_chunks;
};

/// A block keeps a window of the counters, each in 2^log2_copies copies. Copy c of counter i is
/// word (i << log2_copies) + c, and lane l counts in copy l % copies: with 32 copies every lane has
/// a bank of its own and no two lanes of a warp ever meet, whatever the keys. `windows` blocks,
/// which all see the same keys, hold the whole histogram between them.
struct CounterPlan {
  int log2_copies = 0;
  int window = 0;   // counters per block, a multiple of 4: bulk reductions move 16 bytes
  int windows = 1;  // a multiple of `at_least`
  /// Counters in shared memory: of several windows each has one more, for other windows' keys.
  AMASIA_HD constexpr int kept() const { return windows > 1 ? window + 4 : window; }
  AMASIA_HD constexpr std::int64_t bytes() const { return std::int64_t{4} * kept() << log2_copies; }
};

/// As many copies as fit in `bytes`; where not even one fits, as few windows as possible.
/// `at_least`: windows come in multiples of this (blocks of a cluster). bytes >= 32.
constexpr CounterPlan plan_counters(std::int64_t counters, std::int64_t bytes, int at_least = 1) {
  CounterPlan plan;
  plan.windows = at_least;
  for (;; plan.windows += at_least) {
    plan.window = static_cast<int>(round_up(ceil_div(counters, plan.windows), 4));
    for (plan.log2_copies = 5; plan.log2_copies >= 0; --plan.log2_copies) {
      if (plan.bytes() <= bytes) return plan;
    }
  }
}

/// The order in which a thread adds up the copies of counter i so that 32 threads with neighbouring
/// counters read 32 banks at once.
AMASIA_HD constexpr int copy_to_read(int counter, int step, int log2_copies) {
  return (step + (counter >> (5 - log2_copies))) & ((1 << log2_copies) - 1);
}

/// Tiles of group `group` of `groups`: group, group + groups, ... below `tiles`.
AMASIA_HD constexpr int tiles_of_group(std::int64_t tiles, int group, int groups) {
  return group < tiles ? static_cast<int>((tiles - group - 1) / groups + 1) : 0;
}

}  // namespace amasia::histogram
