#include "apps/histogram/cpu_reference.hpp"

#include <algorithm>
#include <numeric>

#include "apps/common/exact.hpp"
#include "inputs/formats/keys.hpp"

namespace amasia::histogram {
namespace {

// Below this a private histogram per thread costs more than the keys.
constexpr std::int64_t parallel_keys = 1 << 16;

/// counts(bins + 1) of counter_of(i), 0 <= i < keys.
template <class CounterOf>
std::vector<std::uint32_t> count_counters(const Setup& setup, CounterOf counter_of) {
  std::vector<std::uint32_t> counts(std::size_t{setup.binning.bins} + 1);
#pragma omp parallel if (setup.source.count >= parallel_keys)
  {
    std::vector<std::uint32_t> own(counts.size());
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < setup.source.count; ++i) ++own[counter_of(i)];
#pragma omp critical
    for (std::size_t b = 0; b < counts.size(); ++b) counts[b] += own[b];
  }
  return counts;
}

}  // namespace

std::vector<std::int32_t> host_keys(const Setup& setup) {
  const std::int64_t count = setup.source.count;
  if (!setup.key_file.empty()) {
    return setup.type == KeyType::uint8 ? formats::read_byte_keys(setup.key_file, count)
                                        : formats::read_text_keys(setup.key_file, count);
  }
  std::vector<std::int32_t> keys(static_cast<std::size_t>(count));
  const std::uint64_t log2_ranks = log2_of(setup.source.ranks + 1);
#pragma omp parallel for
  for (std::int64_t i = 0; i < count; ++i) {
    keys[i] = static_cast<std::int32_t>(key_at(setup.source, log2_ranks, i));
  }
  return keys;
}

std::vector<std::uint32_t> count_keys(const Setup& setup) {
  if (!setup.key_file.empty()) {
    const std::vector<std::int32_t> keys = host_keys(setup);
    return count_counters(setup, [&](std::int64_t i) {
      return bin_of(static_cast<std::uint32_t>(keys[static_cast<std::size_t>(i)]), setup.binning);
    });
  }
  const std::uint64_t log2_ranks = log2_of(setup.source.ranks + 1);
  return count_counters(setup, [&](std::int64_t i) {
    return bin_of(key_at(setup.source, log2_ranks, i), setup.binning);
  });
}

std::vector<std::uint32_t> count_challenge(const Setup& setup, int number) {
  const Challenge challenge = challenge_of(setup, number);
  return count_counters(setup, [&](std::int64_t i) { return challenge_counter(challenge, i); });
}

std::vector<std::uint32_t> count_by_sorting(const Setup& setup) {
  std::vector<std::int32_t> keys = host_keys(setup);
  std::sort(keys.begin(), keys.end());
  const auto below = [&keys](std::int64_t limit) {
    return std::lower_bound(keys.begin(), keys.end(), limit) - keys.begin();
  };
  const std::int64_t bins = setup.binning.bins, range = setup.binning.range;
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(bins) + 1);
  for (std::int64_t b = 0; b < bins; ++b) {
    // Bin b holds the keys with b <= key * bins / range < b + 1.
    const std::int64_t first = (b * range + bins - 1) / bins;
    const std::int64_t next = ((b + 1) * range + bins - 1) / bins;
    counts[b] = static_cast<std::uint32_t>(below(next) - below(first));
  }
  const auto inside = below(range) - below(0);
  counts[bins] = static_cast<std::uint32_t>(static_cast<std::int64_t>(keys.size()) - inside);
  return counts;
}

Verdict compare(const std::vector<std::uint32_t>& got, const std::vector<std::uint32_t>& expected) {
  Verdict verdict;
  compare_exactly<std::uint32_t>(verdict, got, expected, [&](std::size_t b) {
    return b + 1 == expected.size() ? "keys outside the range" : "bin " + std::to_string(b);
  });
  const auto sum = [](const std::vector<std::uint32_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  };
  if (sum(got) != sum(expected) && verdict.first_mismatches.size() < 5) {
    verdict.first_mismatches.push_back("(all bins): got " + std::to_string(sum(got)) +
                                       ", expected " + std::to_string(sum(expected)));
  }
  verdict.passed = verdict.passed && got.size() == expected.size();
  return verdict;
}

Verdict check_references(const Parameters& p, std::uint64_t seed) {
  const Setup setup = make_setup(p, seed);
  return compare(count_keys(setup), count_by_sorting(setup));
}

}  // namespace amasia::histogram
