#include "harness/results/recomputed.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "harness/results/claim.hpp"
#include "harness/results/comparison.hpp"
#include "harness/results/fields.hpp"
#include "harness/results/place.hpp"

namespace amasia {
namespace {

/// Sums and logarithms of another compiler may differ in the last bits.
bool same_number(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

/// The confidence that gives back an interval of this coverage: the least that it still reaches.
double confidence_of(double coverage) { return std::clamp(coverage - 1e-12, 1e-12, 1 - 1e-12); }

[[noreturn]] void refuse(const Place& at, const std::string& expected, const std::string& found) {
  throw ResultError(fmt::format("{}: expected {}, as the samples have it, found {}", at.to_string(),
                                expected, found));
}

/// Every member of two intervals of one kind.
template <class Interval>
void check_interval(const Interval& found, const Interval& expected, const Place& at) {
  for_each_field<Interval>([&](const auto& field) {
    const auto is = found.*field.member;
    const auto should_be = expected.*field.member;
    if (!same_number(static_cast<double>(is), static_cast<double>(should_be))) {
      refuse(Place(at, field.name), fmt::format("{}", should_be), fmt::format("{}", is));
    }
  });
}

void check_median(const std::optional<MedianInterval>& found, const std::vector<double>& values,
                  const Place& at) {
  if (!found) return;
  if (values.empty()) refuse(at, "nothing", fmt::format("a median of {}", found->median));
  check_interval(*found, median_interval(values, confidence_of(found->coverage)), at);
}

/// The joint confidence that was asked for.
double asked_confidence(const Provenance& provenance) {
  const auto setting = provenance.settings.find("confidence");
  double confidence = 0.95;  // where the file does not say, as the program has it
  if (setting != provenance.settings.end()) {
    const std::string& text = setting->second;
    std::from_chars(text.data(), text.data() + text.size(), confidence);
  }
  return std::clamp(confidence, 0.5, 1 - 1e-12);
}

void check_comparison(const GroupResult& group, const Comparison& comparison, double asked,
                      const Place& at) {
  const auto compared = rows_of(group.rows, comparison);
  if (!compared) {
    refuse(at, "no comparison",
           fmt::format("{} against {}", comparison.variant, comparison.against));
  }
  const auto [reference_times, times] = paired_times(*compared->reference, *compared->row);
  const Place speedup(at, "speedup");
  if (times.empty()) refuse(speedup, "nothing", fmt::format("{}", comparison.speedup.ratio));
  const double confidence = confidence_of(comparison.speedup.coverage);
  RatioInterval again = paired_ratio(reference_times, times, confidence);
  // Too few rounds for the confidence that was asked for: nothing was resolved, whatever the ratio.
  if (comparison.speedup.coverage <
      corrected_confidence(asked, static_cast<int>(group.rows.size() + group.comparisons.size()))) {
    again.resolved = again.resolved && comparison.speedup.resolved;
  }
  check_interval(comparison.speedup, again, speedup);
  const auto check_word = [&](std::string_view name, std::string_view found,
                              std::string_view implied) {
    if (found != implied) refuse(Place(at, name), std::string(implied), std::string(found));
  };
  check_word("verdict", word_of(comparison.verdict), word_of(verdict_on(comparison.speedup)));
  check_word("claim", word_of(comparison.claim), word_of(claim_of(group.comparisons, comparison)));
}

void check_group(const GroupResult& group, double asked, const Place& at) {
  const Place rows(at, "rows"), comparisons(at, "comparisons");
  for (std::size_t r = 0; r < group.rows.size(); ++r) {
    const Place row(rows, r);
    check_median(group.rows[r].time_ms, usable_times(group.rows[r]), Place(row, "time_ms"));
  }
  for (std::size_t c = 0; c < group.comparisons.size(); ++c) {
    check_comparison(group, group.comparisons[c], asked, Place(comparisons, c));
  }
}

void check_microbenchmark(const MicrobenchmarkResult& result, const Place& at) {
  const Place rows(at, "rows");
  for (std::size_t r = 0; r < result.rows.size(); ++r) {
    std::vector<double> values;
    for (const Reading& reading : result.rows[r].samples) values.push_back(reading.value);
    const Place row(rows, r);
    check_median(result.rows[r].value, values, Place(row, "value"));
  }
}

}  // namespace

void check_summaries(const ResultFile& file) {
  const Place document, groups(document, "groups"), microbenchmarks(document, "microbenchmarks");
  const double asked = asked_confidence(file.provenance);
  for (std::size_t g = 0; g < file.groups.size(); ++g) {
    check_group(file.groups[g], asked, Place(groups, g));
  }
  for (std::size_t m = 0; m < file.microbenchmarks.size(); ++m) {
    check_microbenchmark(file.microbenchmarks[m], Place(microbenchmarks, m));
  }
}

}  // namespace amasia
