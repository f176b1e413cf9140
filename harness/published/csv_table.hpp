// CSV with comment lines, as the published figures are kept.
#pragma once

#include <cstddef>
#include <map>
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

/// inputs/published/, embedded in the program when it is built: file name without ".csv" -> text.
const std::map<std::string, std::string_view>& published_files();
/// One of them as a table. Throws ResultError when there is none of that name.
CsvTable published_table(const std::string& name);

/// The parts between separators, without empty ones.
std::vector<std::string> split(const std::string& text, char separator);
/// Throws ResultError "place: expected a number, found ...".
double number_of(const std::string& text, const std::string& place);

}  // namespace amasia
