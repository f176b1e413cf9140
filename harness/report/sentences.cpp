#include "harness/report/sentences.hpp"

#include <fmt/format.h>

#include "harness/report/cells.hpp"

namespace amasia {

std::vector<std::string> sentences(const GroupResult& group) {
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
  }
  return lines;
}

}  // namespace amasia
