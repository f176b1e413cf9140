#include "harness/cli/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/errors.hpp"
#include "harness/process/isolation.hpp"
#include "harness/registry.hpp"
#include "harness/results/provenance.hpp"
#include "harness/session/session.hpp"
#include "harness/text/output.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

/// What is elsewhere, though its name may be tried here: commands of plots, and of amasia.
constexpr std::pair<std::string_view, std::string_view> of_plots[] = {
    {"advise", "advise"}, {"compare", "compare"},
    {"expect", "expect"}, {"figure", "figure"},
    {"plot", "report"},   {"report", "report"},
    {"why", "why"},       {"reproduction", "reproduction"}};
constexpr std::pair<std::string_view, std::string_view> of_amasia[] = {
    {"cross", "amasia run --roles cross"}, {"benchmark", "amasia run"}};

/// CLI11 would only say that a command is missing: names the one that was meant.
void refuse_unknown_command(const std::string& word) {
  if (word.empty()) throw UsageError("a command is expected, such as amasia list (amasia help)");
  std::vector<std::string> names{"help", "version"};
  for (const Command& c : commands()) names.push_back(c.name);
  if (word == "-h") return;
  if (word.starts_with('-')) names = {"--help", "--version"};
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  const auto refuse = [&](std::string_view command) {
    throw UsageError(fmt::format("no command '{}': it is {}", word, command));
  };
  for (const auto& [asked, command] : of_plots) {
    if (word == asked) refuse(plots_command({std::string(command)}));
  }
  for (const auto& [asked, command] : of_amasia) {
    if (word == asked) refuse(command);
  }
  std::string nearest = suggestion(word, names);
  if (find_app(word.substr(0, word.find('/'))) != nullptr) {
    nearest = fmt::format("did you mean amasia run {}?", word);
  } else if (is_study(word)) {
    nearest = fmt::format("did you mean amasia study {}?", word);
  }
  throw UsageError(fmt::format("no {} '{}': {} (amasia help)",
                               word.starts_with('-') ? "option" : "command", word, nearest));
}

/// The words behind the program's name, "help run" as "run --help".
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty()) return words;
  if (words.front() == "version") words.front() = "--version";
  if (words.front() == "help") {
    words.erase(words.begin());
    words.resize(std::min<std::size_t>(words.size(), 1));
    words.emplace_back("--help");
  }
  return words;
}

int dispatch(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == child_flag) {
    if (argc == 2) return serve_child(perform_task);
    if (argc == 4) return serve_child(perform_task, argv[2], argv[3]);
  }
  catch_interrupts();
  std::vector<std::string> words = arguments_of(argc, argv);
  refuse_unknown_command(words.empty() ? "" : words.front());
  const Parser parser = make_parser();
  CLI::App& program = *parser.program;
  try {
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    program.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    write_data(program.help());
    return exit_ok;
  } catch (const CLI::CallForVersion& version) {
    print_data("{}\n", version.what());
    return exit_ok;
  } catch (const CLI::ParseError& error) {
    const auto chosen = program.get_subcommands();
    if (chosen.empty()) throw UsageError(fmt::format("{} (amasia help)", error.what()));
    const std::string name = chosen.front()->get_name();
    throw UsageError(fmt::format("{} (amasia help {})",
                                 objection_of(error, *chosen.front(), "amasia " + name), name));
  }
  const Action& act = parser.actions.at(program.get_subcommands().front()->get_name());
  return act({std::vector<std::string>(argv, argv + argc), program});
}

}  // namespace

int exit_status_of(const std::string& program, const std::function<int()>& run) {
  const auto tell = [&](const std::exception& error, ExitStatus status) {
    print_prose("{}: {}\n", program, in_one_line(reason_of(error)));
    return status;
  };
  try {
    return run();
  } catch (const Interrupted& error) {
    return tell(error, exit_interrupted);
  } catch (const NoDevice& error) {
    print_prose("{}: no usable GPU: {} (amasia doctor explains)\n", program,
                in_one_line(error.what()));
    return exit_no_device;
  } catch (const UsageError& error) {
    return tell(error, exit_usage);
  } catch (const OutputError& error) {
    return tell(error, exit_output);
  } catch (const ResultError& error) {
    return tell(error, exit_usage);
  } catch (const std::exception& error) {
    return tell(error, exit_wrong_result);
  }
}

int amasia_main(int argc, char** argv) {
  secure_standard_streams();
  return exit_status_of("amasia", [&] { return dispatch(argc, argv); });
}

namespace {

constexpr std::size_t help_column = 28;  // where the text of an option or command begins

std::string entry(const std::string& name, const std::string& text) {
  return wrapped(fmt::format("  {:<{}}", name + "  ", help_column - 2), text, help_column);
}

/// "FILE"; a check's description follows the type's name.
std::string value_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

std::string remarks(CLI::Option& option) {
  std::string text = option.get_description();
  if (const auto choices = choices_of(option); !choices.empty()) {
    text += fmt::format(": {}", fmt::join(choices, ", "));
  }
  if (option.get_required()) text += " (required)";
  const std::string otherwise = option.get_default_str();
  if (!otherwise.empty()) text += fmt::format(" (default: {})", otherwise);
  return text;
}

std::vector<CLI::Option*> options_of(CLI::App& app, bool positional) {
  return app.get_options(
      [=](const CLI::Option* option) { return option->get_positional() == positional; });
}

std::string option_lines(CLI::App& app, bool positional) {
  std::string text;
  for (CLI::Option* option : options_of(app, positional)) {
    std::string name = name_of(*option);
    if (!positional && !is_flag(*option)) name += ' ' + value_of(*option);
    text += entry(name, remarks(*option));
  }
  return text;
}

std::string exit_line(const ExitMeaning& e) {
  return wrapped(fmt::format("  {:<5}", static_cast<int>(e.status)), e.meaning, 7);
}

std::string example_lines(const std::array<Example, 2>& examples) {
  std::string text = "\nExamples:\n";
  for (const Example& e : examples) {
    text += wrapped("  ", e.line, 6) + wrapped("      ", e.purpose, 6);
  }
  return text;
}

/// "amasia merge --out FILE INPUTS... [OPTIONS]"
std::string usage(CLI::App& app, const std::string& called) {
  std::string text = called;
  for (const CLI::Option* option : options_of(app, false)) {
    if (option->get_required()) text += fmt::format(" {} {}", name_of(*option), value_of(*option));
  }
  for (const CLI::Option* option : options_of(app, true)) {
    std::string name = name_of(*option);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char letter) { return static_cast<char>(std::toupper(letter)); });
    if (option->get_items_expected_max() > 1) name += "...";
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text + " [OPTIONS]";
}

std::string page(CLI::App& app, const Command& command, const std::string& called) {
  std::string text = wrapped("", command.name + ": " + command.summary, 0);
  if (!command.description.empty()) text += wrapped("", command.description, 0);
  text += "\nUsage:\n" + wrapped("  ", usage(app, called), 4);
  const std::string arguments = option_lines(app, true);
  if (!arguments.empty()) text += "\nArguments:\n" + arguments;
  text += "\nOptions:\n" + option_lines(app, false) + "\nExit codes:\n";
  for (const ExitMeaning& e : exit_meanings) {
    const auto& exits = command.exits;
    if (std::find(exits.begin(), exits.end(), e.status) != exits.end()) text += exit_line(e);
  }
  return text + example_lines(command.examples);
}

std::string page(CLI::App& program) {
  std::string text = wrapped("", program.get_description(), 0);
  text += "\nUsage:\n  amasia COMMAND [ARGUMENTS] [OPTIONS]\n  amasia help COMMAND\n";
  for (std::size_t group = 0; group < command_group_titles.size(); ++group) {
    text += fmt::format("\n{}:\n", command_group_titles[group]);
    for (const Command& c : commands()) {
      if (static_cast<std::size_t>(c.group) == group) text += entry(c.name, c.summary);
    }
  }
  text += "\nOptions:\n" + option_lines(program, false) + "\nExit codes:\n";
  for (const ExitMeaning& e : exit_meanings) text += exit_line(e);
  return text + example_lines({{{"amasia list", "what there is to measure"},
                                {"amasia study quick --dry-run",
                                 "what the shortest study would run, and how long that takes"}}});
}

/// CLI11 asks it for help. `alone`: the only command of the program.
class HelpPages : public CLI::FormatterBase {
 public:
  explicit HelpPages(const Command* alone) : alone_(alone) {}
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    // CLI11 hands out a const App, and options with their checks only from one that is not.
    auto& asked = const_cast<CLI::App&>(*app);
    if (alone_ != nullptr) return page(asked, *alone_, alone_->name);
    for (const Command& c : commands()) {
      if (c.name == asked.get_name()) return page(asked, c, "amasia " + c.name);
    }
    return page(asked);
  }

 private:
  const Command* alone_;
};

void give_help(CLI::App& program, const Command* alone, const std::string& name) {
  program.formatter(std::make_shared<HelpPages>(alone));
  program.set_help_flag("--help,-h", "this text");
  program.set_version_flag("--version", fmt::format("{} {}", name, suite_version()),
                           "the version of the program");
}

}  // namespace

std::string name_of(const CLI::Option& option) {
  return option.get_positional() ? option.get_name(true) : "--" + option.get_lnames().front();
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

std::string objection_of(const CLI::ParseError& error, CLI::App& app, const std::string& called) {
  const std::string what = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return fmt::format("{}: {}; expected {}", called, what, usage(app, called));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string name = what.substr(0, what.find(':'));
    if (CLI::Option* option = app.get_option_no_throw(name)) {
      return fmt::format("{}: a value is missing, {}: {}", name, value_of(*option),
                         remarks(*option));
    }
  }
  const std::vector<std::string> left = app.remaining();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || left.empty()) return what;
  const std::string extra = left.front().substr(0, left.front().find('='));
  if (!extra.starts_with('-')) {
    return fmt::format("'{}' is one argument too many; expected {}", extra, usage(app, called));
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : options_of(app, false)) names.push_back(name_of(*option));
  return fmt::format("{} has no option '{}': {}", called, extra,
                     extra == "--gpu" ? "did you mean --device?" : suggestion(extra, names));
}

void give_help(CLI::App& program, const Command& command) {
  give_help(program, &command, command.name);
}

Parser make_parser() {
  Parser parser;
  parser.program = std::make_unique<CLI::App>(
      "Amasia: which way of moving data pays on this GPU, by how much, and why", "amasia");
  CLI::App& program = *parser.program;
  program.require_subcommand(1);
  give_help(program, nullptr, "amasia");
  for (const Command& command : commands()) {
    CLI::App* options = program.add_subcommand(command.name, command.summary);
    options->set_help_flag("--help,-h", "this text");
    parser.actions.emplace(command.name, command.declare(*options));
  }
  return parser;
}

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
