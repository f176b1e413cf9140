#include "harness/published/reproduction_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "harness/published/comparisons.hpp"
#include "harness/published/selectors.hpp"

namespace amasia {

Table reproduction_table(const ResultFile& file, const std::vector<InventoryRow>& rows) {
  Table table;
  table.columns = {{"id", "id"},         {"what", "what"},           {"own", "here"},
                   {"unit", "unit"},     {"published", "published"}, {"ratio", "here / published"},
                   {"status", "status"}, {"remark", "remark"}};
  for (const InventoryRow& row : rows) {
    const std::string where = row.where + ": " + row.what;
    const auto line = [&](const std::string& what, Cell own, Cell unit, Cell published, Cell ratio,
                          const std::string& status) {
      table.add({row.id, what, std::move(own), std::move(unit), std::move(published),
                 std::move(ratio), status, row.remark.empty() ? Cell() : Cell(row.remark)});
    };
    if (row.by.empty()) {
      line(where, {}, {}, {}, {},
           row.method.starts_with("table: ")  ? "nothing to measure: see docs/reproduction.md"
           : row.method.starts_with("gpus: ") ? "needs another GPU"
                                              : "nothing to measure");
      continue;
    }
    std::vector<const PublishedComparison*> mine;
    for (const PublishedComparison& c : published_comparisons()) {
      if (c.id == row.id) mine.push_back(&c);
    }
    const bool built = is_built(row);
    std::string why;  // its first row has no value, where none has
    const bool measured = std::any_of(row.by.begin(), row.by.end(), [&](const std::string& by) {
      const MicrobenchmarkResult* const m = find_result(file, by);
      if (m != nullptr && why.empty() && !m->rows.empty()) {
        why = fmt::format("{}: {}", word_of(m->rows[0].status), m->rows[0].reason);
      }
      return (m != nullptr && std::any_of(m->rows.begin(), m->rows.end(),
                                          [](const auto& r) { return r.value.has_value(); })) ||
             (by == "ceilings" && !file.ceilings.empty());
    });
    const auto without_value = [&](const std::string& otherwise) {
      return !built ? "not yet: " + row.by.front() + " is not part of this program"
             : measured || why.empty() ? otherwise
                                       : why;
    };
    if (mine.empty()) {
      line(where, {}, {}, {}, {},
           without_value(measured ? "measured; no published number stands beside it"
                                  : "not measured"));
      continue;
    }
    for (const PublishedComparison* c : mine) {
      const PublishedRange range = published_range(*c);
      const Cell published = range.low < range.high
                                 ? Cell(fmt::format("{:.4g} to {:.4g}", range.low, range.high))
                                 : Cell(range.low);
      const std::string label = c->gpu.empty() ? c->label : c->label + ", " + c->gpu;
      std::string reason;
      const auto own = own_value(file, c->own, reason);
      if (!own) {
        line(label, {}, {}, published, {}, without_value(reason));
        continue;
      }
      const double nearest = std::clamp(own->value, range.low, range.high);
      const bool other = row.method.starts_with("other: ");
      const std::string verdict =
          verdict_of(*c, own->value, file.provenance.device.compute_capability);
      line(label, own->value, own->unit, published, own->value / nearest,
           other ? "other method (" + row.method.substr(7) + "): " + verdict : verdict);
    }
  }
  return table;
}

}  // namespace amasia
