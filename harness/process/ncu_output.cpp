#include "harness/process/ncu_output.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "harness/errors.hpp"
#include "harness/text/csv_table.hpp"
#include "harness/text/number.hpp"

namespace amasia {
namespace {

/// ncu scales by thousands; what has another unit (inst, cycle, warp, %) it leaves as it is.
constexpr struct {
  std::string_view unit;
  double factor;
} units[] = {
    {"byte", 1},    {"Kbyte", 1e3},   {"Mbyte", 1e6},   {"Gbyte", 1e9},  {"Tbyte", 1e12},
    {"nsecond", 1}, {"usecond", 1e3}, {"msecond", 1e6}, {"second", 1e9}, {"ns", 1},
    {"us", 1e3},    {"ms", 1e6},      {"s", 1e9},
};

/// Every metric has two underscores after the unit of the hardware that counts it.
bool is_metric(std::string_view column) { return column.find("__") != std::string_view::npos; }

/// Its place, or one behind the last.
std::size_t find_column(const CsvTable& table, std::string_view name) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  return static_cast<std::size_t>(found - table.columns.begin());
}

/// A line for each metric of each result.
void take_details(const CsvTable& table, std::vector<CountedResult>& results) {
  const std::size_t id = table.column("ID"), kernel = find_column(table, "Kernel Name"),
                    metric = find_column(table, "Metric Name"),
                    unit = find_column(table, "Metric Unit"),
                    value = find_column(table, "Metric Value");
  std::string last;
  for (const std::vector<std::string>& row : table.rows) {
    if (results.empty() || last != row[id]) {
      results.push_back({kernel < row.size() ? row[kernel] : "", {}});
    }
    last = row[id];
    std::string_view of;
    if (unit < row.size()) of = row[unit];
    if (const auto number = ncu_value(row[value], of)) {
      results.back().metrics[row[metric]] = *number;
    }
  }
}

/// A line of units, then a line for each result.
void take_raw(const CsvTable& table, std::vector<CountedResult>& results) {
  const std::size_t id = table.column("ID"), kernel = find_column(table, "Kernel Name");
  const std::vector<std::string>* line_of_units = nullptr;
  for (const std::vector<std::string>& row : table.rows) {
    if (row[id].empty()) {
      line_of_units = &row;
      continue;
    }
    CountedResult& result =
        results.emplace_back(CountedResult{kernel < row.size() ? row[kernel] : "", {}});
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (!is_metric(table.columns[c])) continue;
      std::string_view unit;
      if (line_of_units != nullptr) unit = (*line_of_units)[c];
      if (const auto number = ncu_value(row[c], unit)) result.metrics[table.columns[c]] = *number;
    }
  }
}

void take_table(const std::string& text, const std::string& name,
                std::vector<CountedResult>& results) {
  if (text.empty()) return;
  const CsvTable table = parse_csv(text, name);
  const bool details = find_column(table, "Metric Name") < table.columns.size() &&
                       find_column(table, "Metric Value") < table.columns.size();
  (details ? take_details : take_raw)(table, results);
}

}  // namespace

std::optional<double> ncu_value(std::string_view text, std::string_view unit) {
  std::string digits(text);
  if (const std::size_t comma = digits.find(','); comma != std::string::npos) {
    // Of thousands: in front of three digits each, the first behind one to three.
    const std::size_t begin = digits.front() == '-' ? 1 : 0;
    const std::size_t end = std::min(digits.find('.'), digits.size());
    bool grouped = comma > begin && comma <= begin + 3 && digits[begin] != '0';
    for (std::size_t i = comma; i < end; ++i) {
      grouped = grouped && ((end - i) % 4 == 0) == (digits[i] == ',');
    }
    const bool number = digits.find_first_not_of("-0123456789.,") == std::string::npos &&
                        digits.find_first_of("0123456789") != std::string::npos;
    if (number && (!grouped || digits.find(',', end) != std::string::npos)) {
      throw ResultError(fmt::format(
          "{} has a decimal comma, as ncu prints in another locale; it must run with LC_ALL=C",
          digits));
    }
  }
  std::erase(digits, ',');
  const auto value = number_from<double>(digits);
  if (!value || !std::isfinite(*value)) return {};
  for (const auto& known : units) {
    if (known.unit == unit) return *value * known.factor;
  }
  return value;
}

NcuOutput parse_ncu_output(std::string_view text, const std::string& name) {
  NcuOutput output;
  std::string table;
  const auto starts = [](std::string_view line, std::string_view with) {
    return line.substr(0, with.size()) == with;
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (starts(line, "==ERROR==")) {
      line.remove_prefix(9);
      while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
      output.errors.emplace_back(line);
    } else if (starts(line, "\"ID\"")) {  // a header: of this table, or of the next one
      take_table(table, name, output.results);
      table = std::string(line) + '\n';
    } else if (starts(line, "\"") && !table.empty()) {
      table.append(line).push_back('\n');
    }
  }
  take_table(table, name, output.results);
  return output;
}

}  // namespace amasia
