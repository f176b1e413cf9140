#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/results/upgrade.hpp"
#include "harness/text/json_file.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

ExitStatus upgrade_files(const std::vector<std::string>& paths, const std::string& digests) {
  std::map<std::string, std::string> known;
  if (!digests.empty()) known = read_digests(digests);
  for (const std::string& path : paths) {
    if (result_version_of(read_json_file(path)) == result_schema_version) {
      print_prose("{}: is of version {} already\n", path, result_schema_version);
      continue;
    }
    ResultFile file = read_result_file(path);
    upgrade(file, known);
    write_result_file(path, file);
    print_prose("{}: is of version {} now\n", path, result_schema_version);
  }
  return exit_ok;
}

Action declare_upgrade(CLI::App& options) {
  auto files = std::make_shared<std::vector<std::string>>();
  auto digests = std::make_shared<std::string>();
  options
      .add_option("files", *files, "result files of an older schema version, rewritten in place")
      ->required()
      ->type_name("FILE");
  options
      .add_option("--sources", *digests,
                  "digests of the code that was measured, as amasia list --sources prints them")
      ->type_name("FILE")
      ->default_str("unknown");
  return [files, digests](const Invocation&) { return upgrade_files(*files, *digests); };
}

const bool upgrade_registered = register_command(
    {.name = "upgrade",
     .group = CommandGroup::results,
     .summary = "result files of an older schema version as files of this one",
     .description = "Samples stay as they are; what older versions do not have is computed: claims "
                    "from the samples, a digest over the content of the file. Digests of the code "
                    "in version 1 say nothing about those of later ones: they become unknown, or "
                    "those of --sources, which must then be of the very code that was measured.",
     .examples = {{{"amasia upgrade out/h200-quick.json", "a file of version 1, in place"},
                   {"amasia upgrade out/*.json --sources digests.json",
                    "with the digests of the code that was measured"}}},
     .exits = {exit_ok, exit_usage},
     .declare = declare_upgrade});

}  // namespace
}  // namespace amasia
