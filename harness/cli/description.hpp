// The program's commands and options as plain data, read from what CLI11 was told and from the
// registered commands: help and completion are renderings of it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "harness/cli/command.hpp"

namespace amasia {

struct OptionDescription {
  std::string name;                    // "--size"; "patterns" for a positional argument
  std::string value{};                 // "FILE"; "" for a flag
  std::string help{};                  // a phrase, no full stop
  std::string otherwise{};             // its default
  std::vector<std::string> choices{};  // the only values allowed
  std::vector<std::string> offers{};   // names worth offering; others are allowed
  bool positional = false, required = false, repeatable = false;

  bool is_flag() const { return !positional && value.empty(); }
  bool is_file() const { return value == "FILE"; }
};

struct CommandDescription {
  const Command* command = nullptr;
  std::string called{};                      // "amasia run"
  std::vector<OptionDescription> options{};  // positional arguments first
};

struct ProgramDescription {
  std::string name, summary;
  std::vector<OptionDescription> options{};
  std::vector<CommandDescription> commands{};  // as of commands()
};

/// The parser with every registered command declared on it, and their actions by command name.
struct Parser {
  std::unique_ptr<CLI::App> program;
  std::map<std::string, Action> actions{};
};
Parser make_parser();

ProgramDescription describe(CLI::App& program);

/// Makes the `--help` of a program that has this command alone, under its name (amasia-gbench).
/// `command` outlives it.
void describe_alone(CLI::App& program, const Command& command);

/// "amasia run [OPTIONS] [patterns]..."
std::string usage(const CommandDescription& command);

/// `amasia --help` and `amasia <command> --help`: lines of at most 100 columns.
std::string to_help(const ProgramDescription& program);
std::string to_help(const CommandDescription& command);

}  // namespace amasia
