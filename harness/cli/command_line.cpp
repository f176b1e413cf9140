#include "harness/cli/command_line.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "harness/cli/command.hpp"
#include "harness/cli/help.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/outputs.hpp"
#include "harness/errors.hpp"
#include "harness/process/isolation.hpp"
#include "harness/registry.hpp"
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

}  // namespace amasia
