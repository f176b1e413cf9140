#include "harness/cli/closing.hpp"

#include <filesystem>
#include <system_error>

#include "harness/text/output.hpp"
#include "harness/text/shell.hpp"

namespace amasia {

void say_next(const std::string& command, const std::string& what_it_does) {
  print_prose("next: {} {}\n", command, what_it_does);
}

std::string plots_command(const std::vector<std::string>& words) {
  std::error_code error;
  const bool clone = std::filesystem::exists("plots.sh", error);
  return (clone ? "./plots.sh " : "python -m plots ") + in_shell(words);
}

std::string with_patterns(const std::string& command, const std::vector<std::string>& patterns) {
  std::string text = command;
  for (const std::string& pattern : patterns) text += ' ' + in_shell({pattern});
  return text;
}

}  // namespace amasia
