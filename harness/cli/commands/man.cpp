#include "harness/cli/command.hpp"
#include "harness/cli/man_page.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

Action declare_man(CLI::App&) {
  return [](const Invocation& invocation) {
    write_data(man_page(describe(invocation.program)));
    return exit_ok;
  };
}

const bool man_registered =
    register_command({.name = "man",
                      .group = CommandGroup::help,
                      .summary = "the manual page of this program, in roff",
                      .examples = {{{"amasia man | man -l -", "read it"},
                                    {"amasia man > ~/.local/share/man/man1/amasia.1",
                                     "install it, so that man amasia finds it"}}},
                      .exits = {exit_ok, exit_usage, exit_output},
                      .declare = declare_man});

}  // namespace
}  // namespace amasia
