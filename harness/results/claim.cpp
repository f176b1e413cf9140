#include "harness/results/claim.hpp"

#include <algorithm>

#include <fmt/format.h>

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

/// Whether a ratio is no farther from 1 than the row is from itself. A row that is not told from
/// itself says nothing here: what it scatters is in the interval already.
bool within_own_noise(const Comparison& comparison) {
  if (!comparison.itself || !comparison.itself->resolved) return false;
  const double most = std::max(comparison.itself->high, 1 / comparison.itself->low);
  return comparison.speedup.ratio <= most && comparison.speedup.ratio >= 1 / most;
}

}  // namespace

SpeedVerdict verdict_on(const RatioInterval& speedup) {
  if (!speedup.resolved) return SpeedVerdict::not_resolved;
  return speedup.ratio > 1 ? SpeedVerdict::faster : SpeedVerdict::slower;
}

SpeedClaim claim_of(const std::vector<Comparison>& comparisons, const Comparison& comparison) {
  const SpeedClaim said = without_noise(comparison.verdict);
  if (said == SpeedClaim::not_resolved || comparison.control) return said;
  // Only iso, and each schedule of a cross table, has a control of its own: for all else it is that
  // of the baseline at its best.
  const bool by_best = comparison.role != Role::iso && comparison.role != Role::cross;
  const Role role = by_best ? Role::best : comparison.role;
  const bool inside =
      std::any_of(comparisons.begin(), comparisons.end(), [&](const Comparison& control) {
        return control.control && control.role == role &&
               (role != Role::cross || control.schedule == comparison.schedule) &&
               comparison.speedup.ratio >= control.speedup.low &&
               comparison.speedup.ratio <= control.speedup.high;
      });
  return inside || within_own_noise(comparison) ? SpeedClaim::within_noise : said;
}

std::string to_string(const Invalidity& invalidity) {
  return fmt::format("{}: {}; {}", word_of(invalidity.kind), invalidity.reason, invalidity.remedy);
}

namespace {
constexpr std::string_view not_valid_begins = "not valid: ";
}

std::string not_valid(const Invalidity& invalidity) {
  return std::string(not_valid_begins) + to_string(invalidity);
}

std::optional<std::string> invalidity_in(const MicrobenchmarkResult& result) {
  for (const std::string& warning : result.warnings) {
    if (warning.starts_with(not_valid_begins)) return warning.substr(not_valid_begins.size());
  }
  return std::nullopt;
}

void set_claims(GroupResult& group) {
  for (Comparison& c : group.comparisons) {
    c.claim = group.invalid.empty() ? claim_of(group.comparisons, c) : SpeedClaim::invalid;
  }
}

}  // namespace amasia
