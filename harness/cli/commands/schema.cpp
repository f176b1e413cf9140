#include "harness/results/schema.hpp"

#include "harness/cli/command_line.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

Action declare_schema(CLI::App&) {
  return [](const std::vector<std::string>&) {
    write_data(result_schema_text());
    return exit_ok;
  };
}

const bool schema_registered = register_command(
    {.name = "schema",
     .group = CommandGroup::results,
     .summary = "the JSON Schema of result files and profiles",
     .description = "Made from the declarations of the fields, as schema/result.schema.json is.",
     .examples = {{{"amasia schema", "what a result file of this program looks like"},
                   {"amasia schema > schema/result.schema.json", "after a field was added"}}},
     .declare = declare_schema});

}  // namespace
}  // namespace amasia
