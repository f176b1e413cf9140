#include "harness/results/schema.hpp"

#include <memory>
#include <string>

#include "harness/cli/command.hpp"
#include "harness/cli/values.hpp"
#include "harness/results/profile.hpp"
#include "harness/text/json_file.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

Action declare_schema(CLI::App& options) {
  auto of = std::make_shared<std::string>("result");
  options.add_option("--of", *of, "which kind of file")
      ->check(one_of({"result", "profile"}))
      ->default_str("result")
      ->type_name("KIND");
  return [of](const Invocation&) {
    write_data(dump_json(*of == "profile" ? profile_schema() : result_schema()));
    return exit_ok;
  };
}

const bool schema_registered = register_command(
    {.name = "schema",
     .group = CommandGroup::results,
     .summary = "the JSON Schema of a result file, or of a profile",
     .description = "Made from the declarations of the fields, as schema/result.schema.json is.",
     .examples = {{{"amasia schema", "what a result file of this program looks like"},
                   {"amasia schema > schema/result.schema.json", "after a field was added"}}},
     .exits = {exit_ok, exit_usage, exit_output},
     .declare = declare_schema});

}  // namespace
}  // namespace amasia
