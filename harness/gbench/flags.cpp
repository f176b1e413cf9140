#include "harness/gbench/flags.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/errors.hpp"

namespace amasia {
namespace {

std::string changed(std::string text, int (*change)(int)) {
  std::transform(text.begin(), text.end(), text.begin(), [change](char letter) {
    return static_cast<char>(change(static_cast<unsigned char>(letter)));
  });
  return text;
}

}  // namespace

bool is_library_flag(const std::string& argument) {
  return argument.starts_with("--benchmark_") || argument.starts_with("--v=");
}

std::optional<std::string> library_flag(const std::vector<std::string>& arguments,
                                        const std::string& name) {
  std::optional<std::string> value;
  if (const char* set = std::getenv(changed(name, std::toupper).c_str())) value = set;
  const std::string flag = "--" + name;
  for (const std::string& argument : arguments) {  // the last one counts
    if (argument == flag) value = "true";
    if (argument.starts_with(flag + "=")) value = argument.substr(flag.size() + 1);
  }
  return value;
}

bool library_switch(const std::vector<std::string>& arguments, const std::string& name) {
  const std::optional<std::string> value = library_flag(arguments, name);
  if (!value) return false;
  for (const char* no : {"0", "f", "n", "false", "no", "off"}) {
    if (changed(*value, std::tolower) == no) return false;
  }
  return true;
}

void check_library_flags(const std::vector<std::string>& arguments) {
  struct Choices {
    const char* name;
    std::vector<std::string> values;
  };
  const std::vector<std::string> formats{"console", "json", "csv"};
  for (const auto& [name, values] :
       {Choices{"benchmark_format", formats}, Choices{"benchmark_out_format", formats},
        Choices{"benchmark_time_unit", {"ns", "us", "ms", "s"}}}) {
    const std::optional<std::string> value = library_flag(arguments, name);
    if (value && std::find(values.begin(), values.end(), *value) == values.end()) {
      throw UsageError(fmt::format("--{}={}: expected {}", name, *value, fmt::join(values, ", ")));
    }
  }
  // The library reserves memory for the repetitions, and takes numbers that it cannot follow. With
  // time it takes a unit in later versions, "0.5s", and a number of iterations, "100x".
  struct Bounds {
    const char* name;
    double least, most;
    std::string_view units;
  };
  constexpr double most_repetitions = 1e6, most_seconds = 86400, most_iterations = 1e9;
  for (const auto& [name, least, most, units] :
       {Bounds{"benchmark_repetitions", 1, most_repetitions, ""},
        Bounds{"benchmark_min_time", 0, most_seconds, "sx"},
        Bounds{"benchmark_min_warmup_time", 0, most_seconds, "s"}}) {
    const std::optional<std::string> value = library_flag(arguments, name);
    if (!value) continue;
    std::string_view number = *value;
    double most_here = most;
    if (!number.empty() && units.find(number.back()) != std::string_view::npos) {
      if (number.back() == 'x') most_here = most_iterations;
      number.remove_suffix(1);
    }
    double is = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), is);
    if (error != std::errc{} || end != number.data() + number.size() ||
        !(is >= least && is <= most_here)) {
      throw UsageError(
          fmt::format("--{}={}: expected a number from {} to {}", name, *value, least, most_here));
    }
  }
}

}  // namespace amasia
