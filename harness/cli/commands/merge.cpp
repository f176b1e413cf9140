#include <memory>
#include <string>
#include <vector>

#include "harness/cli/command_line.hpp"
#include "harness/cli/options.hpp"
#include "harness/conclusions/journal.hpp"
#include "harness/conclusions/sessions.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

ExitStatus merge_inputs(const std::vector<std::string>& inputs, const std::string& out) {
  const std::vector<ResultFile> files = read_result_files(inputs);
  check_writable(out, 1 << 20);
  const Merged merged = merge(files, inputs);
  for (const std::string& note : merged.notes) print_prose("note: {}\n", note);
  write_result_file(out, merged.file);
  return exit_ok;
}

Action declare_merge(CLI::App& options) {
  auto inputs = std::make_shared<std::vector<std::string>>();
  auto out = std::make_shared<std::string>();
  add_file(options, "inputs", *inputs, "result files, or journals of interrupted runs");
  add_file(options, "--out", *out, "the merged file");
  return [inputs, out](const std::vector<std::string>&) { return merge_inputs(*inputs, *out); };
}

const bool merge_registered = register_command(
    {.name = "merge",
     .group = CommandGroup::results,
     .summary = "shards or repeated runs into one result file",
     .description =
         "Shards must agree in settings (but for the shard), build, type of GPU, driver "
         "and sources. Files with the same cases become sessions of one file. A row joins "
         "them when its code is the same, whatever the commit; the output names rows "
         "that do not.",
     .examples = {{{"amasia merge out/shard-*.json.gz --out out/sweep.json.gz",
                    "what an array job with --shard i/n measured"},
                   {"amasia merge monday.json.gz friday.json.gz --out both.json.gz",
                    "two runs of the same cases, as sessions"}}},
     .declare = declare_merge});

}  // namespace
}  // namespace amasia
