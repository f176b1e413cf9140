#include "harness/text/pattern.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace amasia {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.emplace_back(text.substr(begin, end - begin));
  }
  return parts;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  return ::fnmatch(std::string(pattern).c_str(), std::string(text).c_str(), FNM_NOESCAPE) == 0;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string suggestion(std::string_view name, const std::vector<std::string>& valid) {
  std::multimap<std::size_t, std::string_view> by_distance;  // equally near ones in the order given
  for (const std::string& candidate : valid) {
    const std::size_t distance = edit_distance(name, candidate);
    // Names further off share no more than chance.
    if (2 * distance <= std::max(name.size(), candidate.size())) {
      by_distance.emplace(distance, candidate);
    }
  }
  constexpr std::size_t most_near = 3;
  std::vector<std::string_view> near;
  for (const auto& [distance, candidate] : by_distance) {
    if (near.size() < most_near) near.push_back(candidate);
  }
  if (!near.empty()) return fmt::format("did you mean {}?", fmt::join(near, " or "));
  if (valid.empty()) return "there are none";
  constexpr std::size_t most = 12;  // what still reads as one line
  std::vector<std::string> shown(
      valid.begin(), valid.begin() + static_cast<std::ptrdiff_t>(std::min(valid.size(), most)));
  if (shown.size() < valid.size()) shown.emplace_back("...");
  return fmt::format("valid: {}", fmt::join(shown, ", "));
}

}  // namespace amasia
