// CSV with comment lines, as the published figures are kept and ncu prints.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace amasia
