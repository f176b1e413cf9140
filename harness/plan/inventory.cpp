#include "harness/plan/inventory.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "harness/ceiling.hpp"
#include "harness/errors.hpp"
#include "harness/registry.hpp"
#include "harness/text/table.hpp"

namespace amasia {
namespace {

constexpr std::string_view inventory_csv =
#include "inventory.inc"
    ;

/// The parts between separators, without empty ones.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1) {
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
  }
  if (begin < text.size()) parts.push_back(text.substr(begin));
  return parts;
}

/// "memory/latency:access=load;method=luo|tensor_core/mma": points of the first, all of the second.
std::map<std::string, std::vector<Coordinates>> points_in(const std::string& text,
                                                          const std::string& place) {
  std::map<std::string, std::vector<Coordinates>> points;
  for (const std::string& entry : split(text, '|')) {
    const std::size_t colon = entry.find(':');
    std::vector<Coordinates>& of_name = points[entry.substr(0, colon)];
    if (colon == std::string::npos) continue;
    Coordinates at;
    for (const std::string& part : split(entry.substr(colon + 1), ';')) {
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos || equals == 0) {
        throw ResultError(place + ": expected name=value, found '" + part + "'");
      }
      at.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    }
    of_name.push_back(std::move(at));
  }
  return points;
}

}  // namespace

const std::vector<InventoryRow>& inventory() {
  static const std::vector<InventoryRow> rows = [] {
    const CsvTable table = parse_csv(inventory_csv, "inventory.csv");
    const auto at = [&](const std::vector<std::string>& row, const char* name) {
      return row[table.column(name)];
    };
    std::vector<InventoryRow> all;
    for (const auto& row : table.rows) {
      const std::string id = at(row, "id");
      InventoryRow r{id,
                     at(row, "source"),
                     at(row, "where"),
                     at(row, "what"),
                     at(row, "study"),
                     {},
                     points_in(at(row, "points"), "inventory.csv: " + id),
                     at(row, "method"),
                     at(row, "remark")};
      const std::string by = at(row, "by");
      if (by.starts_with("app ")) {
        r.by = {by};
      } else {
        r.by = split(by, ' ');
      }
      all.push_back(std::move(r));
    }
    return all;
  }();
  return rows;
}

std::vector<InventoryRow> inventory_rows(const std::string& name) {
  std::vector<InventoryRow> rows;
  for (const InventoryRow& row : inventory()) {
    if (name == row.id || name == row.study || name == "seed" + row.id.substr(0, 3)) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<std::string> inventory_names() {
  std::vector<std::string> names;
  std::set<std::string> seen;
  const auto offer = [&](const std::string& name) {
    if (seen.insert(name).second) names.push_back(name);
  };
  for (const InventoryRow& row : inventory()) offer("seed" + row.id.substr(0, 3));
  for (const InventoryRow& row : inventory()) offer(row.study);
  for (const InventoryRow& row : inventory()) offer(row.id);
  return names;
}

bool is_built(const InventoryRow& row) {
  return std::any_of(row.by.begin(), row.by.end(), [](const std::string& by) {
    if (by == "ceilings") return !ceiling_probes().empty();
    if (by.starts_with("app ")) return !variants_of(by.substr(4)).empty();
    return find_microbenchmark(by) != nullptr;
  });
}

}  // namespace amasia
