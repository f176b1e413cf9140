#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "tests/files.hpp"

namespace amasia {
namespace {

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

TEST(Help, OfEveryCommandShowsDefaultsAndTwoExamples) {
  const Parser parser = make_parser();
  for (const Command& c : commands()) {
    CLI::App& declared = *parser.program->get_subcommand(c.name);
    const std::string help = declared.help();
    for (const Example& e : c.examples) EXPECT_TRUE(contains(help, e.line));
    for (const CLI::Option* o : declared.get_options([](CLI::Option*) { return true; })) {
      EXPECT_TRUE(contains(help, name_of(*o)));
      EXPECT_FALSE(o->get_description().empty()) << name_of(*o);
      if (is_flag(*o) || o->get_required()) continue;  // a flag is off
      EXPECT_FALSE(o->get_default_str().empty()) << c.name << " " << name_of(*o);
      EXPECT_TRUE(contains(help, "(default:"));
    }
  }
}

std::string said(const CLI::Validator& check, std::string text) { return check(text); }

TEST(Values, AreTakenOrRefusedInAShortLine) {
  const auto seconds = number_between(0.001, 604800.0, "seconds");
  const std::string long_one(5000, '9');
  const struct {
    CLI::Validator check;
    std::vector<std::string> right, wrong;
  } cases[] = {
      {seconds,
       {"0.001", "1", "1e3", "604800"},
       {"nan", "-nan", "inf", "-1", "0", "1e999", "", "1s", " 1", "0x10", "1,5", long_one}},
      {number_between<std::int64_t>(0, 1023),
       {"0", "1023"},
       {"-1", "1024", "1.0", "0x1", "", "100000000000000000000", "nan"}},
      {number_between<std::uint64_t>(0, UINT64_MAX),
       {"0", "18446744073709551615"},
       {"-1", "18446744073709551616", long_one}},
      {one_of({"cold", "hot"}), {"hot"}, {"", "warm", long_one}}};
  for (const auto& c : cases) {
    for (const std::string& text : c.right) EXPECT_EQ(said(c.check, text), "") << text;
    for (const std::string& text : c.wrong) {
      EXPECT_NE(said(c.check, text), "") << text;
      EXPECT_LT(said(c.check, text).size(), 150u);
    }
  }
  EXPECT_EQ(said(seconds, "1s"), "'1s' is no number of seconds from 0.001 to 604800");
  EXPECT_EQ(said(one_of({"smoke", "quick"}), "quik"), "no 'quik': did you mean quick?");
  std::string became = "010";
  EXPECT_EQ(number_between<std::int64_t>(0, 1023)(became), "");
  EXPECT_EQ(became, "10") << "not octal";
}

}  // namespace
}  // namespace amasia
