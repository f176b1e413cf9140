#include "harness/text/csv_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "harness/errors.hpp"

namespace amasia {

std::size_t CsvTable::column(const std::string& name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
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
