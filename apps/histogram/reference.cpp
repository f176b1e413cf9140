// The CPU side of histogram: parameters, sizes, work and two references.
#include <algorithm>
#include <limits>
#include <memory>

#include "apps/histogram/histogram.hpp"
#include "apps/histogram/key_file.hpp"
#include "harness/registry.hpp"
#include "variants/geometry/tile.cuh"

namespace amasia::histogram {
namespace {

using Kind = ParameterSpec::Kind;

// Below this a private histogram per thread costs more than the keys.
constexpr std::int64_t parallel_keys = 1 << 16;

Distribution distribution_of(const std::string& name) {
  if (name == "equal") return Distribution::equal;
  if (name == "zipf") return Distribution::zipf;
  return name == "sorted" ? Distribution::sorted : Distribution::uniform;
}

[[noreturn]] void refuse(const std::string& parameter, std::int64_t value,
                         const std::string& limit) {
  throw UsageError("parameter " + parameter + ": " + std::to_string(value) + " " + limit);
}

}  // namespace

const std::vector<ParameterSpec>& parameter_specs() {
  static const std::vector<ParameterSpec> specs{
      {"keys", Kind::integer, "number of keys (counters have 32 bits)", "268435456", 1, most_keys},
      {"type", Kind::choice, "type of the keys", "int32", 1, 1, {"uint8", "int32"}},
      {"bins", Kind::integer, "number of bins, for uint8 at most 256", "256", 1, most_bins},
      {"distribution",
       Kind::choice,
       "of generated keys",
       "uniform",
       1,
       1,
       {"uniform", "equal", "zipf", "sorted"}},
      {"range", Kind::integer,
       "keys 0 ... range-1 are binned, others counted apart (0: 256 for uint8, 2^30 for int32)",
       "0", 0, std::numeric_limits<std::int32_t>::max()},
      {"spread", Kind::integer, "generated keys are 0 ... spread-1 (0: as range)", "0", 0,
       std::int64_t{1} << 31},
      {"key_file",
       Kind::file,
       "file of keys, uint8: its bytes, int32: text, one per line (default: generated)",
       "",
       1,
       1,
       {}},
  };
  return specs;
}

Setup make_setup(const Parameters& p, std::uint64_t seed) {
  Setup setup;
  const bool bytes = p.text("type") == "uint8";
  setup.type = bytes ? KeyType::uint8 : KeyType::int32;
  const std::int64_t bins = p.integer("bins");
  std::int64_t range = p.integer("range");
  if (range == 0) range = bytes ? byte_values : default_range;
  if (bytes && range > byte_values) refuse("range", range, "exceeds the 256 values of uint8");
  if (bytes && bins > byte_values) refuse("bins", bins, "exceeds the 256 values of uint8");
  if (bins > range) {
    refuse("bins", bins, "exceeds the range, " + std::to_string(range) + ": bins would stay empty");
  }
  std::int64_t spread = p.integer("spread");
  if (spread == 0) spread = range;
  if (bytes && spread > byte_values) refuse("spread", spread, "exceeds the 256 values of uint8");
  setup.binning = make_binning(bins, range);
  setup.source = {distribution_of(p.text("distribution")), seed, p.integer("keys"),
                  static_cast<std::uint32_t>(spread),
                  // No more ranks than keys that can differ.
                  static_cast<std::uint32_t>(std::min(bins, spread))};
  setup.key_file = p.text("key_file");
  return setup;
}

std::int64_t device_bytes(const Setup& setup) {
  const std::int64_t keys =
      checked_product({padded_pitch<std::uint8_t>(checked_product(
                          {setup.source.count, setup.key_bytes()}, "bytes of the keys"))},
                      "bytes of the keys");
  const std::int64_t counts = padded_pitch<std::uint32_t>(std::int64_t{setup.binning.bins} + 1);
  const std::int64_t partials =
      setup.counters() <= most_original_counters ? original_blocks * setup.counters() : 0;
  return keys + 4 * (counts + partials);
}

std::vector<std::int32_t> host_keys(const Setup& setup) {
  const std::int64_t count = setup.source.count;
  if (!setup.key_file.empty()) {
    return setup.type == KeyType::uint8 ? read_byte_keys(setup.key_file, count)
                                        : read_text_keys(setup.key_file, count);
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

namespace {

using Size = std::map<std::string, std::string>;

Size size(std::int64_t keys, const char* type, std::int64_t bins,
          const char* distribution = "uniform") {
  return {{"keys", std::to_string(keys)},
          {"type", type},
          {"bins", std::to_string(bins)},
          {"distribution", distribution}};
}

Size with(Size s, const char* name, std::int64_t value) {
  s[name] = std::to_string(value);
  return s;
}

class Histogram : public App {
 public:
  std::string_view name() const override { return "histogram"; }
  std::string_view summary() const override {
    return "counts of keys in even bins (atomic increments)";
  }
  const std::vector<ParameterSpec>& parameters() const override { return parameter_specs(); }

  std::vector<Parameters> sizes(Preset preset) const override {
    constexpr std::int64_t full = std::int64_t{1} << 28;
    std::vector<Size> all;
    switch (preset) {
      case Preset::smoke:
        // Degenerate and unaligned counts; every distribution; bins that are no power of two, that
        // need fewer copies, more blocks, several windows; keys outside the range; a bin per key.
        // One is long enough for every ring to go round; the others are short, for racecheck.
        all = {
            size(1, "int32", 256),
            size(3, "uint8", 256),
            size(1009, "int32", 1),
            size(65537, "uint8", 100, "zipf"),
            size(300007, "uint8", 256),
            size(100003, "uint8", 64, "sorted"),
            with(with(size(200003, "uint8", 37), "range", 200), "spread", 256),
            size(3900007, "int32", 256),
            size(150001, "int32", 256, "equal"),
            size(200009, "uint8", 256, "equal"),
            size(77777, "int32", 1000, "zipf"),
            size(131072, "int32", 2048),
            with(with(size(99991, "int32", 4096, "sorted"), "range", 1000000), "spread", 1500000),
            with(with(size(12347, "int32", 97), "range", 97), "spread", std::int64_t{1} << 31),
            with(size(50021, "int32", 12289), "range", 2147483647),
            size(100003, "int32", 65536, "zipf"),
            size(70001, "int32", 1048576)};
        break;
      case Preset::quick:
        all = {size(full, "int32", 256)};
        break;
      case Preset::paper:
        all = {size(full, "int32", 256), size(full, "int32", 2048), size(full, "uint8", 256)};
        break;
      case Preset::sweep:
        // Bins up to what one SM holds and past it; then what the distribution does.
        all = {size(full, "int32", 1024),         size(full, "int32", 4096),
               size(full, "int32", 65536),        size(full, "int32", 1048576),
               size(full, "int32", 256, "equal"), size(full, "int32", 2048, "zipf"),
               size(full, "uint8", 256, "zipf"),  size(1 << 20, "int32", 256)};
        break;
    }
    std::vector<Parameters> result;
    for (const Size& s : all) result.emplace_back(parameters(), s);
    return result;
  }

  Work work(const Parameters& p) const override {
    const Setup setup = make_setup(p, 0);
    Work w;
    w.kind = Work::Kind::int32;
    w.operations = static_cast<double>(setup.source.count);
    w.bytes_read = static_cast<double>(setup.source.count * setup.key_bytes());
    w.bytes_written = 4.0 * (setup.binning.bins + 1);
    return w;
  }

  std::int64_t device_bytes(const Parameters& p) const override {
    return histogram::device_bytes(make_setup(p, 0));
  }

  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
    const Setup setup = make_setup(p, seed);
    return compare(count_keys(setup), count_by_sorting(setup));
  }
};

const bool registered = register_app(std::make_unique<Histogram>());

}  // namespace
}  // namespace amasia::histogram
