// histogram: how many of N keys fall into each of B even bins (the CUDA sample `histogram`, for any
// number of bins).
//
//   counts(*) = 0
//   for i in 0 .. keys-1
//     if 0 <= key(i) < range: counts(key(i) * bins / range) += 1
//     else                    counts(bins) += 1           the extra counter: keys outside the range
//
// One increment for one or four bytes read: bound by memory as long as the increments, whose
// addresses the data chooses, do not get in each other's way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/app.hpp"
#include "inputs/random.hpp"

namespace amasia::histogram {

enum class KeyType { uint8, int32 };
enum class Distribution { uniform, equal, zipf, sorted };

/// Up to here the place of a key times the spread of sorted keys fits in 64 bits (key_at).
inline constexpr std::int64_t most_keys = std::int64_t{1} << 33;
/// Counters are 32 bits wide. Keys that would bring one past this are refused (make_setup).
inline constexpr std::int64_t most_in_a_counter = 4294967295;
inline constexpr std::int64_t most_bins = 1048576;
inline constexpr std::int64_t byte_values = 256;
/// Default range of int32 keys, a power of two as in most uses.
inline constexpr std::int64_t default_range = std::int64_t{1} << 30;

/// From key to bin without a division: key * bins / range = key * multiplier / 2^63, rounded down.
///
/// multiplier = (bins * 2^63 + e) / range with 0 <= e < range, so the quotient is too large by
/// key * e / (range * 2^63). That is less than 1 / range, the distance of the true quotient's
/// fraction to the next integer, as long as key * e < 2^63: always, for key < range < 2^31. Where
/// range / bins is a power of two, the product is a shift.
struct Binning {
  std::uint32_t multiplier_low = 0;
  std::uint32_t multiplier_high = 0;
  std::uint32_t bins = 1;
  std::uint32_t range = 1;
};

/// 1 <= bins <= range < 2^31.
constexpr Binning make_binning(std::int64_t bins, std::int64_t range) {
  // bins * 2^63 / range, rounded up, in two steps of 32 and 31 bits.
  const auto b = static_cast<std::uint64_t>(bins), r = static_cast<std::uint64_t>(range);
  const std::uint64_t high = (b << 32) / r, rest = (b << 32) % r;
  const std::uint64_t multiplier = (high << 31) + ((rest << 31) + r - 1) / r;
  return {static_cast<std::uint32_t>(multiplier), static_cast<std::uint32_t>(multiplier >> 32),
          static_cast<std::uint32_t>(bins), static_cast<std::uint32_t>(range)};
}

/// The bin of a key, `bins` for one outside the range. A negative int32 key, taken as unsigned,
/// lies beyond every range. The quotient never decreases, so that keys beyond the range need no
/// test of their own: theirs is `bins` or more.
AMASIA_HD constexpr std::uint32_t bin_of(std::uint32_t key, const Binning& b) {
  const std::uint64_t product =
      std::uint64_t{key} * b.multiplier_high + (std::uint64_t{key} * b.multiplier_low >> 32);
  const auto quotient = static_cast<std::uint32_t>(product >> 31);
  return quotient < b.bins ? quotient : b.bins;
}

/// The least key of a bin; that of `bins` is the range.
AMASIA_HD constexpr std::uint32_t first_key_of(std::uint32_t bin, const Binning& b) {
  return static_cast<std::uint32_t>((std::uint64_t{bin} * b.range + b.bins - 1) / b.bins);
}

/// What decides generated keys: they lie in [0, spread), which may exceed the range.
struct Source {
  Distribution distribution = Distribution::uniform;
  std::uint64_t seed = 0;
  std::int64_t count = 0;
  std::uint32_t spread = 1;
  std::uint32_t ranks = 1;  // zipf: how many ranks share the spread
};

/// 2^x in fixed point, rounded down: x and the result have 32 fractional bits, x is less than 31.
/// Integer arithmetic, so that host and device agree to the last bit.
AMASIA_HD constexpr std::uint64_t power_of_two(std::uint64_t x) {
  // 2^(1/2), 2^(1/4), ... with 32 fractional bits; beyond the 20th a factor no longer matters for
  // ranks of at most 20 bits.
  constexpr std::uint64_t roots[] = {6074000999, 5107605667, 4683695047, 4485121743, 4389014833,
                                     4341736423, 4318288543, 4306612133, 4300785773, 4297875550,
                                     4296421177, 4295694174, 4295330720, 4295149004, 4295058149,
                                     4295012722, 4294990009, 4294978652, 4294972974, 4294970135};
  std::uint64_t mantissa = std::uint64_t{1} << 32;
  for (int i = 0; i < 20; ++i) {
    // Below 2^33 times below 2^33: the product is cut to fit 64 bits before it is scaled.
    if ((x >> (31 - i) & 1) != 0) mantissa = ((mantissa >> 1) * (roots[i] >> 1)) >> 30;
  }
  return mantissa << (x >> 32);
}

/// log2(n) with 32 fractional bits, rounded down, n >= 1: the largest x with 2^x <= n.
constexpr std::uint64_t log2_of(std::uint32_t n) {
  std::uint64_t x = 0;
  for (int bit = 36; bit >= 0; --bit) {
    const std::uint64_t tried = x | std::uint64_t{1} << bit;
    if (tried >> 32 < 31 && power_of_two(tried) <= std::uint64_t{n} << 32) x = tried;
  }
  return x;
}

/// A rank 0 ... ranks-1 with probability log(1 + 1/(rank+1)) / log(ranks+1): Zipf's law with
/// exponent 1 as a continuous variable 2^(u * log2(ranks+1)) gives it, rounded down.
AMASIA_HD constexpr std::uint32_t zipf_rank(std::uint32_t random, std::uint64_t log2_ranks,
                                            std::uint32_t ranks) {
  const std::uint64_t x = (log2_ranks >> 32) * random + ((log2_ranks & 0xffffffffu) * random >> 32);
  const auto rank = static_cast<std::uint32_t>(power_of_two(x) >> 32) - 1;
  return rank < ranks ? rank : ranks - 1;
}

/// Key i, as unsigned. Stream 0 of the random numbers chooses, stream 1 the place inside a rank or
/// step. `log2_ranks` is log2_of(ranks + 1), worked out once.
AMASIA_HD constexpr std::uint32_t key_at(const Source& s, std::uint64_t log2_ranks,
                                         std::int64_t index) {
  const auto i = static_cast<std::uint64_t>(index);
  switch (s.distribution) {
    case Distribution::equal:
      return random_below(s.seed, 0, 0, s.spread);
    case Distribution::sorted:
      // The i-th of `count` equal steps, and a random place in it: ascending, no two runs alike.
      return static_cast<std::uint32_t>((i * s.spread + random_below(s.seed, 1, i, s.spread)) /
                                        static_cast<std::uint64_t>(s.count));
    case Distribution::zipf: {
      const std::uint32_t rank = zipf_rank(random_bits(s.seed, 0, i), log2_ranks, s.ranks);
      const std::uint64_t first = std::uint64_t{rank} * s.spread / s.ranks;
      const std::uint64_t next = (std::uint64_t{rank} + 1) * s.spread / s.ranks;
      return static_cast<std::uint32_t>(
          first + random_below(s.seed, 1, i, static_cast<std::uint32_t>(next - first)));
    }
    case Distribution::uniform:
      break;
  }
  return random_below(s.seed, 0, i, s.spread);
}

/// Inputs for verification beside the timed one (Instance::challenges). Equal keys would not show
/// that a tile was counted twice and the next one never, sorted keys hardly. Here no key can stand
/// for another nearby: keys come in runs, a run of R = 32 keys (or as many as there are counters)
/// has R counters in turn, from a random first one on. The runs of challenge 2 begin in the middle
/// of those of challenge 1, so that any two keys at most R/2 places apart lie in one run, and
/// therefore in different counters, in one of the two. Tiles differ as random ones do: they have as
/// many keys of each counter as the runs bring that begin near it.
inline constexpr int challenge_count = 2;

struct Challenge {
  int number = 1;  // 1 ... challenge_count
  std::uint64_t seed = 0;
  std::uint32_t counters = 1;    // bins; one more where keys outside the range are possible
  std::uint32_t stray_keys = 0;  // how many values lie behind the range
  Binning binning;
  AMASIA_HD constexpr std::uint32_t run() const { return counters < 32 ? counters : 32; }
};

/// The counter that key `index` of a challenge falls into.
AMASIA_HD constexpr std::uint32_t challenge_counter(const Challenge& c, std::int64_t index) {
  const std::uint64_t place = static_cast<std::uint64_t>(index) + (c.number == 2 ? c.run() / 2 : 0);
  const std::uint64_t stream = 2 * static_cast<std::uint64_t>(c.number);
  const std::uint32_t first = random_below(c.seed, stream, place / c.run(), c.counters);
  return static_cast<std::uint32_t>((first + place % c.run()) % c.counters);
}

/// Key `index`, as unsigned: any one of its counter's.
AMASIA_HD constexpr std::uint32_t challenge_key(const Challenge& c, std::int64_t index) {
  const std::uint32_t counter = challenge_counter(c, index);
  const bool stray = counter == c.binning.bins;
  const std::uint32_t first = first_key_of(counter, c.binning);
  const std::uint32_t keys = stray ? c.stray_keys : first_key_of(counter + 1, c.binning) - first;
  const std::uint64_t stream = 2 * static_cast<std::uint64_t>(c.number) + 1;
  return first + random_below(c.seed, stream, static_cast<std::uint64_t>(index), keys);
}

/// The parameters, checked against each other.
struct Setup {
  KeyType type = KeyType::int32;
  Binning binning;
  Source source;
  std::string key_file;  // empty: generated keys
  std::int64_t key_bytes() const { return type == KeyType::uint8 ? 1 : 4; }
  /// Counters a kernel keeps. Of 8-bit keys it counts the values, which the merge sorts into bins.
  std::int64_t counters() const {
    return type == KeyType::uint8 ? byte_values : std::int64_t{binning.bins} + 1;
  }
  /// Whether keys outside the range are possible.
  bool strays() const { return !key_file.empty() || source.spread > binning.range; }
};

/// number: 1 ... challenge_count.
Challenge challenge_of(const Setup& setup, int number);

/// What the fullest counter holds at most, but for a chance below 10^-14: its mean and eight
/// standard deviations.
double most_in_fullest_counter(const Setup& setup);

/// Throws UsageError with the parameter and its limit.
Setup make_setup(const Parameters& p, std::uint64_t seed);

/// Geometry of the CUDA sample histogram256 (2007-2024): 240 blocks of 6 warps, each warp with a
/// sub-histogram of its own; then one block per bin adds the blocks' results.
inline constexpr int original_blocks = 240;
inline constexpr int original_warps = 6;
/// A warp's sub-histogram is in shared memory, of which no GPU up to sm_120 has more than 228 KB.
inline constexpr std::int64_t most_original_counters = 228 * 1024 / (4 * original_warps);

/// What a variant works on; device pointers. `keys` is read only, readable up to a multiple of 16
/// bytes. A run ends with bins + 1 numbers in `counts`, which has room for a multiple of four.
struct Problem {
  const void* keys = nullptr;
  std::int64_t count = 0;
  KeyType type = KeyType::int32;
  Binning binning;
  std::int64_t counters = 0;     // Setup::counters()
  unsigned* counts = nullptr;    // (bins + 1, padded)
  unsigned* partials = nullptr;  // (original_blocks, counters); nullptr with too many counters
  bool strays = false;           // keys outside the range are possible
  unsigned* scratch = nullptr;   // of schedule partitioned; nullptr where it has nothing to do
};

const std::vector<ParameterSpec>& parameter_specs();

/// Words of scratch that schedule partitioned takes: none where a block or two hold all counters.
std::int64_t scratch_words(const Setup& setup);

/// Bytes of device memory of one instance. Throws UsageError when they do not fit in 63 bits.
std::int64_t device_bytes(const Setup& setup);

}  // namespace amasia::histogram
