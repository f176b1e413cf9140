#include "harness/published/comparisons.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

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
                     number_of(at("scale"), "comparisons.csv: scale"), at("gpu"), at("relation"),
                     number_of(at("tolerance"), "comparisons.csv: tolerance"), at("basis")});
    }
    return all;
  }();
  return comparisons;
}

namespace {

/// The only row of the table that meets the conditions.
const std::vector<std::string>& only_row(const CsvTable& table, const std::string& file,
                                         const std::string& where, const std::string& place) {
  const Coordinates wanted = conditions_of(where, place);
  const std::vector<std::string>* found = nullptr;
  for (const auto& row : table.rows) {
    const bool matches = std::all_of(wanted.begin(), wanted.end(), [&](const auto& pair) {
      return row[table.column(pair.first)] == pair.second;
    });
    if (!matches) continue;
    if (found != nullptr) throw ResultError(place + ": several rows of " + file + " match");
    found = &row;
  }
  if (found == nullptr) throw ResultError(place + ": no row of " + file + " matches");
  return *found;
}

/// "a", "b" of "a<between>b"; "a" twice where there is no such part.
std::pair<std::string, std::string> halves(const std::string& text, const std::string& between) {
  const std::size_t at = text.find(between);
  if (at == std::string::npos) return {text, text};
  return {text.substr(0, at), text.substr(at + between.size())};
}

/// Compute capability times 10 of a GPU whose values are published (theory.csv).
int architecture_of(const std::string& gpu) {
  const CsvTable table = published_table("theory");
  const std::string where = "gpu=" + gpu + ";quantity=architecture";
  return static_cast<int>(
      number_of(only_row(table, "theory", where, gpu)[table.column("value")], gpu));
}

}  // namespace

PublishedRange published_range(const PublishedComparison& c) {
  const std::string place = c.id + " (" + c.label + ")";
  const CsvTable table = published_table(c.file);
  const auto cell = [&](const std::string& where, const std::string& column) {
    return number_of(only_row(table, c.file, where, place)[table.column(column)], place);
  };
  const auto [where, other] = halves(c.where, " / ");
  if (c.column.find(" / ") != std::string::npos) {
    const auto [above, below] = halves(c.column, " / ");
    const double quotient = c.scale * cell(where, above) / cell(other, below);
    return {quotient, quotient};
  }
  const auto [low, high] = halves(c.column, "..");
  return {c.scale * cell(where, low), c.scale * cell(where, high)};
}

std::string verdict_of(const PublishedComparison& c, double own, int architecture) {
  if (c.basis.starts_with("beside")) return "shown beside, nothing follows";
  const bool ratio = c.basis == "ratio" || c.basis == "table";
  if (!ratio && !c.gpu.empty() && architecture_of(c.gpu) != architecture) return "other hardware";
  if (c.basis.find("share") != std::string::npos) {
    return "compared as a share of what each GPU promises: docs/reproduction.md";
  }
  const auto [low, high] = published_range(c);
  // The smallest part of slack is for numbers that are equal but for rounding.
  const double slack = 1 + c.tolerance / 100 + 1e-9;
  const double least = low > 0 ? low / slack : low * slack;
  const double most = high > 0 ? high * slack : high / slack;
  const bool agrees =
      (c.relation == "at most" || own >= least) && (c.relation == "at least" || own <= most);
  if (!agrees) return "differs";
  return c.tolerance > 0 ? fmt::format("agrees within {} %", c.tolerance) : "agrees";
}

}  // namespace amasia
