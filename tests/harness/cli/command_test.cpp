#include "harness/cli/command.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "harness/cli/completion.hpp"
#include "harness/cli/description.hpp"
#include "harness/text/wrap.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

Command complete() {
  Command c;
  c.name = "spare";
  c.summary = "nothing";
  c.examples = {{{"amasia spare", "once"}, {"amasia spare", "twice"}}};
  c.exits = {exit_ok};
  c.declare = [](CLI::App&) { return Action{}; };
  return c;
}

/// A mistake in a registration ends here and does not register anything.
template <class Change>
std::string refusal(Change change) {
  Command c = complete();
  change(c);
  return message_of<std::logic_error>([&] { register_command(c); });
}

TEST(Command, AnIncompleteOneIsRefused) {
  EXPECT_TRUE(contains(refusal([](Command& c) { c.summary.clear(); }), "no summary"));
  EXPECT_TRUE(contains(refusal([](Command& c) { c.exits.clear(); }), "exit status"));
  EXPECT_TRUE(contains(refusal([](Command& c) { c.declare = nullptr; }), "declares no"));
  EXPECT_TRUE(contains(refusal([](Command& c) { c.examples[1].line.clear(); }), "example"));
  EXPECT_TRUE(
      contains(refusal([](Command& c) { c.examples[0].line = "amasia other"; }), "example"));
  EXPECT_TRUE(contains(refusal([](Command& c) {
                         c.name = "run";
                         c.examples = {{{"amasia run", "a"}, {"amasia run", "b"}}};
                       }),
                       "twice"));
}

TEST(Command, EveryFileOfTheFolderIsRegistered) {
  std::set<std::string> files, names;
  const std::filesystem::path folder =
      std::filesystem::path(AMASIA_SOURCE_DIR) / "harness/cli/commands";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".cpp") files.insert(entry.path().stem().string());
  }
  for (const Command& c : commands()) names.insert(c.name);
  EXPECT_EQ(files, names);
  EXPECT_GE(files.size(), 11u);
}

TEST(Command, ExitMeaningsAreAscendingAndNameEveryStatusACommandUses) {
  EXPECT_TRUE(std::is_sorted(exit_meanings.begin(), exit_meanings.end(),
                             [](const auto& a, const auto& b) { return a.status < b.status; }));
  for (const Command& c : commands()) {
    for (const ExitStatus status : c.exits) {
      EXPECT_TRUE(std::any_of(exit_meanings.begin(), exit_meanings.end(),
                              [&](const ExitMeaning& e) { return e.status == status; }))
          << c.name;
    }
  }
}

TEST(Help, OfEveryCommandShowsDefaultsExitCodesAndTwoExamples) {
  const Parser parser = make_parser();
  for (const CommandDescription& c : describe(*parser.program).commands) {
    const std::string help = parser.program->get_subcommand(c.command->name)->help();
    for (const Example& e : c.command->examples) EXPECT_TRUE(contains(help, e.line));
    for (const ExitStatus status : c.command->exits) {
      EXPECT_TRUE(contains(help, "  " + std::to_string(static_cast<int>(status)) + " "));
    }
    for (const OptionDescription& o : c.options) {
      EXPECT_TRUE(contains(help, "  " + o.name));
      EXPECT_FALSE(o.help.empty()) << o.name;
      if (o.is_flag() || o.required) continue;  // a flag is off
      EXPECT_FALSE(o.otherwise.empty()) << c.command->name << " " << o.name << " has no default";
      EXPECT_TRUE(contains(help, "(default:"));
    }
  }
}

TEST(Help, FitsThePage) {
  const Parser parser = make_parser();
  const ProgramDescription program = describe(*parser.program);
  std::string pages = to_help(program);
  for (const CommandDescription& c : program.commands) pages += to_help(c);
  std::istringstream lines(pages);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(columns_of(line), page_columns) << line;
  }
}

TEST(Usage, NamesArgumentsAndWhatMustBeGiven) {
  const Parser parser = make_parser();
  std::map<std::string, std::string> usages;
  for (const CommandDescription& c : describe(*parser.program).commands) {
    usages[c.command->name] = usage(c);
  }
  EXPECT_EQ(usages["reproduce"], "amasia reproduce FILE [OPTIONS]");
  EXPECT_EQ(usages["merge"], "amasia merge --out FILE INPUTS... [OPTIONS]");
  EXPECT_EQ(usages["study"], "amasia study NAME [PATTERNS...] [OPTIONS]");
}

TEST(Completion, OffersEveryOptionAndItsValues) {
  const Parser parser = make_parser();
  const ProgramDescription program = describe(*parser.program);
  for (const std::string& shell : completion_shells()) {
    const std::string script = completion_script(program, shell);
    for (const CommandDescription& c : program.commands) {
      for (const OptionDescription& o : c.options) {
        if (o.positional) continue;
        EXPECT_TRUE(contains(script, shell == "fish" ? "-l " + o.name.substr(2) : o.name));
        for (const std::string& choice : o.choices) EXPECT_TRUE(contains(script, choice));
      }
    }
  }
  EXPECT_THROW(completion_script(program, "csh"), std::logic_error);
}

}  // namespace
}  // namespace amasia
