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

/// What a speed-up at best consists of, where that is more than movement.
std::string parts_of(const Gain& gain) {
  if (gain.by_schedule == nullptr) return "";
  const SpeedClaim claim = gain.by_movement->claim;
  const bool resolved = claim == SpeedClaim::faster || claim == SpeedClaim::slower;
  return fmt::format(", {} of it by schedule ({} for {}) and {} by movement{}",
                     ratio_text(*gain.by_schedule), gain.schedule, gain.baseline_schedule,
                     ratio_text(*gain.by_movement),
                     resolved ? "" : fmt::format(", {}", word_of(claim)));
}

}  // namespace

std::vector<std::string> sentences(const GroupResult& group) {
  const std::vector<Gain> gains = gains_of(group);
  std::vector<std::string> lines;
  for (const Comparison& comparison : group.comparisons) {
    if (comparison.role != Role::best || comparison.control) continue;
    const SpeedClaim claim = comparison.claim;
    const RatioInterval& ratio = comparison.speedup;
    const bool faster = claim == SpeedClaim::faster;
    if (!faster && claim != SpeedClaim::slower) continue;
    const Estimate times =
        faster ? estimate_of(ratio) : Estimate{1 / ratio.ratio, 1 / ratio.high, 1 / ratio.low};
    lines.push_back(fmt::format("{}: {} ran {}x [{}, {}] {} than {}", group.key.to_string(),
                                strategy_of(comparison.variant), format_number(times.value),
                                format_number(times.low), format_number(times.high), word_of(claim),
                                strategy_of(comparison.against)));
    for (const Gain& gain : gains) {
      if (gain.total == &comparison) lines.back() += parts_of(gain);
    }
  }
  return lines;
}

}  // namespace amasia
