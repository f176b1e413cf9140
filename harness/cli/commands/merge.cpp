#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/conclusions/journal.hpp"
#include "harness/conclusions/merge.hpp"
#include "harness/errors.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

using Names = std::set<std::string>;

std::string app_of(const std::string& variant) { return variant.substr(0, variant.find('/')); }
std::string itself(const std::string& variant) { return variant; }

/// Takes out of every input the rows whose name is asked for, or all others. An input that has
/// nothing any more is no session without a case.
void reduce(std::vector<ResultFile>& files, std::vector<std::string>& inputs, const Names& asked,
            const char* what, std::string (&name_of)(const std::string& variant), bool stay) {
  if (asked.empty()) return;
  Names seen;
  for (const ResultFile& file : files) {
    for (const GroupResult& group : file.groups) {
      for (const Row& row : group.rows) seen.insert(name_of(row.variant));
    }
  }
  for (const std::string& name : asked) {
    if (seen.contains(name)) continue;
    throw UsageError(fmt::format("no input has {} '{}'; they have: {}", what, name,
                                 seen.empty() ? "none" : fmt::format("{}", fmt::join(seen, ", "))));
  }
  for (std::size_t f = files.size(); f-- > 0;) {
    files[f] = only_rows(std::move(files[f]), [&](const std::string& variant) {
      return asked.contains(name_of(variant)) == stay;
    });
    if (!files[f].groups.empty() || !files[f].microbenchmarks.empty()) continue;
    files.erase(files.begin() + static_cast<std::ptrdiff_t>(f));
    inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(f));
  }
  if (files.empty()) throw UsageError("nothing would be left of the inputs");
}

ExitStatus merge_inputs(std::vector<std::string> inputs, const std::string& out, const Names& apps,
                        const Names& without) {
  std::vector<ResultFile> files = read_result_files(inputs);
  for (ResultFile& file : files) {
    if (!apps.empty()) file.microbenchmarks.clear();
  }
  reduce(files, inputs, apps, "a group of the app", app_of, true);
  reduce(files, inputs, without, "a row of the variant", itself, false);
  check_writable(out, 1 << 20);
  const Merged merged = merge(files, inputs);
  for (const std::string& note : merged.notes) print_prose("note: {}\n", note);
  write_result_file(out, merged.file);
  return exit_ok;
}

Action declare_merge(CLI::App& options) {
  auto inputs = std::make_shared<std::vector<std::string>>();
  auto out = std::make_shared<std::string>();
  options.add_option("inputs", *inputs, "result files, or journals of interrupted runs")
      ->required()
      ->type_name("FILE");
  auto apps = std::make_shared<std::vector<std::string>>();
  options.add_option("--out", *out, "the merged file")->required()->type_name("FILE");
  options.add_option("--app", *apps, "only what the inputs have of this app (repeatable)")
      ->default_str("all")
      ->type_name("APP");
  auto without = std::make_shared<std::vector<std::string>>();
  options
      .add_option("--without", *without,
                  "all but the rows of this variant, as when its code has changed (repeatable)")
      ->default_str("none")
      ->type_name("VARIANT");
  return [inputs, out, apps, without](const Invocation&) {
    return merge_inputs(*inputs, *out, {apps->begin(), apps->end()},
                        {without->begin(), without->end()});
  };
}

const bool merge_registered = register_command(
    {.name = "merge",
     .group = CommandGroup::results,
     .summary = "shards or repeated runs into one result file",
     .description =
         "Shards must agree in settings (but for the shard), build, type of GPU, driver "
         "and sources. Files with the same cases become sessions of one file. A row joins "
         "them when its code is the same, whatever the commit; the output names rows "
         "that do not. With --app the file has that app alone, without "
         "microbenchmarks.",
     .examples = {{{"amasia merge out/shard-*.json.gz --out out/sweep.json.gz",
                    "what an array job with --shard i/n measured"},
                   {"amasia merge out/paper.json.gz --app nw --out out/paper-nw.json.gz",
                    "a file divided: what it has of one app"}}},
     .exits = {exit_ok, exit_wrong_result, exit_usage},
     .declare = declare_merge});

}  // namespace
}  // namespace amasia
