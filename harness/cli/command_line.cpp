#include "harness/cli/command_line.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "harness/cli/command.hpp"
#include "harness/cli/description.hpp"
#include "harness/errors.hpp"
#include "harness/process/isolation.hpp"
#include "harness/registry.hpp"
#include "harness/session/child_task.hpp"
#include "harness/session/session.hpp"
#include "harness/text/host_memory.hpp"
#include "harness/text/output.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

/// CLI11 would only say that a command is missing: names the one that was meant.
void refuse_unknown_command(const std::string& word) {
  if (word.empty() || word.front() == '-') return;
  std::vector<std::string> names;
  for (const Command& c : commands()) names.push_back(c.name);
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  throw UsageError(
      fmt::format("no command '{}': {} (python -m plots --help has those of the analysis)", word,
                  suggestion(word, names)));
}

int dispatch(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == child_flag) {
    if (argc == 2) return serve_child(perform_task);
    if (argc == 4) return serve_child(perform_task, argv[2], argv[3]);
  }
  catch_interrupts();
  // Of an app that somebody else wrote. What is sound goes on, and the end is not "nothing wrong".
  for (const std::string& mistake : registration_mistakes()) {
    print_prose("amasia: {}\n", in_one_line(mistake));
  }
  refuse_unknown_command(argc > 1 ? argv[1] : "");
  const Parser parser = make_parser();
  CLI::App& program = *parser.program;
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    write_data(program.help());
    return exit_ok;
  } catch (const CLI::CallForVersion& version) {
    print_data("{}\n", version.what());
    return exit_ok;
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (amasia --help)", error.what()));
  }
  const Action& act = parser.actions.at(program.get_subcommands().front()->get_name());
  const ExitStatus status = act({std::vector<std::string>(argv, argv + argc), program});
  return status == exit_ok && !registration_mistakes().empty() ? exit_wrong_result : status;
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
