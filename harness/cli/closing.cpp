#include "harness/cli/closing.hpp"

#include "harness/text/output.hpp"
#include "harness/text/shell.hpp"

namespace amasia {

void say_next(const std::string& command, const std::string& what_it_does) {
  print_prose("next: {} {}\n", command, what_it_does);
}

std::string with_patterns(const std::string& command, const std::vector<std::string>& patterns) {
  std::string text = command;
  for (const std::string& pattern : patterns) text += ' ' + in_shell({pattern});
  return text;
}

}  // namespace amasia
