#include "harness/cli/command.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/cli/description.hpp"
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

}  // namespace
}  // namespace amasia
