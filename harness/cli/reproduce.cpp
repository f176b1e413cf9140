#include "harness/cli/commands.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "harness/cli/command_line.hpp"

namespace amasia {
namespace {

/// The points of each microbenchmark that the comparisons of these rows take. A row without a
/// comparison, or with a finding, needs all of its microbenchmark.
std::map<std::string, std::vector<Coordinates>> points_of(const std::vector<InventoryRow>& rows) {
  std::map<std::string, std::vector<Coordinates>> only;
  std::vector<std::string> whole;
  for (const InventoryRow& row : rows) {
    bool compared = false;
    for (const PublishedComparison& c : published_comparisons()) {
      if (c.id != row.id) continue;
      compared = true;
      for (const Selector& s : parse_selectors(c.own)) {
        if (s.kind == Selector::Kind::point) only[s.name].push_back(s.at);
        if (s.kind == Selector::Kind::finding) whole.push_back(s.name);
      }
    }
    if (!compared) whole.insert(whole.end(), row.by.begin(), row.by.end());
  }
  for (const std::string& name : whole) only.erase(name);
  return only;
}

}  // namespace

int reproduce(Request r, const std::vector<std::string>& argv) {
  for (const InventoryRow& row : r.inventory) {
    if (!is_built(row)) continue;
    for (const std::string& by : row.by) {
      const std::string pattern = by.starts_with("app ") ? by.substr(4) : by;
      const bool known = by.starts_with("app ") || find_microbenchmark(by) != nullptr;
      if (known && std::find(r.patterns.begin(), r.patterns.end(), pattern) == r.patterns.end()) {
        r.patterns.push_back(pattern);
      }
    }
  }
  r.preset = "paper";  // the whole question, at the papers' sizes
  r.only = points_of(r.inventory);
  const bool measurable = std::any_of(r.inventory.begin(), r.inventory.end(), is_built);
  if (!measurable) {
    const bool yet = std::any_of(r.inventory.begin(), r.inventory.end(),
                                 [](const InventoryRow& row) { return !row.by.empty(); });
    fmt::print("{}", to_markdown(reproduction_table(ResultFile{}, r.inventory)));
    std::fflush(stdout);
    throw UsageError(yet ? r.study + ": not yet: what measures it is not part of this program"
                         : r.study + ": there is nothing to measure, the table says why");
  }
  return run(std::move(r), argv, Preset::paper);
}

}  // namespace amasia
