#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "harness/cli/closing.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/result_files.hpp"
#include "harness/results/compare.hpp"
#include "harness/text/json_file.hpp"
#include "harness/text/output.hpp"
#include "harness/text/shell.hpp"

namespace amasia {
namespace {

struct CompareRequest {
  std::string older{}, newer{};
  double confidence = 0.95;
  std::vector<std::string> sessions{};
  ExportPaths exports{};
};

/// "NEW against OLD: of 42 cases 3 faster, 1 slower, 38 not resolved; most: ...".
std::string summary(const FileComparison& c) {
  const auto count = [&](Change change) {
    return std::count_if(c.rows.begin(), c.rows.end(),
                         [&](const FileComparisonRow& row) { return row.verdict == change; });
  };
  std::string text = fmt::format(
      "NEW against OLD: of {} cases {} faster, {} slower, {} not resolved", c.rows.size(),
      count(Change::faster), count(Change::slower), count(Change::not_resolved));
  if (const auto few = count(Change::too_few_rounds); few > 0) {
    text += fmt::format(", {} with too few rounds", few);
  }
  const auto change = [](const FileComparisonRow& row) {
    return std::max(row.speedup.ratio, 1 / row.speedup.ratio);
  };
  const FileComparisonRow* most = nullptr;
  for (const FileComparisonRow& row : c.rows) {
    if (!row.speedup.resolved) continue;
    if (most == nullptr || change(row) > change(*most)) most = &row;
  }
  if (most != nullptr) {
    text += fmt::format("; most: {} ({}) {} {:.2f}x [{:.2f}, {:.2f}]", most->variant,
                        word_of(most->role), most->key.to_string(), most->speedup.ratio,
                        most->speedup.low, most->speedup.high);
  }
  const auto one_run = std::count_if(
      c.rows.begin(), c.rows.end(), [](const FileComparisonRow& row) { return !row.between_runs; });
  if (one_run > 0) {
    text += fmt::format(
        "; {} cases are judged by one run on each side, and a plain re-run may differ by more: "
        "give "
        "files of repeated runs (amasia run --sessions, amasia merge), or --sessions FILE",
        one_run);
  }
  return text;
}

ExitStatus compare(const CompareRequest& r) {
  std::vector<std::string> inputs = r.sessions;
  inputs.insert(inputs.end(), {r.older, r.newer});
  keep_inputs(inputs, "", r.exports);
  const std::vector<ResultFile> files = read_result_files({r.older, r.newer});
  const std::vector<ResultFile> repeated = read_result_files(r.sessions);
  std::vector<const ResultFile*> more;
  for (const ResultFile& file : repeated) more.push_back(&file);
  const FileComparison c = compare_files(files[0], files[1], r.confidence, more);
  write_output(r.exports.json, dump_json(to_json(c)));
  write_output(r.exports.csv, to_csv(c));
  write_output(r.exports.markdown, to_markdown(c));
  if (r.exports.none()) write_data(to_markdown(c));
  for (const std::string& w : c.warnings) print_prose("warning: {}\n", w);
  if (c.rows.empty()) return exit_wrong_result;  // the warnings say why
  print_prose("{}\n", summary(c));
  say_next(in_shell({"python", "-m", "plots", "expect", r.older, r.newer}),
           "sets the change beside what the source documents expect of it");
  return exit_ok;
}

Action declare_compare(CLI::App& options) {
  auto r = std::make_shared<CompareRequest>();
  options.add_option("old", r->older, "result file to compare with")->required()->type_name("FILE");
  options.add_option("new", r->newer, "result file to judge")->required()->type_name("FILE");
  add_confidence(options, r->confidence);
  options
      .add_option("--sessions", r->sessions,
                  "files of repeated runs: they tell how far rows move between runs (repeatable)")
      ->allow_extra_args(false)
      ->type_name("FILE")
      ->default_str("OLD and NEW alone");
  add_output(options, "--json", r->exports.json, "as JSON, - for stdout");
  add_output(options, "--csv", r->exports.csv, "as CSV, - for stdout");
  add_output(options, "--markdown", r->exports.markdown, "as Markdown, - for stdout",
             "stdout, when no form is asked for");
  return [r](const Invocation&) { return compare(*r); };
}

const bool compare_registered = register_command(
    {.name = "compare",
     .group = CommandGroup::results,
     .summary = "two result files, OLD then NEW: what became faster or slower",
     .description = "First the old file, then the new one, as in python -m plots expect OLD NEW. A "
                    "speed-up above 1 means that NEW is faster. A difference is held against what "
                    "differs between runs where files of repeated runs tell it, else against the "
                    "samples of the two runs alone. Of all that is called faster or slower a share "
                    "of 1 - confidence at most is so wrongly. In the tables A is OLD and B is NEW.",
     .examples = {{{"amasia compare results/h200/quick.json.gz out/h200-quick.json.gz",
                    "this machine against the recorded one"},
                   {"amasia compare OLD.json NEW.json --csv -", "the same table for a program"}}},
     .exits = {exit_ok, exit_wrong_result, exit_usage, exit_output},
     .declare = declare_compare});

}  // namespace
}  // namespace amasia
