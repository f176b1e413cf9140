#include "harness/published/comparisons.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "harness/published/csv_table.hpp"
#include "harness/published/selectors.hpp"

namespace amasia {

const std::vector<PublishedComparison>& published_comparisons() {
  static const std::vector<PublishedComparison> comparisons = [] {
    const CsvTable table = published_table("comparisons");
    std::vector<PublishedComparison> all;
    for (const auto& row : table.rows) {
      const auto at = [&](const char* name) { return row[table.column(name)]; };
      all.push_back({at("id"), at("label"), at("file"), at("where"), at("column"), at("own"),
                     number_of(at("scale"), "comparisons.csv: scale")});
    }
    return all;
  }();
  return comparisons;
}

double published_value(const PublishedComparison& c) {
  const std::string place = c.id + " (" + c.label + ")";
  const CsvTable table = published_table(c.file);
  const Coordinates wanted = conditions_of(c.where, place);
  const std::vector<std::string>* found = nullptr;
  for (const auto& row : table.rows) {
    const bool matches = std::all_of(wanted.begin(), wanted.end(), [&](const auto& pair) {
      return row[table.column(pair.first)] == pair.second;
    });
    if (!matches) continue;
    if (found != nullptr) throw ResultError(place + ": several rows of " + c.file + " match");
    found = &row;
  }
  if (found == nullptr) throw ResultError(place + ": no row of " + c.file + " matches");
  return c.scale * number_of((*found)[table.column(c.column)], place);
}

PublishedRatio against_published(double own, double published) {
  if (!(published > 0) || !(own > 0) || !std::isfinite(own) || !std::isfinite(published)) {
    throw std::invalid_argument("against_published: both values must be positive");
  }
  constexpr double notable = 1.5;
  PublishedRatio r;
  r.ratio = own / published;
  r.notable = r.ratio > notable || r.ratio < 1 / notable;
  return r;
}

}  // namespace amasia
