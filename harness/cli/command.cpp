#include "harness/cli/command.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace amasia {
namespace {

// Registration happens while namespace-scope constants are initialised, in an order the linker
// chose: a function-local static exists before its first use, and it is kept sorted.
std::vector<Command>& storage() {
  static std::vector<Command> list;
  return list;
}

bool precedes(const Command& a, const Command& b) {
  return std::tie(a.group, a.name) < std::tie(b.group, b.name);
}

}  // namespace

bool register_command(Command command) {
  const auto refuse = [&](const std::string& what) {
    throw std::logic_error("command " + command.name + " " + what);
  };
  if (command.name.empty() || command.summary.empty()) refuse("has no name or no summary");
  if (!command.declare) refuse("declares no options and no action");
  if (command.exits.empty()) refuse("names no exit status");
  for (const Example& example : command.examples) {
    if (!example.line.starts_with("amasia " + command.name) || example.purpose.empty()) {
      refuse("has an example that does not show it, or no two examples");
    }
  }
  std::vector<Command>& list = storage();
  if (std::any_of(list.begin(), list.end(),
                  [&](const Command& known) { return known.name == command.name; })) {
    refuse("is registered twice");
  }
  list.insert(std::upper_bound(list.begin(), list.end(), command, precedes), std::move(command));
  return true;
}

const std::vector<Command>& commands() { return storage(); }

}  // namespace amasia
