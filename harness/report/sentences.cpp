#include "harness/report/sentences.hpp"

#include <fmt/format.h>

#include "harness/report/cells.hpp"
#include "harness/results/gains.hpp"

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

}  // namespace

std::string sentence_of(const Comparison& comparison, const std::string& name,
                        const std::string& against) {
  const SpeedClaim claim = comparison.claim;
  if (!is_difference(claim)) {
    return fmt::format("{} against {}: {}, {}", name, against, word_of(claim),
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
  const std::vector<Gain> gains = gains_of(group);
  std::vector<std::string> lines;
  for (const Comparison& comparison : group.comparisons) {
    if (comparison.role != Role::best || comparison.control) continue;
    if (!is_difference(comparison.claim)) continue;
    lines.push_back(fmt::format(
        "{}: {}", group.key.to_string(),
        sentence_of(comparison, strategy_of(comparison.variant), strategy_of(comparison.against))));
    for (const Gain& gain : gains) {
      if (gain.total == &comparison) lines.back() += parts_of(gain);
    }
  }
  return lines;
}

}  // namespace amasia
