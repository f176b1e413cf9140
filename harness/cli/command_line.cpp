#include "harness/cli/command_line.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

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

// Registration happens while namespace-scope constants are initialised, in an order the linker
// chose: a function-local static exists before its first use, and it is kept sorted, by group, then
// by name.
std::vector<Command>& commands() {
  static std::vector<Command> list;
  return list;
}

bool precedes(const Command& a, const Command& b) {
  return std::tie(a.group, a.name) < std::tie(b.group, b.name);
}

/// Commands of plots, though their names may be tried here.
constexpr std::string_view of_plots[] = {"advise", "compare", "expect", "figure",
                                         "plot",   "report",  "why",    "reproduction"};

/// CLI11 would only say that a command is missing: names the one that was meant.
void refuse_unknown_command(const std::string& word) {
  if (word.empty()) throw UsageError("a command is expected, such as amasia list (amasia help)");
  std::vector<std::string> names{"help", "version"};
  for (const Command& c : commands()) names.push_back(c.name);
  if (word == "-h") return;
  if (word.starts_with('-')) names = {"--help", "--version"};
  if (std::ranges::find(names, word) != names.end()) return;
  if (std::find(std::begin(of_plots), std::end(of_plots), word) != std::end(of_plots)) {
    const std::string command = plots_command({word == "plot" ? "report" : word});
    throw UsageError(fmt::format("no command '{}': it is {}", word, command));
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

/// "FILE"; behind it, the choices of one_of().
std::pair<std::string, std::string> type_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t end = std::min(type.find(':'), type.size());
  return {type.substr(0, end), type.substr(std::min(end + 1, type.size()))};
}

/// Beside CLI11's: choices and defaults after the description, in lines of a page.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override {
    return wrapped("", app->get_description(), 0);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const bool is_flag = option->get_items_expected_max() == 0;
    return is_flag ? "" : " " + type_of(*option).first;
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    if (const std::string choices = type_of(*option).second; !choices.empty()) {
      text += ": " + choices;
    }
    if (option->get_required()) text += " (required)";
    const std::string otherwise = option->get_default_str();
    if (!otherwise.empty()) text += fmt::format(" (default: {})", otherwise);
    text = wrapped("", text, 0, page_columns - get_column_width());
    text.pop_back();  // CLI11 ends the line
    return text;
  }
};

/// Every exit status there is, in ascending order.
constexpr std::pair<ExitStatus, std::string_view> exit_meanings[] = {
    {exit_ok, "done, and nothing wrong was found"},
    {exit_wrong_result, "a wrong result, a crash, or something that could not be done"},
    {exit_usage, "a mistake in the command line, or a file that cannot be used"},
    {exit_no_device, "no usable GPU, or a program built without CUDA"},
    {exit_invalid_measurement,
     "a measurement is not valid (only with --strict, or where `tune` has no winner)"},
    {exit_output, "standard output could not be written"},
    {exit_interrupted, "interrupted; what was finished is kept"},
};

std::string example_lines(const std::array<Example, 2>& examples) {
  std::string text = "Examples:\n";
  for (const Example& e : examples) {
    text += wrapped("  ", e.line, 6) + wrapped("      ", e.purpose, 6);
  }
  return text;
}

void declare_help(CLI::App& app, const Command& command) {
  app.set_help_flag("--help,-h", "this text");
  const std::string more =
      command.description.empty() ? "" : wrapped("", command.description, 0) + '\n';
  app.footer(more + example_lines(command.examples));
}

void declare_version(CLI::App& program) {
  program.formatter(std::make_shared<HelpFormatter>());
  program.set_version_flag("--version", fmt::format("{} {}", program.get_name(), suite_version()),
                           "the version of the program");
}

/// The parser with every registered command declared on it, and their actions by command name.
struct Parser {
  std::unique_ptr<CLI::App> program;
  std::map<std::string, Action> actions{};
};

Parser make_parser() {
  constexpr const char* group_titles[] = {"Measure", "Work with result files", "Find out"};
  Parser parser;
  parser.program = std::make_unique<CLI::App>(
      "Amasia: which way of moving data pays on this GPU, by how much, and why", "amasia");
  CLI::App& program = *parser.program;
  program.require_subcommand(1);
  declare_version(program);
  program.set_help_flag("--help,-h", "this text; amasia help COMMAND has that of a command");
  std::string exits = "Exit codes:\n";
  for (const auto& [status, meaning] : exit_meanings) {
    exits += wrapped(fmt::format("  {:<5}", static_cast<int>(status)), meaning, 7);
  }
  program.footer(exits + '\n' +
                 example_lines({{{"amasia list", "what there is to measure"},
                                 {"amasia study quick --dry-run",
                                  "what the shortest study would run, and how long it takes"}}}));
  for (const Command& command : commands()) {
    CLI::App* options = program.add_subcommand(command.name, command.summary);
    options->group(group_titles[static_cast<std::size_t>(command.group)]);
    declare_help(*options, command);
    parser.actions.emplace(command.name, command.declare(*options));
  }
  return parser;
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
    std::ranges::reverse(words);  // as CLI11 takes them
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
  return act({argv, argv + argc});
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
  keep_freed_memory();
  return exit_status_of("amasia", [&] { return dispatch(argc, argv); });
}

std::string objection_of(const CLI::ParseError& error, CLI::App& app, const std::string& called) {
  const std::vector<std::string> left = app.remaining();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || left.empty()) return error.what();
  const std::string extra = left.front().substr(0, left.front().find('='));
  if (!extra.starts_with('-')) return fmt::format("'{}' is one argument too many", extra);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) names.push_back("--" + option->get_lnames().front());
  }
  return fmt::format("{} has no option '{}': {}", called, extra,
                     extra == "--gpu" ? "did you mean --device?" : suggestion(extra, names));
}

void give_help(CLI::App& program, const Command& command) {
  declare_version(program);
  declare_help(program, command);
}

bool register_command(Command command) {
  std::vector<Command>& list = commands();
  for (const Command& known : list) {
    if (known.name == command.name) throw std::logic_error(known.name + " is registered twice");
  }
  list.insert(std::ranges::upper_bound(list, command, precedes), std::move(command));
  return true;
}

}  // namespace amasia
