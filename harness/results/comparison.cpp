#include "harness/results/comparison.hpp"

#include <algorithm>
#include <string>

#include "harness/results/claim.hpp"

namespace amasia {

bool always_throttled(const Row& row) {
  return std::all_of(row.samples.begin(), row.samples.end(),
                     [](const Sample& s) { return s.throttled; });
}

std::vector<double> usable_times(const Row& row) {
  const bool all = always_throttled(row);
  std::vector<double> times;
  for (const Sample& s : row.samples) {
    if (all || !s.throttled) times.push_back(s.time_ms);
  }
  return times;
}

std::pair<std::vector<double>, std::vector<double>> paired_times(const Row& a, const Row& b) {
  std::pair<std::vector<double>, std::vector<double>> pairs;
  const bool all_a = always_throttled(a), all_b = always_throttled(b);
  std::size_t j = 0;
  for (const Sample& s : a.samples) {
    while (j < b.samples.size() && b.samples[j].round < s.round) ++j;
    if (j == b.samples.size()) break;
    if (b.samples[j].round == s.round && (all_a || !s.throttled) &&
        (all_b || !b.samples[j].throttled)) {
      pairs.first.push_back(s.time_ms);
      pairs.second.push_back(b.samples[j].time_ms);
    }
  }
  return pairs;
}

const Row* reference_of(const std::vector<Row>& rows, const Row& row) {
  const std::string app = row.variant.substr(0, row.variant.find('/'));
  // A comparator is compared with what one would ship: the tuned baseline.
  const Role role = row.role == Role::comparator ? Role::best : row.role;
  for (const Row& r : rows) {
    if (r.variant == app + "/baseline" && r.role == role && r.repeat == 0 &&
        r.status == RowStatus::ok && &r != &row) {
      return &r;
    }
  }
  return nullptr;
}

std::vector<Comparison> compare_rows(const std::vector<Row>& rows, double joint_confidence) {
  std::vector<std::pair<const Row*, const Row*>> pairs;
  for (const Row& row : rows) {
    if (row.status != RowStatus::ok || row.role == Role::candidate) continue;
    if (const Row* reference = reference_of(rows, row)) pairs.emplace_back(&row, reference);
  }
  const double confidence =
      corrected_confidence(joint_confidence, std::max<int>(1, static_cast<int>(pairs.size())));
  std::vector<Comparison> comparisons;
  for (const auto& [row, reference] : pairs) {
    const auto [reference_times, times] = paired_times(*reference, *row);
    if (times.empty()) continue;
    Comparison c;
    c.variant = row->variant;
    c.role = row->role;
    c.against = reference->variant;
    c.control = row->repeat > 0;
    c.speedup = paired_ratio(reference_times, times, confidence);
    c.verdict = verdict_on(c.speedup);
    comparisons.push_back(std::move(c));
  }
  for (Comparison& c : comparisons) c.claim = claim_of(comparisons, c);
  return comparisons;
}

}  // namespace amasia
