// What a command of the `amasia` program is. A command is one file harness/cli/commands/<name>.cpp
// that registers itself on its last lines; help is made of what is registered here
// and of the options it declares.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "harness/cli/command_line.hpp"

namespace amasia {

/// Under which heading a command is listed, in this order.
enum class CommandGroup { measure, results, help };
inline constexpr std::array<std::string_view, 3> command_group_titles{
    "Measure", "Work with result files", "Find out"};

struct Example {
  std::string line;     // "amasia run pathfinder"
  std::string purpose;  // "time all variants of one app, cold"
};

/// What an action is called with.
struct Invocation {
  std::vector<std::string> argv;  // as typed, for the record
  CLI::App& program;              // all commands and their options, for those that describe them
};

/// Does the command's work and returns the exit status. Throws UsageError, ResultError, NoDevice.
using Action = std::function<ExitStatus(const Invocation&)>;

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

/// By group, then by name.
const std::vector<Command>& commands();

// The parser of the program and its pages of help: one layout for every command.

/// The parser with every registered command declared on it, and their actions by command name.
struct Parser {
  std::unique_ptr<CLI::App> program;
  std::map<std::string, Action> actions{};
};
Parser make_parser();

/// Makes the `--help` of a program that has this command alone, under its name (amasia-gbench).
/// `command` outlives it.
void give_help(CLI::App& program, const Command& command);

/// What CLI11 objects to in the arguments of `app`, with the nearest option that there is.
/// `called`: how the command is called, "amasia run".
std::string objection_of(const CLI::ParseError& error, CLI::App& app, const std::string& called);

/// "--size"; "patterns" for a positional argument.
std::string name_of(const CLI::Option& option);

/// Whether the option stands alone: a flag, no value.
bool is_flag(const CLI::Option& option);

}  // namespace amasia
