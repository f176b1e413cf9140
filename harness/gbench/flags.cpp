#include "harness/gbench/flags.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

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
}

}  // namespace amasia
