// histogram as the harness sees it: parameters, sizes, work.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "apps/common/parameters.hpp"
#include "apps/histogram/cpu_reference.hpp"
#include "apps/histogram/geometry.hpp"
#include "apps/histogram/histogram.hpp"
#include "apps/histogram/schedules.hpp"
#include "harness/registry.hpp"
#include "inputs/formats/text_writer.hpp"
#include "variants/geometry/tile.hpp"

namespace amasia::histogram {
namespace {

using Kind = ParameterSpec::Kind;

constexpr const char* distributions[] = {"uniform", "equal", "zipf", "sorted"};  // Distribution

[[noreturn]] void refuse(const std::string& parameter, std::int64_t value,
                         const std::string& limit) {
  throw UsageError("parameter " + parameter + ": " + std::to_string(value) + " " + limit);
}

}  // namespace

const std::vector<ParameterSpec>& parameter_specs() {
  static const std::vector<ParameterSpec> specs{
      {"keys", Kind::integer, "number of keys; no bin may get more than 4294967295 of them",
       "268435456", 1, most_keys},
      choice("type", "type of the keys", "int32", {"uint8", "int32"}),
      {"bins", Kind::integer, "number of bins, for uint8 at most 256", "256", 1, most_bins},
      choice("distribution", "of generated keys", "uniform",
             {std::begin(distributions), std::end(distributions)}),
      {"range", Kind::integer,
       "keys 0 ... range-1 are binned, others counted apart (0: 256 for uint8, 2^30 for int32)",
       "0", 0, std::numeric_limits<std::int32_t>::max()},
      {"spread", Kind::integer, "generated keys are 0 ... spread-1 (0: as range)", "0", 0,
       std::int64_t{1} << 31},
      {"key_file", Kind::file,
       "file of keys, uint8: its bytes, int32: text, one per line (default: generated)", ""},
      {"out_file", Kind::file,
       "where to write the counts as text, \"bin count\" per line (default: nowhere)", ""},
  };
  return specs;
}

Challenge challenge_of(const Setup& setup, int number) {
  Challenge c;
  c.number = number;
  c.seed = setup.source.seed;
  c.binning = setup.binning;
  const std::int64_t values = setup.type == KeyType::uint8 ? byte_values : std::int64_t{1} << 32;
  c.stray_keys = static_cast<std::uint32_t>(values - setup.binning.range);
  c.counters = setup.binning.bins + (setup.strays() && c.stray_keys > 0 ? 1 : 0);
  return c;
}

double most_in_fullest_counter(const Setup& setup) {
  const Source& s = setup.source;
  const double range = setup.binning.range, spread = s.spread, ranks = s.ranks;
  const double width = std::ceil(range / setup.binning.bins);
  double share = 1;  // equal
  if (s.distribution == Distribution::uniform || s.distribution == Distribution::sorted) {
    share = std::max(std::min(1.0, width / spread), 1 - range / spread);
  } else if (s.distribution == Distribution::zipf) {
    // The first ranks are the most frequent, so the first bin is the fullest; or the keys outside.
    const auto below = [&](double rank) {
      return std::log2(std::min(rank, ranks) + 1) / std::log2(ranks + 1);
    };
    share = std::max(below(std::ceil(width / spread * ranks)),
                     1 - below(std::floor(range / spread * ranks)));
  }
  const double mean = share * static_cast<double>(s.count);
  return share == 1 ? mean : mean + 8 * std::sqrt(mean);
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
  setup.source = {choice_of<Distribution>(p.text("distribution"), distributions), seed,
                  p.integer("keys"), static_cast<std::uint32_t>(spread),
                  // No more ranks than keys that can differ.
                  static_cast<std::uint32_t>(std::min(bins, spread))};
  setup.key_file = p.text("key_file");
  if (!setup.key_file.empty()) {
    if (setup.source.count > most_in_a_counter) {
      refuse("keys", setup.source.count,
             "are too many from a file, whose keys may all have one bin: a counter ends at " +
                 std::to_string(most_in_a_counter));
    }
  } else if (most_in_fullest_counter(setup) > static_cast<double>(most_in_a_counter)) {
    refuse("keys", setup.source.count,
           "bring the fullest bin past " + std::to_string(most_in_a_counter) +
               ", where its counter of 32 bits ends");
  }
  return setup;
}

std::int64_t scratch_words(const Setup& setup) {
  // NOLINTNEXTLINE(bugprone-implicit-widening-of-multiplication-result): a small constant
  if (setup.counters() <= 2 * range_counters) return 0;
  return partition_words(setup.counters(), setup.source.count);
}

std::int64_t device_bytes(const Setup& setup) {
  const std::int64_t keys =
      checked_product({padded_pitch<std::uint8_t>(checked_product(
                          {setup.source.count, setup.key_bytes()}, "bytes of the keys"))},
                      "bytes of the keys");
  const std::int64_t counts = padded_pitch<std::uint32_t>(std::int64_t{setup.binning.bins} + 1);
  const std::int64_t partials =
      setup.counters() <= most_original_counters ? original_blocks * setup.counters() : 0;
  return keys + 4 * (counts + partials + scratch_words(setup));
}

void write_counts(const std::string& path, const std::vector<std::uint32_t>& counts) {
  formats::TextWriter writer(path);
  for (std::size_t b = 0; b < counts.size(); ++b) {
    writer.number(static_cast<std::int64_t>(b), ' ');
    writer.number(std::int64_t{counts[b]}, '\n');
  }
  writer.finish();
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

  std::vector<Schedule> schedules() const override { return all_schedules(); }

  std::vector<Parameters> sizes(Preset preset) const override {
    constexpr std::int64_t full = std::int64_t{1} << 28;
    std::vector<Size> all;
    switch (preset) {
      case Preset::smoke:
        // Degenerate and unaligned counts; every distribution; bins that are no power of two, that
        // need fewer copies, more blocks, several windows; keys outside the range; a bin per key.
        // Two are long enough for every ring to go round, and the first of them for packed-unseen
        // to look at its counters and go on. Of the last two bins one passes 2^15 in every block,
        // on a GPU of up to 150 SMs, which counters of 16 bits have to notice. The others are
        // short, for racecheck.
        all = {
            size(1, "int32", 256),
            size(3, "uint8", 256),
            size(1009, "int32", 1),
            size(65537, "uint8", 100, "zipf"),
            size(300007, "uint8", 256),
            size(100003, "uint8", 64, "sorted"),
            with(with(size(200003, "uint8", 37), "range", 200), "spread", 256),
            size(5500009, "int32", 256),
            size(150001, "int32", 256, "equal"),
            size(200009, "uint8", 256, "equal"),
            size(77777, "int32", 1000, "zipf"),
            size(131072, "int32", 2048),
            with(with(size(99991, "int32", 4096, "sorted"), "range", 1000000), "spread", 1500000),
            with(with(size(12347, "int32", 97), "range", 97), "spread", std::int64_t{1} << 31),
            with(size(50021, "int32", 12289), "range", 2147483647),
            size(100003, "int32", 65536, "zipf"),
            size(70001, "int32", 1048576),
            size(3900007, "int32", 200000, "zipf"),
            size(9000011, "int32", 2, "zipf")};
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
    return check_references(p, seed);
  }

  void export_outputs(const Parameters& p, Instance& instance) const override {
    if (const std::string& path = p.text("out_file"); !path.empty()) {
      write_counts(path, dynamic_cast<const CountsSource&>(instance).counts());
    }
  }
};

const bool registered = register_app(std::make_unique<Histogram>());

}  // namespace
}  // namespace amasia::histogram
