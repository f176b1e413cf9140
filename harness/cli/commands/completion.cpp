#include <memory>

#include "harness/cli/command.hpp"
#include "harness/cli/completion.hpp"
#include "harness/cli/values.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

Action declare_completion(CLI::App& options) {
  auto shell = std::make_shared<std::string>();
  options.add_option("shell", *shell, "which shell")
      ->required()
      ->check(one_of(completion_shells()))
      ->type_name("SHELL");
  return [shell](const Invocation& invocation) {
    write_data(completion_script(describe(invocation.program), *shell));
    return exit_ok;
  };
}

const bool completion_registered = register_command(
    {.name = "completion",
     .group = CommandGroup::help,
     .summary = "a script that completes commands, options and names in your shell",
     .description = "The names are those of this program: make the script again after building "
                    "other apps.",
     .examples = {{{"amasia completion bash > ~/.local/share/bash-completion/completions/amasia",
                    "for every bash from now on"},
                   {"amasia completion fish > ~/.config/fish/completions/amasia.fish",
                    "the same for fish; for zsh, a file _amasia in a folder of $fpath"}}},
     .exits = {exit_ok, exit_usage, exit_output},
     .declare = declare_completion});

}  // namespace
}  // namespace amasia
