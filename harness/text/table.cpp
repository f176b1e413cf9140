#include "harness/text/table.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "harness/errors.hpp"

namespace amasia {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

/// A cell of a Markdown table: no bar may end it, no line break may end the row.
std::string markdown_field(std::string_view text) {
  std::string field;
  for (const char c : text) {
    if (c == '|') {
      field += "\\|";
    } else {
      field += c == '\n' || c == '\r' ? ' ' : c;
    }
  }
  return field;
}

/// Quoted as RFC 4180 asks when it has a comma, a quote or a line break.
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

bool is_numeric(const Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell) ||
         std::holds_alternative<Estimate>(cell);
}

/// Calls use(key, cell) for each plain value of a row: an estimate is three.
template <class Use>
void each_value(const Table& table, const std::vector<Cell>& row, const Use& use) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    if (!column.estimate) {
      use(column.name, row[i]);
      continue;
    }
    const Estimate* estimate = std::get_if<Estimate>(&row[i]);
    use(column.name, estimate ? Cell(estimate->value) : Cell());
    use(column.name + "_low", estimate ? Cell(estimate->low) : Cell());
    use(column.name + "_high", estimate ? Cell(estimate->high) : Cell());
  }
}

std::string markdown_cell(const Cell& cell) {
  if (std::holds_alternative<std::monostate>(cell)) return "-";
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "yes" : "no";
  if (const auto* number = std::get_if<double>(&cell)) return format_number(*number);
  if (const auto* estimate = std::get_if<Estimate>(&cell)) return format_estimate(*estimate);
  return markdown_field(plain_text(cell));
}

}  // namespace

void Table::add(std::vector<Cell> row) {
  if (row.size() != columns.size()) throw std::logic_error("a table row of the wrong width");
  for (std::size_t i = 0; i < row.size(); ++i) {
    const bool fits = std::holds_alternative<std::monostate>(row[i]) ||
                      std::holds_alternative<Estimate>(row[i]) == columns[i].estimate;
    if (!fits) throw std::logic_error("column " + columns[i].name + " has a value of another kind");
  }
  rows.push_back(std::move(row));
}

std::string format_number(double value) {
  const double magnitude = std::abs(value);
  if (value == 0 || !std::isfinite(value)) return fmt::format("{:g}", value);
  if (magnitude < 1e-4 || magnitude >= 1e9) return fmt::format("{:.3e}", value);
  const int digits_before = static_cast<int>(std::floor(std::log10(magnitude))) + 1;
  return fmt::format("{:.{}f}", value, std::max(0, 4 - digits_before));
}

std::string format_estimate(const Estimate& estimate) {
  return fmt::format("{} [{}, {}]", format_number(estimate.value), format_number(estimate.low),
                     format_number(estimate.high));
}

std::string to_markdown(const Table& table) {
  std::string text = "|", rule = "|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const bool right =
        std::ranges::any_of(table.rows, [&](const auto& row) { return is_numeric(row[i]); });
    text += ' ' + markdown_field(column.name) + " |";
    rule += right ? " ---: |" : " --- |";
  }
  text += '\n' + rule + '\n';
  for (const auto& row : table.rows) {
    text += '|';
    for (const Cell& cell : row) text += ' ' + markdown_cell(cell) + " |";
    text += '\n';
  }
  return text;
}

std::string plain_text(const Cell& cell) {
  return std::visit(
      Overloaded{
          [](std::monostate) -> std::string { return ""; },
          [](bool value) -> std::string { return value ? "true" : "false"; },
          [](std::int64_t value) { return std::to_string(value); },
          [](double value) { return fmt::format("{}", value); },
          [](const std::string& value) { return value; },
          [](const Estimate&) -> std::string { throw std::logic_error("estimate in a field"); },
      },
      cell);
}

std::string to_csv(const Table& table) {
  std::string text;
  const auto append_line = [&](const std::vector<std::string>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) text += ',';
      text += csv_field(fields[i]);
    }
    text += '\n';
  };
  std::vector<std::string> header;
  each_value(table, std::vector<Cell>(table.columns.size()),
             [&](const std::string& key, const Cell&) { header.push_back(key); });
  append_line(header);
  for (const auto& row : table.rows) {
    std::vector<std::string> fields;
    each_value(table, row,
               [&](const std::string&, const Cell& cell) { fields.push_back(plain_text(cell)); });
    append_line(fields);
  }
  return text;
}

std::size_t CsvTable::column(const std::string& name) const {
  const auto found = std::ranges::find(columns, name);
  if (found == columns.end()) throw ResultError("there is no column '" + name + "'");
  return static_cast<std::size_t>(found - columns.begin());
}

CsvTable parse_csv(std::string_view text, const std::string& name) {
  CsvTable table;
  std::vector<std::string> fields{""};
  bool quoted = false, any = false;
  int line = 1;
  const auto end_row = [&] {
    if (any) {
      if (table.columns.empty()) {
        table.columns = fields;
      } else if (fields.size() != table.columns.size()) {
        throw ResultError(fmt::format("{}:{}: expected {} fields, found {}", name, line,
                                      table.columns.size(), fields.size()));
      } else {
        table.rows.push_back(fields);
      }
    }
    fields = {""};
    any = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!quoted && !any && c == '#') {  // a comment line
      i = std::min(text.find('\n', i), text.size());
      ++line;
      continue;
    }
    if (c == '\n') ++line;
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        fields.back() += '"';
        ++i;
      } else if (c == '"') {
        quoted = false;
      } else {
        fields.back() += c;
      }
    } else if (c == '"') {
      quoted = any = true;
    } else if (c == ',') {
      fields.emplace_back();
      any = true;
    } else if (c == '\n') {
      end_row();
    } else if (c != '\r') {
      fields.back() += c;
      any = true;
    }
  }
  if (quoted) throw ResultError(name + ": a quoted field does not end");
  end_row();
  return table;
}

}  // namespace amasia
