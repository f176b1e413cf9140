#include "apps/histogram/cpu_reference.hpp"

#include <algorithm>

#include "inputs/formats/keys.hpp"

namespace amasia::histogram {
namespace {

// Below this a private histogram per thread costs more than the keys.
constexpr std::int64_t parallel_keys = 1 << 16;

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
  const std::vector<std::int32_t> from_file =
      setup.key_file.empty() ? std::vector<std::int32_t>{} : host_keys(setup);
  const std::uint64_t log2_ranks = log2_of(setup.source.ranks + 1);
  std::vector<std::uint32_t> counts(std::size_t{setup.binning.bins} + 1);
#pragma omp parallel if (setup.source.count >= parallel_keys)
  {
    std::vector<std::uint32_t> own(counts.size());
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < setup.source.count; ++i) {
      const std::uint32_t key = from_file.empty() ? key_at(setup.source, log2_ranks, i)
                                                  : static_cast<std::uint32_t>(from_file[i]);
      ++own[bin_of(key, setup.binning)];
    }
#pragma omp critical
    for (std::size_t b = 0; b < counts.size(); ++b) counts[b] += own[b];
  }
  return counts;
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
  verdict.norm = "exact";
  verdict.checked = static_cast<std::int64_t>(expected.size());
  for (std::size_t b = 0; b < expected.size(); ++b) {
    if (b < got.size() && got[b] == expected[b]) continue;
    ++verdict.mismatches;
    if (verdict.first_mismatches.size() < 5) {
      const std::string place =
          b + 1 == expected.size() ? "keys outside the range" : "bin " + std::to_string(b);
      const std::string value = b < got.size() ? std::to_string(got[b]) : "nothing";
      verdict.first_mismatches.push_back("(" + place + "): got " + value + ", expected " +
                                         std::to_string(expected[b]));
    }
  }
  verdict.error = static_cast<double>(verdict.mismatches);
  verdict.passed = verdict.mismatches == 0 && got.size() == expected.size();
  return verdict;
}

Verdict check_references(const Parameters& p, std::uint64_t seed) {
  const Setup setup = make_setup(p, seed);
  return compare(count_keys(setup), count_by_sorting(setup));
}

}  // namespace amasia::histogram
