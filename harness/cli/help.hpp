// The parser of the program and its pages of help: one layout for every command.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "harness/cli/command.hpp"

namespace amasia {

/// The parser with every registered command declared on it, and their actions by command name.
struct Parser {
  std::unique_ptr<CLI::App> program;
  std::map<std::string, Action> actions{};
};
Parser make_parser();

/// Makes the `--help` of a program that has this command alone, under its name (amasia-gbench).
/// `command` outlives it.
void give_help(CLI::App& program, const Command& command);

/// What CLI11 objects to in the arguments of `app`, with what is expected and the nearest that
/// there is. `called`: how the command is called, "amasia run".
std::string objection_of(const CLI::ParseError& error, CLI::App& app, const std::string& called);

/// "--size"; "patterns" for a positional argument.
std::string name_of(const CLI::Option& option);

/// Whether the option stands alone: a flag, no value.
bool is_flag(const CLI::Option& option);

}  // namespace amasia
