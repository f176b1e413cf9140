#include "harness/cli/command.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/cli/help.hpp"
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

TEST(Help, OfEveryCommandShowsDefaultsExitCodesAndTwoExamples) {
  const Parser parser = make_parser();
  for (const Command& c : commands()) {
    CLI::App& declared = *parser.program->get_subcommand(c.name);
    const std::string help = declared.help();
    for (const Example& e : c.examples) EXPECT_TRUE(contains(help, e.line));
    for (const ExitStatus status : c.exits) {
      EXPECT_TRUE(contains(help, "  " + std::to_string(static_cast<int>(status)) + " "));
    }
    for (const CLI::Option* o : declared.get_options([](CLI::Option*) { return true; })) {
      EXPECT_TRUE(contains(help, "  " + name_of(*o)));
      EXPECT_FALSE(o->get_description().empty()) << name_of(*o);
      if (is_flag(*o) || o->get_required()) continue;  // a flag is off
      EXPECT_FALSE(o->get_default_str().empty()) << c.name << " " << name_of(*o);
      EXPECT_TRUE(contains(help, "(default:"));
    }
  }
}

}  // namespace
}  // namespace amasia
