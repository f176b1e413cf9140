// Schedule partitioned: keys are first dealt out to ranges of counters in global memory, then every
// range is counted by blocks that keep no other. What lies where; plain arithmetic, so the CPU
// tests cover it.
#pragma once

#include <cstdint>

#include "variants/geometry/ring.hpp"
#include "variants/host_device.hpp"

namespace amasia::histogram {

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
