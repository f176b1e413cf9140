#include "apps/hotspot/schedules.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>

namespace amasia::hotspot {

std::vector<int> plan_passes(int steps, const std::vector<int>& available) {
  // Least (number of passes, sum of squares) for each total: dynamic programming over totals.
  struct Best {
    std::int64_t passes = INT64_MAX;
    std::int64_t squares = 0;
    int last = 0;
  };
  std::vector<Best> best(static_cast<std::size_t>(steps) + 1);
  best[0].passes = 0;
  for (int total = 1; total <= steps; ++total) {
    Best& b = best[total];
    for (int pass : available) {
      if (pass > total || best[total - pass].passes == INT64_MAX) continue;
      const std::int64_t passes = best[total - pass].passes + 1;
      const std::int64_t squares = best[total - pass].squares + std::int64_t{pass} * pass;
      if (passes < b.passes || (passes == b.passes && squares < b.squares))
        b = {passes, squares, pass};
    }
    assert(b.passes != INT64_MAX);
  }
  std::vector<int> plan;
  for (int total = steps; total > 0; total -= best[total].last) plan.push_back(best[total].last);
  std::sort(plan.rbegin(), plan.rend());
  return plan;
}

std::optional<std::string> pair_objection(const Problem& problem, Start start,
                                          const Device& device) {
  if (isotropic(problem.coefficients)) return start_objection(start, device);
  return "it adds pairs of neighbours that must conduct equally: use chip=scaled, or rows = cols, "
         "or "
         "the schedules iso and iso-walk";
}

std::vector<Pass> ping_pong(const Problem& problem, const std::vector<int>& steps) {
  std::vector<Pass> passes;
  Grid<const float> source = problem.temperature;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool to_result = (steps.size() - 1 - i) % 2 == 0;
    const Grid<float>& destination = to_result ? problem.result : problem.scratch;
    passes.push_back({steps[i], source, destination});
    source = {destination.data, destination.rows, destination.columns, destination.pitch};
  }
  return passes;
}

}  // namespace amasia::hotspot
