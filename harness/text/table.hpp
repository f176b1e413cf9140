// A table whose values are written once, with name and unit, and rendered as Markdown for people
// and as CSV for programs, so that the two cannot disagree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/words.hpp"

namespace amasia {

/// A value with its interval.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

/// monostate: unknown; an empty field in CSV, "-" in Markdown.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string, Estimate>;

/// The word of an enum; nothing for an optional without a value.
template <class Enum>
Cell word_cell(Enum value) {
  const std::string_view word = word_of(value);
  return word.empty() ? Cell() : Cell(std::string(word));
}

struct Column {
  std::string name;  // "time_ms" in CSV, where an estimate adds time_ms_low and time_ms_high
  bool estimate = false;
};

struct Table {
  std::vector<Column> columns{};
  std::vector<std::vector<Cell>> rows{};
  /// Throws std::logic_error unless there is one cell for each column, an Estimate (or nothing)
  /// where the column says so and nowhere else.
  void add(std::vector<Cell> row);
};

/// Four significant digits for people: "0.1804", "1.235e-07", "65100".
std::string format_number(double value);
/// "1.180 [1.160, 1.200]"
std::string format_estimate(const Estimate& estimate);

/// A value as CSV has it before it is quoted, doubles in full. Throws std::logic_error for an
/// Estimate, which is three fields.
std::string plain_text(const Cell& cell);

std::string to_markdown(const Table& table);
std::string to_csv(const Table& table);

/// A CSV file after its comment lines ('#'): published figures, what ncu prints.
struct CsvTable {
  std::vector<std::string> columns{};
  std::vector<std::vector<std::string>> rows{};
  std::size_t column(const std::string& name) const;  // throws ResultError
};
/// RFC 4180: quotes, doubled quotes, commas and line breaks inside. `name` is for messages. Throws
/// ResultError for a row of another length than the header.
CsvTable parse_csv(std::string_view text, const std::string& name);

}  // namespace amasia
