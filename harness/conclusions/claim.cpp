#include "harness/conclusions/claim.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "harness/statistics/series.hpp"

namespace amasia {
namespace {

SpeedClaim without_noise(SpeedVerdict verdict) {
  switch (verdict) {
    case SpeedVerdict::faster:
      return SpeedClaim::faster;
    case SpeedVerdict::slower:
      return SpeedClaim::slower;
    case SpeedVerdict::not_resolved:
      break;
  }
  return SpeedClaim::not_resolved;
}

/// Whether a ratio is no farther from 1 than the farther end of a row's difference from itself, in
/// either direction: which of the two ran first is no property of theirs.
bool is_no_farther(double ratio, const RatioInterval& itself) {
  const double most = std::max(itself.high, 1 / itself.low);
  return ratio <= most && ratio >= 1 / most;
}

bool contains(const RatioInterval& interval, double ratio) {
  return ratio >= interval.low && ratio <= interval.high;
}

/// The same of a control; one that is not told from itself has its interval.
bool within_noise_of(const RatioInterval& control, double ratio) {
  return control.resolved ? is_no_farther(ratio, control) : contains(control, ratio);
}

/// A row that is not told from itself says nothing here: what it scatters is in the interval
/// already.
bool within_own_noise(const Comparison& comparison) {
  return comparison.itself && comparison.itself->resolved &&
         is_no_farther(comparison.speedup.ratio, *comparison.itself);
}

/// Whether a ratio is within the noise of its control. Only iso, and each schedule of a cross
/// table, has a control of its own: all else has that of the baseline at its best.
bool within_control(const std::vector<Comparison>& comparisons, const Comparison& comparison) {
  const bool by_best = comparison.role != Role::iso && comparison.role != Role::cross;
  const Role role = by_best ? Role::best : comparison.role;
  return std::any_of(comparisons.begin(), comparisons.end(), [&](const Comparison& control) {
    return control.control && control.role == role &&
           (role != Role::cross || control.schedule == comparison.schedule) &&
           within_noise_of(control.speedup, comparison.speedup.ratio);
  });
}

}  // namespace

SpeedVerdict verdict_on(const RatioInterval& speedup) {
  if (!speedup.resolved) return SpeedVerdict::not_resolved;
  return speedup.ratio > 1 ? SpeedVerdict::faster : SpeedVerdict::slower;
}

SpeedClaim claim_of(const std::vector<Comparison>& comparisons, const Comparison& comparison) {
  const SpeedClaim said = without_noise(comparison.verdict);
  if (said == SpeedClaim::not_resolved || comparison.control) return said;
  return within_control(comparisons, comparison) || within_own_noise(comparison)
             ? SpeedClaim::within_noise
             : said;
}

std::optional<double> most_difference(const Comparison& comparison) {
  const bool nothing =
      comparison.claim == SpeedClaim::not_resolved || comparison.claim == SpeedClaim::within_noise;
  const RatioInterval& ratio = comparison.speedup;
  if (!nothing || ratio.n < least_dependent) return std::nullopt;
  const double most = std::max(ratio.high, 1 / ratio.low) - 1;
  return most <= most_of_a_tie ? std::optional(most) : std::nullopt;
}

std::string to_string(const Invalidity& invalidity) {
  return fmt::format("{}: {}; {}", word_of(invalidity.kind), invalidity.reason, invalidity.remedy);
}

std::vector<std::string> reservations(const MicrobenchmarkResult& result) {
  std::vector<std::string> all;
  for (const Invalidity& why : result.invalid) all.push_back("not valid: " + to_string(why));
  all.insert(all.end(), result.warnings.begin(), result.warnings.end());
  return all;
}

void set_claims(GroupResult& group) {
  for (Comparison& c : group.comparisons) {
    c.claim = group.invalid.empty() ? claim_of(group.comparisons, c) : SpeedClaim::invalid;
  }
}

}  // namespace amasia
