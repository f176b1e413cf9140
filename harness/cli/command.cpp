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
  std::vector<Command>& list = storage();
  for (const Command& known : list) {
    if (known.name == command.name) throw std::logic_error(known.name + " is registered twice");
  }
  list.insert(std::upper_bound(list.begin(), list.end(), command, precedes), std::move(command));
  return true;
}

const std::vector<Command>& commands() { return storage(); }

}  // namespace amasia
