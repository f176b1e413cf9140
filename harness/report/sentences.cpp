#include "harness/report/sentences.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "harness/conclusions/claim.hpp"
#include "harness/conclusions/gains.hpp"
#include "harness/report/cells.hpp"
#include "harness/statistics/stopping_rule.hpp"

namespace amasia {

namespace {

std::string ratio_text(const Comparison& c) {
  return fmt::format("{}x [{}, {}]", format_number(c.speedup.ratio), format_number(c.speedup.low),
                     format_number(c.speedup.high));
}

bool is_difference(SpeedClaim claim) {
  return claim == SpeedClaim::faster || claim == SpeedClaim::slower;
}

/// What a speed-up at best consists of, where that is more than movement.
std::string parts_of(const Gain& gain) {
  if (gain.by_schedule == nullptr) return "";
  const SpeedClaim claim = gain.by_movement->claim;
  const bool resolved = is_difference(claim);
  return fmt::format(", {} of it by schedule ({} for {}) and {} by movement{}",
                     ratio_text(*gain.by_schedule), gain.schedule, gain.baseline_schedule,
                     ratio_text(*gain.by_movement),
                     resolved ? "" : fmt::format(", {}", word_of(claim)));
}

/// What may resolve a claim that is not; empty where nothing does.
std::string remedy_of(SpeedClaim claim, int rounds) {
  switch (claim) {
    case SpeedClaim::not_resolved:
      return fmt::format("; more rounds (--rounds {}) may resolve it",
                         2 * std::max(rounds, least_rounds) + 1);
    case SpeedClaim::within_noise:
      return "; a machine on which baseline differs less from itself may resolve it";
    default:
      return "";
  }
}

/// The comparisons of a group that have a sentence, the largest speed-up first: those with a claim,
/// and of those without one what ran faster than everything that was found faster.
std::vector<const Comparison*> said_of(const GroupResult& group) {
  std::vector<const Comparison*> best;
  double fastest = 1;
  for (const Comparison& c : group.comparisons) {
    if (c.role != Role::best || c.control || c.claim == SpeedClaim::invalid) continue;
    if (!is_difference(c.claim) && most_difference(c)) continue;  // as good as baseline
    best.push_back(&c);
    if (c.claim == SpeedClaim::faster) fastest = std::max(fastest, c.speedup.ratio);
  }
  std::erase_if(best, [&](const Comparison* c) {
    return !is_difference(c->claim) && c->speedup.ratio <= fastest;
  });
  std::stable_sort(best.begin(), best.end(), [](const Comparison* a, const Comparison* b) {
    return a->speedup.ratio > b->speedup.ratio;
  });
  return best;
}

/// "0.8 %", never less than there is.
std::string percent_up(double share) {
  return fmt::format("{:.1f} %", std::ceil(1000 * share) / 10);
}

/// Where each comparison at best is a tie, that.
std::optional<std::string> tie_of(const GroupResult& group) {
  double most = 0;
  int ties = 0;
  for (const Comparison& c : group.comparisons) {
    if (c.role != Role::best || c.control) continue;
    const auto difference = most_difference(c);
    if (!difference) return std::nullopt;
    most = std::max(most, *difference);
    ++ties;
  }
  if (ties == 0) return std::nullopt;
  return fmt::format("{}: a tie: no strategy differs from baseline by more than {}",
                     group.key.to_string(), percent_up(most));
}

}  // namespace

std::string sentence_of(const Comparison& comparison, const std::string& name,
                        const std::string& against) {
  const SpeedClaim claim = comparison.claim;
  if (!is_difference(claim)) {
    const auto tie = most_difference(comparison);
    return fmt::format(
        "{} against {}: {}, {}", name, against,
        tie ? "no difference larger than " + percent_up(*tie) : std::string(word_of(claim)),
        ratio_text(comparison));
  }
  const RatioInterval& ratio = comparison.speedup;
  const Estimate times = claim == SpeedClaim::faster
                             ? estimate_of(ratio)
                             : Estimate{1 / ratio.ratio, 1 / ratio.high, 1 / ratio.low};
  return fmt::format("{} ran {}x [{}, {}] {} than {}", name, format_number(times.value),
                     format_number(times.low), format_number(times.high), word_of(claim), against);
}

std::vector<std::string> sentences(const GroupResult& group) {
  if (const auto tie = tie_of(group)) return {*tie};
  const std::vector<Gain> gains = gains_of(group);
  std::vector<std::string> lines;
  for (const Comparison* comparison : said_of(group)) {
    lines.push_back(fmt::format("{}: {}", group.key.to_string(),
                                sentence_of(*comparison, strategy_of(comparison->variant),
                                            strategy_of(comparison->against))));
    if (!is_difference(comparison->claim)) {
      lines.back() += remedy_of(comparison->claim, group.rounds);
      continue;
    }
    for (const Gain& gain : gains) {
      if (gain.total == comparison) lines.back() += parts_of(gain);
    }
  }
  return lines;
}

}  // namespace amasia
