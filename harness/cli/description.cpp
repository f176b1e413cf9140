#include "harness/cli/description.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/cli/values.hpp"
#include "harness/results/provenance.hpp"
#include "harness/text/wrap.hpp"

namespace amasia {
namespace {

constexpr std::size_t help_column = 28;  // where the text of an option or command begins

/// CLI11 asks it for help; the pages are rendered from the description.
class HelpPages : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    // CLI11 hands out a const App, and options with their checks only from one that is not.
    auto& asked = const_cast<CLI::App&>(*app);
    if (asked.get_parent() == nullptr) return to_help(describe(asked));
    for (const CommandDescription& c : describe(*asked.get_parent()).commands) {
      if (c.command->name == asked.get_name()) return to_help(c);
    }
    throw std::logic_error("help for a command that is not registered: " + asked.get_name());
  }
};

OptionDescription describe(CLI::Option& option) {
  OptionDescription d;
  d.positional = option.get_positional();
  d.name = d.positional ? option.get_name(true) : "--" + option.get_lnames().front();
  const std::string type = option.get_type_name();  // with the descriptions of its checks
  const bool flag = option.get_items_expected_max() == 0;
  d.value = flag ? "" : type.substr(0, type.find(':'));
  d.help = option.get_description();
  d.otherwise = option.get_default_str();
  d.choices = choices_of(option);
  d.offers = offers_of(option);
  d.required = option.get_required();
  d.repeatable = option.get_items_expected_max() > 1;
  return d;
}

std::vector<OptionDescription> describe_options(CLI::App& app) {
  std::vector<OptionDescription> options;
  for (CLI::Option* option : app.get_options([](CLI::Option*) { return true; })) {
    options.push_back(describe(*option));
  }
  std::stable_partition(options.begin(), options.end(),
                        [](const OptionDescription& o) { return o.positional; });
  return options;
}

/// What stands behind the help: choices, default, whether it must be given.
std::string remarks(const OptionDescription& o) {
  std::string text = o.help;
  if (!o.choices.empty()) text += fmt::format(": {}", fmt::join(o.choices, ", "));
  if (o.required) text += " (required)";
  if (!o.otherwise.empty()) text += fmt::format(" (default: {})", o.otherwise);
  return text;
}

std::string option_lines(const std::vector<OptionDescription>& options, bool positional) {
  std::string text;
  for (const OptionDescription& o : options) {
    if (o.positional != positional) continue;
    const std::string name =
        o.positional || o.value.empty() ? o.name : fmt::format("{} {}", o.name, o.value);
    text += wrapped(fmt::format("  {:<{}}", name + "  ", help_column - 2), remarks(o), help_column);
  }
  return text;
}

std::string exit_lines(const std::vector<ExitStatus>& exits) {
  std::string text;
  for (const ExitMeaning& e : exit_meanings) {
    if (std::find(exits.begin(), exits.end(), e.status) == exits.end()) continue;
    text += wrapped(fmt::format("  {:<5}", static_cast<int>(e.status)), e.meaning, 7);
  }
  return text;
}

}  // namespace

ProgramDescription describe(CLI::App& program) {
  ProgramDescription d{program.get_name(), program.get_description()};
  d.options = describe_options(program);
  for (const Command& c : commands()) {
    d.commands.push_back(
        {&c, "amasia " + c.name, describe_options(*program.get_subcommand(c.name))});
  }
  return d;
}

void describe_alone(CLI::App& program, const Command& command) {
  class Page : public CLI::FormatterBase {
   public:
    explicit Page(const Command& command) : command_(command) {}
    std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
      return to_help({&command_, command_.name, describe_options(const_cast<CLI::App&>(*app))});
    }

   private:
    const Command& command_;
  };
  program.formatter(std::make_shared<Page>(command));
  program.set_help_flag("--help,-h", "this text");
  program.set_version_flag("--version", fmt::format("{} {}", command.name, suite_version()),
                           "the version of the program");
}

Parser make_parser() {
  Parser parser;
  parser.program = std::make_unique<CLI::App>(
      "Amasia: which way of moving data pays on this GPU, by how much, and why", "amasia");
  CLI::App& program = *parser.program;
  program.require_subcommand(1);
  program.formatter(std::make_shared<HelpPages>());
  program.set_help_flag("--help,-h", "this text, or that of a command");
  program.set_version_flag("--version", fmt::format("amasia {}", suite_version()),
                           "the version of the program");
  for (const Command& command : commands()) {
    CLI::App* options = program.add_subcommand(command.name, command.summary);
    options->set_help_flag("--help,-h", "this text");
    parser.actions.emplace(command.name, command.declare(*options));
  }
  return parser;
}

std::string usage(const CommandDescription& c) {
  std::string text = c.called;
  for (const OptionDescription& o : c.options) {
    if (!o.positional && o.required) text += fmt::format(" {} {}", o.name, o.value);
  }
  for (const OptionDescription& o : c.options) {
    if (!o.positional) continue;
    std::string name = o.name;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char letter) { return static_cast<char>(std::toupper(letter)); });
    name += o.repeatable ? "..." : "";
    text += o.required ? " " + name : " [" + name + "]";
  }
  return text + " [OPTIONS]";
}

std::string to_help(const CommandDescription& c) {
  std::string text = wrapped("", c.command->name + ": " + c.command->summary, 0);
  if (!c.command->description.empty()) text += wrapped("", c.command->description, 0);
  text += "\nUsage:\n" + wrapped("  ", usage(c), 4);
  const std::string arguments = option_lines(c.options, true);
  if (!arguments.empty()) text += "\nArguments:\n" + arguments;
  text += "\nOptions:\n" + option_lines(c.options, false);
  text += "\nExit codes:\n" + exit_lines(c.command->exits);
  text += "\nExamples:\n";
  for (const Example& e : c.command->examples) {
    text += wrapped("  ", e.line, 6) + wrapped("      ", e.purpose, 6);
  }
  return text;
}

std::string to_help(const ProgramDescription& p) {
  std::string text = wrapped("", p.summary, 0);
  text += "\nUsage:\n  amasia COMMAND [ARGUMENTS] [OPTIONS]\n  amasia COMMAND --help\n";
  for (std::size_t group = 0; group < command_group_titles.size(); ++group) {
    text += fmt::format("\n{}:\n", command_group_titles[group]);
    for (const CommandDescription& c : p.commands) {
      if (static_cast<std::size_t>(c.command->group) != group) continue;
      text += wrapped(fmt::format("  {:<{}}", c.command->name + "  ", help_column - 2),
                      c.command->summary, help_column);
    }
  }
  text += "\nOptions:\n" + option_lines(p.options, false);
  std::vector<ExitStatus> exits;
  for (const ExitMeaning& e : exit_meanings) exits.push_back(e.status);
  text += "\nExit codes:\n" + exit_lines(exits);
  text +=
      "\nExamples:\n"
      "  amasia list\n"
      "      what there is to measure, at which sizes\n"
      "  amasia study quick --dry-run\n"
      "      what the shortest study would run, and how long that takes\n";
  return text;
}

}  // namespace amasia
