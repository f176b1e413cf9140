// The source documents' figures and what of this suite stands beside each: inputs/published/,
// embedded in the program when it is built. inventory.csv has one row per table, figure and claim
// of the four documents; comparisons.csv says which published value belongs to which of ours.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/results/result.hpp"
#include "harness/text/table.hpp"

namespace amasia {

/// A CSV file after its comment lines ('#').
struct CsvTable {
  std::vector<std::string> columns{};
  std::vector<std::vector<std::string>> rows{};
  std::size_t column(const std::string& name) const;  // throws ResultError
};
/// RFC 4180: quotes, doubled quotes, commas and line breaks inside. `name` is for messages. Throws
/// ResultError for a row of another length than the header.
CsvTable parse_csv(std::string_view text, const std::string& name);

/// File name without ".csv" -> its text.
const std::map<std::string, std::string_view>& published_files();

struct InventoryRow {
  std::string id;      // "000-04"
  std::string source;  // "Luo et al. 2024"
  std::string where;   // "Table IV"
  std::string what;
  std::string study;              // "seed000-table4"
  std::vector<std::string> by{};  // "memory/latency", "app hotspot", "ceilings"
  std::string method;             // "same", "other: why", "nothing"
  std::string remark;
};
const std::vector<InventoryRow>& inventory();

/// A published value beside one of ours.
struct PublishedComparison {
  std::string id;     // of the inventory
  std::string label;  // "L1 latency, H800"
  std::string file, where, column;
  std::string own;   // a selector, or two with " / " between
  double scale = 1;  // published x scale is in our unit
};
const std::vector<PublishedComparison>& published_comparisons();
/// The number in that cell, scaled. Throws ResultError unless exactly one row matches and its cell
/// is a number.
double published_value(const PublishedComparison& comparison);

/// What a comparison takes of a result file (the grammar is in the head of comparisons.csv).
struct Selector {
  enum class Kind { point, finding, ceiling, speedup } kind = Kind::point;
  std::string name;           // microbenchmark, ceiling or variant
  std::string quantity;       // of a point or finding; role of a speedup
  bool gbytes_per_s = false;  // byte/clk times the clock it was measured at
  Coordinates at{};
};
/// One selector, or the numerator and denominator. Throws ResultError.
std::vector<Selector> parse_selectors(const std::string& own);

struct OwnValue {
  double value = 0;
  std::string unit{};
};
/// nullopt with `reason` when the file does not have it.
std::optional<OwnValue> own_value(const ResultFile& file, const std::string& own,
                                  std::string& reason);

/// Own value over a published one, and how to say it. `published` is in `own`'s unit after `scale`.
struct PublishedRatio {
  double ratio = 0;
  bool notable = false;  // further than 1.5x either way: needs an explanation
};
PublishedRatio against_published(double own, double published);

/// Rows that a name means: a document ("seed000"), a study ("seed000-table4") or an id ("000-04");
/// empty when it means none.
std::vector<InventoryRow> inventory_rows(const std::string& name);
/// Every such name, for suggestions.
std::vector<std::string> inventory_names();

/// Whether what answers the row is part of this program.
bool is_built(const InventoryRow& row);

/// id, what, own, published, ratio, status and remark of these rows: at least one line for each.
Table reproduction_table(const ResultFile& file, const std::vector<InventoryRow>& rows);

}  // namespace amasia
