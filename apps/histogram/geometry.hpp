// How keys are cut into tiles and dealt out to blocks, and how counters are laid out in shared
// memory: plain arithmetic, the same on host and device, so the CPU tests cover it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "variants/geometry/ring.hpp"
#include "variants/host_device.hpp"

namespace amasia::histogram {

/// How keys travel: STAGES tiles of CHUNKS times 16 bytes per counting thread, copied by the
/// counting warps or by PRODUCERS warps beside them. Tiles are fetched to L2 L2_AHEAD tiles before
/// they are copied (0: not).
template <int STAGES, int CHUNKS, int PRODUCERS = 0, int L2_AHEAD = 0>
struct Movement {
  static constexpr int stages = STAGES;
  static constexpr int chunks = CHUNKS;
  static constexpr int producer_warps = PRODUCERS;
  static constexpr int l2_ahead = L2_AHEAD;
};

/// A schedule and a movement.
template <class SCHEDULE, class MOVEMENT>
struct KernelConfig : SCHEDULE, MOVEMENT {
  static constexpr int tile_chunks = SCHEDULE::threads * MOVEMENT::chunks;
  static constexpr int tile_bytes = 16 * tile_chunks;
  static constexpr int launched_threads = SCHEDULE::threads + 32 * MOVEMENT::producer_warps;
  static_assert(launched_threads <= 1024, "a block has at most 1024 threads");
};

/// The same bytes are on their way in every strategy and schedule that has stages in shared memory:
/// 64 KB per SM (60 KB where blocks have 960 threads). A ring has three stages of 32 KB per SM, of
/// which two travel while one is counted; a single stage has 64 KB.
template <class SCHEDULE>
inline constexpr int ring_chunks = 2048 / (SCHEDULE::threads * SCHEDULE::blocks_per_sm);
template <class SCHEDULE, int PRODUCERS = 0, int L2_AHEAD = 0>
using Ring = Movement<3, ring_chunks<SCHEDULE>, PRODUCERS, L2_AHEAD>;
/// A stage less, for schedules whose counters need the room: one tile travels while one is counted.
template <class SCHEDULE, int L2_AHEAD = 0>
using ShortRing = Movement<2, ring_chunks<SCHEDULE>, 0, L2_AHEAD>;
template <class SCHEDULE, int L2_AHEAD = 0>
using OneStage = Movement<1, 2 * ring_chunks<SCHEDULE>, 0, L2_AHEAD>;
/// Where tiles are fetched to L2, 128 KB per SM are on their way there: four tiles of a ring, two
/// of a single stage.
inline constexpr int ring_l2_ahead = 4, stage_l2_ahead = 2;

/// Bytes of a block that travel while it counts, or while it waits for its only stage.
template <class C>
inline constexpr std::size_t bytes_in_flight =
    static_cast<std::size_t>(C::stages > 1 ? C::stages - 1 : 1) * C::tile_bytes;

/// A block keeps a window of the counters, each in 2^log2_copies copies. Copy c of counter i is
/// word (i << log2_copies) + c, and lane l counts in copy l % copies: with 32 copies every lane has
/// a bank of its own and no two lanes of a warp ever meet, whatever the keys. `windows` blocks,
/// which all see the same keys, hold the whole histogram between them.
struct CounterPlan {
  int log2_copies = 0;
  int window = 0;       // counters per block, a multiple of 4: bulk reductions move 16 bytes
  int windows = 1;      // a multiple of `at_least`
  bool packed = false;  // one copy, counter i is half i % 2 of word i / 2
  AMASIA_HD constexpr std::int64_t bytes() const {
    return packed ? std::int64_t{2} * window : std::int64_t{4} * window << log2_copies;
  }
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

/// The same with two counters in a word: no copies, windows of half the bytes. No window has less
/// than a word for each lane, where the lane adds nothing for a key of another window.
/// bytes >= 128.
constexpr CounterPlan plan_packed(std::int64_t counters, std::int64_t bytes, int at_least = 1) {
  CounterPlan plan;
  plan.packed = true;
  plan.windows = at_least;
  for (;; plan.windows += at_least) {
    plan.window = static_cast<int>(round_up(ceil_div(counters, plan.windows), 64));
    if (plan.bytes() <= bytes) return plan;
  }
}

/// What one more key, or `unit` = several of them shifted to their half, did to a word of two
/// packed counters that held `old`: not 0 if its half passed 2^15. (The other half does not
/// change.) A half below 2^15 takes 2^15 more keys before it overflows. So it is enough that a
/// block has a barrier once in so many keys, and that a thread that makes a half pass takes 2^15
/// off it before.
AMASIA_HD constexpr std::uint32_t passed_half(std::uint32_t old, std::uint32_t unit) {
  return (old ^ (old + unit)) & 0x80008000u;
}
inline constexpr int packed_limit = 1 << 15;
/// Tiles of `tile_keys` keys that a block may count between two of its barriers.
constexpr int packed_tiles_between_barriers(int tile_keys) { return packed_limit / tile_keys; }

/// Packed counters to which keys are added unseen: nobody looks at what a word held. A half that
/// overflows takes 2^16 off its own count and, if it is the lower one, adds 1 to the other: each
/// time the sum of all halves falls behind the keys. So it equals them if and only if none did.
AMASIA_HD constexpr std::uint32_t sum_of_halves(std::uint32_t word) {
  return (word & 0xffff) + (word >> 16);
}
/// Whether a block that has counted the first 1/`parts` of its keys, at most 2^15, into halves of
/// at most `fullest` should add the others unseen. A quarter of a half's range: keys that come in
/// any order but by size stay below it with the same share of the others.
AMASIA_HD constexpr bool adds_unseen(std::uint32_t fullest, std::int64_t parts) {
  return fullest * parts <= (1 << 14);
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

// Schedule partitioned: keys are first dealt out to ranges of counters in global memory, then every
// range is counted by blocks that keep no other. What lies where.

/// Counters of a range, as many as fit one SM beside stages. A key is passed on as its counter's
/// place in the range, 16 bits; this one is counted where nobody looks and fills up chunks.
inline constexpr int range_counters = 1 << 15;
inline constexpr unsigned pad_id = range_counters;
/// Ids of one range lie in chunks of 16 KB: what a block of 1024 threads counts with a 16-byte read
/// each.
inline constexpr int chunk_ids = 8192;
/// Ranges of the most bins there can be (most_bins + 1 counters).
inline constexpr int most_ranges = 33;
/// A chunk is named by 24 bits, beside its range in a word.
inline constexpr std::int64_t most_chunks = std::int64_t{1} << 24;

/// Sizes for a first launch of `blocks` blocks that each deal out at most `block_keys` keys.
struct PartitionPlan {
  int ranges = 0;
  int blocks = 0;
  std::int64_t chunks_per_block = 0;

  AMASIA_HD constexpr std::int64_t chunks() const { return chunks_per_block * blocks; }
  /// Words of scratch. First ids of all chunks. Then per chunk its range and its number among its
  /// block's of that range, and its place in the list of chunks. Then per block and range where its
  /// chunks begin among those of the range, per block how many it used, per range how many there
  /// are.
  constexpr std::int64_t id_words() const { return chunks() * chunk_ids / 2; }
  constexpr std::int64_t words() const {
    return id_words() + 2 * chunks() + std::int64_t{blocks} * (ranges + 1) + ranges;
  }
};

/// Every range's last chunk may be nearly empty.
constexpr PartitionPlan plan_partition(std::int64_t counters, std::int64_t tiles, int tile_keys,
                                       int blocks) {
  const auto ranges = static_cast<int>(ceil_div(counters, range_counters));
  const std::int64_t block_keys = ceil_div(tiles, blocks) * tile_keys;
  return {ranges, blocks, block_keys / chunk_ids + ranges};
}

/// The most blocks that deal out keys, more than a GPU has at two per SM; for the size of scratch.
inline constexpr int most_partition_blocks = 320;

/// Words of scratch that are enough for any first launch whose tiles have no more keys than a
/// chunk: the sizes above, with each division rounded up.
constexpr std::int64_t partition_words(std::int64_t counters, std::int64_t keys) {
  const std::int64_t ranges = ceil_div(counters, range_counters);
  const std::int64_t least_tile = 2048;
  const std::int64_t tiles = keys / least_tile;
  const std::int64_t blocks = tiles < 1                       ? 1
                              : tiles < most_partition_blocks ? tiles
                                                              : most_partition_blocks;
  const std::int64_t chunks = keys / chunk_ids + blocks * (ranges + 1);
  return chunks * (chunk_ids / 2 + 2) + blocks * (ranges + 1) + ranges;
}

/// Where `keys` ids of a range go of which `fill` lie in its current chunk: those before the
/// `split`th behind them, the others at the beginning of the next chunk. A tile has no more ids
/// than a chunk, so one new chunk is enough.
struct InChunks {
  unsigned split;
  bool opens;
  unsigned fill;  // afterwards
};
AMASIA_HD constexpr InChunks place_in_chunks(unsigned fill, unsigned keys) {
  constexpr auto all = static_cast<unsigned>(chunk_ids);
  const bool opens = fill + keys > all;
  return {all - fill, opens, opens ? fill + keys - all : fill + keys};
}

}  // namespace amasia::histogram
