// What adding a command costs: this file registers one, as a file of harness/cli/commands/ would,
// and touches nothing else. It is then part of help and the parser.
#include <gtest/gtest.h>

#include <memory>

#include "harness/cli/command.hpp"
#include "harness/cli/help.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/values.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

Action declare(CLI::App& options) {
  auto whom = std::make_shared<std::string>("world");
  auto file = std::make_shared<std::string>();
  options.add_option("--whom", *whom, "who is greeted")
      ->check(one_of({"world", "gpu"}))
      ->type_name("NAME")
      ->default_str("world");
  add_output(options, "--card", *file, "a card to write");
  return [whom](const Invocation&) { return *whom == "gpu" ? exit_no_device : exit_ok; };
}

const bool registered = register_command(
    {.name = "greet",
     .group = CommandGroup::help,
     .summary = "say hello before measuring",
     .examples = {{{"amasia greet", "the world"}, {"amasia greet --whom gpu", "somebody else"}}},
     .exits = {exit_ok, exit_no_device},
     .declare = declare});

TEST(NewCommand, HasAHelpOfItsOwn) {
  const Parser parser = make_parser();
  EXPECT_TRUE(contains(parser.program->help(), "say hello before measuring"));
  const std::string help = parser.program->get_subcommand("greet")->help();
  for (const char* part : {"--whom NAME", "who is greeted: world, gpu (default: world)",
                           "--card FILE", "(default: not written)", "Exit codes:", "3  ",
                           "amasia greet --whom gpu", "somebody else"}) {
    EXPECT_TRUE(contains(help, part));
  }
  EXPECT_EQ(help.find("130"), std::string::npos) << "an exit code it does not name";
}

TEST(NewCommand, IsParsedAndActs) {
  const Parser parser = make_parser();
  std::vector<const char*> argv{"amasia", "greet", "--whom", "gpu"};
  parser.program->parse(static_cast<int>(argv.size()), argv.data());
  EXPECT_EQ(parser.actions.at("greet")({{}, *parser.program}), exit_no_device);
}

}  // namespace
}  // namespace amasia
