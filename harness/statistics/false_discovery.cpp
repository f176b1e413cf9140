#include "harness/statistics/false_discovery.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "harness/statistics/statistics.hpp"

namespace amasia {

Discoveries benjamini_hochberg(const std::vector<double>& p_values, double rate) {
  if (!(rate > 0 && rate < 1)) throw std::invalid_argument("a rate must be between 0 and 1");
  const std::size_t count = p_values.size();
  if (count == 0) return {{}, rate};
  std::vector<double> sorted = p_values;
  std::sort(sorted.begin(), sorted.end());
  std::size_t refused = 0;
  for (std::size_t rank = 1; rank <= count; ++rank) {
    const double needed = rate * static_cast<double>(rank) / static_cast<double>(count);
    if (sorted[rank - 1] <= needed) refused = rank;
  }
  Discoveries result;
  result.level =
      rate * static_cast<double>(std::max<std::size_t>(refused, 1)) / static_cast<double>(count);
  for (const double p : p_values) result.found.push_back(refused > 0 && p <= result.level);
  return result;
}

double independent_p_value(const std::vector<double>& reference,
                           const std::vector<double>& candidate) {
  const auto resolved = [&](double confidence) {
    return independent_ratio(reference, candidate, confidence).resolved;
  };
  constexpr double hardly_any = 1e-9;
  constexpr int halvings = 60;  // beyond them a double has no more confidences
  if (!resolved(hardly_any)) return 1;
  double nothing = 0, surely = 1;  // resolved at the first, not at the second
  for (int i = 0; i < halvings; ++i) {
    const double middle = (nothing + surely) / 2;
    // Each side's median has the confidence (1 + middle) / 2, which must be a number below 1.
    if (middle == nothing || middle == surely || (1 + middle) / 2 >= 1) break;
    (resolved(middle) ? nothing : surely) = middle;
  }
  return 1 - nothing;
}

double least_p_value(int n) { return std::min(1.0, std::ldexp(1.0, 2 - n)); }

}  // namespace amasia
