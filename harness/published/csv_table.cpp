#include "harness/published/csv_table.hpp"

#include <algorithm>
#include <charconv>

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

const std::map<std::string, std::string_view>& published_files() {
  static const std::map<std::string, std::string_view> files{
#include "published.inc"
  };
  return files;
}

CsvTable published_table(const std::string& name) {
  const auto found = published_files().find(name);
  if (found == published_files().end()) throw ResultError("no published file '" + name + "'");
  return parse_csv(found->second, name + ".csv");
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1) {
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
  }
  if (begin < text.size()) parts.push_back(text.substr(begin));
  return parts;
}

double number_of(const std::string& text, const std::string& place) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw ResultError(place + ": expected a number, found '" + text + "'");
  }
  return value;
}

}  // namespace amasia
