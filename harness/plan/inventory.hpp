// One row for each table, figure and claim of the four source documents, with what of this suite
// answers it: inputs/published/inventory.csv.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/microbenchmark.hpp"

namespace amasia {

struct InventoryRow {
  std::string id;      // "000-04"
  std::string source;  // "Luo et al. 2024"
  std::string where;   // "Table IV"
  std::string what;
  std::string study;              // "seed000-table4"
  std::vector<std::string> by{};  // "memory/latency", "app hotspot", "ceilings"
  /// What the row takes of microbenchmarks: these points, or all where there are none. Empty: all
  /// of those that answer it.
  std::map<std::string, std::vector<Coordinates>> points{};
  std::string method;  // "same", "other: why", "nothing"
  std::string remark;
};
const std::vector<InventoryRow>& inventory();

/// Rows that a name means: a document ("seed000"), a study ("seed000-table4") or an id ("000-04");
/// empty when it means none.
std::vector<InventoryRow> inventory_rows(const std::string& name);
/// Every such name, for suggestions.
std::vector<std::string> inventory_names();

/// Whether what answers the row is part of this program.
bool is_built(const InventoryRow& row);

}  // namespace amasia
