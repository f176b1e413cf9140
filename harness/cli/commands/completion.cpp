#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>

#include "harness/cli/command.hpp"
#include "harness/cli/help.hpp"
#include "harness/cli/values.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

/// What makes each shell ask this program, with the line that is typed in COMP_LINE.
const std::map<std::string, std::string>& shells() {
  static const std::string bash = "complete -o default -C 'amasia completion' amasia\n";
  static const std::map<std::string, std::string> lines{
      {"bash", bash},
      {"fish", "complete -c amasia -a '(env COMP_LINE=(commandline -cp) amasia completion)'\n"},
      {"zsh", "autoload -U +X bashcompinit && bashcompinit\n" + bash}};
  return lines;
}

std::vector<std::string> names_for(CLI::Option& option) {
  const std::vector<std::string> choices = choices_of(option);
  return choices.empty() ? offers_of(option) : choices;
}

/// What may stand behind these words, the program's name not among them. Nothing where it is a
/// file: the shell offers those.
std::vector<std::string> continuations(CLI::App& program, const std::vector<std::string>& words,
                                       bool dash) {
  std::vector<std::string> names;
  if (words.empty() || words.front() == "help") {
    for (const Command& c : commands()) names.push_back(c.name);
    if (words.empty()) names.insert(names.end(), {"help", "version", "--help", "--version"});
    return names;
  }
  const auto meant = program.get_subcommands(
      [&](const CLI::App* command) { return command->get_name() == words.front(); });
  if (meant.empty()) return {};
  for (CLI::Option* option : meant.front()->get_options([](CLI::Option*) { return true; })) {
    if (option->get_positional()) {
      const std::vector<std::string> more = names_for(*option);
      if (!dash) names.insert(names.end(), more.begin(), more.end());
    } else if (name_of(*option) == words.back() && !is_flag(*option)) {
      return names_for(*option);
    } else if (dash) {
      names.push_back(name_of(*option));
    }
  }
  return names;
}

ExitStatus complete(CLI::App& program, std::string line) {
  if (const char* point = std::getenv("COMP_POINT")) {
    line.resize(std::min<std::size_t>(line.size(), std::strtoul(point, nullptr, 10)));
  }
  std::vector<std::string> words;
  std::istringstream typed(line);
  for (std::string word; typed >> word;) words.push_back(word);
  if (!words.empty()) words.erase(words.begin());
  std::string current;
  if (!words.empty() && !line.ends_with(' ')) {
    current = words.back();
    words.pop_back();
  }
  for (const std::string& name : continuations(program, words, current.starts_with('-'))) {
    if (name.starts_with(current)) write_data(name + '\n');
  }
  return exit_ok;
}

Action declare_completion(CLI::App& options) {
  auto shell = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const auto& [name, lines] : shells()) names.push_back(name);
  options.add_option("shell", *shell, "which shell")
      ->required()
      ->check(one_of(names))
      ->type_name("SHELL");
  return [shell](const Invocation& invocation) {
    if (const char* line = std::getenv("COMP_LINE")) return complete(invocation.program, line);
    write_data(shells().at(*shell));
    return exit_ok;
  };
}

const bool completion_registered = register_command(
    {.name = "completion",
     .group = CommandGroup::help,
     .summary = "lets your shell complete commands, options and names",
     .description = "Prints what a shell's start-up file needs: it asks this program then.",
     .examples = {{{"amasia completion bash >> ~/.bashrc", "for every bash from now on"},
                   {"amasia completion fish > ~/.config/fish/completions/amasia.fish",
                    "the same for fish; for zsh, >> ~/.zshrc"}}},
     .exits = {exit_ok, exit_usage, exit_output},
     .declare = declare_completion});

}  // namespace
}  // namespace amasia
