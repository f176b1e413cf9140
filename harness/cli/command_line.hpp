// The `amasia` program: arguments in, exit status out. A command is one file
// harness/cli/commands/<name>.cpp that registers itself on its last lines; help is made of what is
// registered here and of the options it declares.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace amasia {

int amasia_main(int argc, char** argv);

/// What `program` ("amasia") returns to the shell: what `run` returns, or the exit status that
/// belongs to what it throws, which is told in one line.
int exit_status_of(const std::string& program, const std::function<int()>& run);

/// How the programs end; `--help` has what each means.
enum ExitStatus {
  exit_ok = 0,
  exit_wrong_result = 1,
  exit_usage = 2,
  exit_no_device = 3,
  exit_invalid_measurement = 4,
  exit_output = 5,
  exit_interrupted = 130,
};

/// Under which heading a command is listed, in this order.
enum class CommandGroup { measure, results, help };

struct Example {
  std::string line;     // "amasia run pathfinder"
  std::string purpose;  // "time all variants of one app, cold"
};

/// Does the command's work and returns the exit status. `argv`: as typed, for the record. Throws
/// UsageError, ResultError, NoDevice.
using Action = std::function<ExitStatus(const std::vector<std::string>& argv)>;

struct Command {
  std::string name;
  CommandGroup group = CommandGroup::help;
  std::string summary;                // one line, no full stop
  std::string description{};          // more than the summary says: sentences
  std::array<Example, 2> examples{};  // each starts with "amasia <name>"
  /// Declares the options on `options` (with harness/cli/options.hpp) and returns the action, which
  /// owns what they were parsed into.
  std::function<Action(CLI::App& options)> declare;
};

/// Returns true so that a namespace-scope constant can call it. Throws std::logic_error for a
/// second command of a name.
bool register_command(Command command);

/// Makes the `--help` of a program that has this command alone, under its name (amasia-gbench).
/// `command` outlives it.
void give_help(CLI::App& program, const Command& command);

/// What CLI11 objects to in the arguments of `app`, with the nearest option that there is.
/// `called`: how the command is called, "amasia run".
std::string objection_of(const CLI::ParseError& error, CLI::App& app, const std::string& called);

}  // namespace amasia
