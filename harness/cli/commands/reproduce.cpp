#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "harness/cli/command_line.hpp"
#include "harness/cli/measuring.hpp"
#include "harness/cli/options.hpp"
#include "harness/conclusions/journal.hpp"
#include "harness/conclusions/sessions.hpp"
#include "harness/plan/campaign.hpp"
#include "harness/report/report.hpp"
#include "harness/results/provenance.hpp"
#include "harness/text/output.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

struct ReproduceRequest : MeasureRequest {
  std::string file{};
  std::vector<std::string> only{};
};

/// Throws UsageError when nothing in the file has such a name.
void check_asked(const ResultFile& file, const std::vector<std::string>& only) {
  std::vector<std::string> names;
  for (const GroupResult* group : shown_groups(file)) names.push_back(group->key.to_string());
  for (const MicrobenchmarkResult* m : shown_microbenchmarks(file)) names.push_back(m->name);
  for (const std::string& pattern : only) {
    if (std::ranges::any_of(names,
                            [&](const std::string& name) { return is_asked({pattern}, name); })) {
      continue;
    }
    throw UsageError(fmt::format("--only {}: nothing in the file has such a name; {}", pattern,
                                 suggestion(pattern, names)));
  }
}

/// A line for each reason: an app that is not there may be that of hundreds of values.
void say_not_possible(const std::vector<NotPossible>& list) {
  std::vector<std::string> reasons;
  std::map<std::string, std::vector<std::string>> of_reason;
  for (const NotPossible& n : list) {
    std::vector<std::string>& names = of_reason[n.reason];
    if (names.empty()) reasons.push_back(n.reason);
    names.push_back(n.what);
  }
  for (const std::string& reason : reasons) {
    const std::vector<std::string>& names = of_reason.at(reason);
    print_prose("not possible here: {}{}: {}\n", names.front(),
                names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "", reason);
  }
}

/// The settings of the file that is measured again: they are those of this run.
Provenance describe_run(const std::vector<std::string>& argv, const ReproduceRequest& r,
                        const Provenance& recorded, const Provenance& queried) {
  std::map<std::string, std::string> settings = recorded.settings;
  settings["reproduces"] = without_folders(r.file);
  settings["shard"] = "";
  settings["energy"] = "false";
  return collect_provenance(argv, "reproduce", settings, r.record_host, queried);
}

bool is_disturbed(const ResultFile& now) {
  const auto is_invalid = [](const auto& result) { return !result.invalid.empty(); };
  return std::ranges::any_of(now.groups, is_invalid) ||
         std::ranges::any_of(now.microbenchmarks, is_invalid);
}

/// What to try next, with the file of the repetition.
void say_what_next(const ResultFile& now, const std::string& file, const std::string& out) {
  if (is_disturbed(now)) {
    say_next(in_shell({"amasia", "reproduce", file}),
             "measures it again, when what disturbed it has ended");
    return;
  }
  say_next(plots_command({"compare", file, out}), "says what is the same, what differs, and why");
}

ExitStatus reproduce(const ReproduceRequest& r, const std::vector<std::string>& argv) {
  const ResultFile recorded = std::move(read_result_files({r.file}).front());
  check_asked(recorded, r.only);
  const Again again = plan_again(recorded, r.only);
  if (r.dry_run) {
    say_not_possible(again.not_possible);
    return preview("reproduce " + r.file, r, {},
                   [&](const std::optional<Device>&) { return again.campaign; });
  }
  keep_inputs({r.file}, {r.session.out});
  // First of all: without a GPU nothing is possible, for one reason.
  const Provenance queried = query_in_child(r.session);
  say_not_possible(again.not_possible);
  if (again.campaign.groups.empty() && again.campaign.microbenchmarks.empty()) {
    print_prose("{}: nothing in it can be measured by this program\n", r.file);
    return exit_wrong_result;
  }
  SessionOptions options = r.session;
  options.ceilings = again.campaign.ceilings;
  options.out = output_of(r.session, queried.device, "reproduce", {r.file});
  print_prose("reproduce {} on {}: {} groups, {} microbenchmarks, results to {}\n", r.file,
              queried.device.name, again.campaign.groups.size(),
              again.campaign.microbenchmarks.size(), options.out);
  const SessionOutcome outcome =
      run_session(again.campaign.groups, describe_run(argv, r, recorded.provenance, queried),
                  options, again.campaign.microbenchmarks);
  if (!is_stdout(options.out)) write_data(to_markdown(outcome.file));
  const Tally tally = report(outcome.file);
  if (const auto status = report_early_end(outcome)) return *status;
  if (tally.failed + tally.crashed > 0) {
    say_next("amasia verify", "checks every config of the variants against the reference");
  } else {
    say_what_next(outcome.file, r.file, options.out);
  }
  const bool all_ran =
      again.not_possible.empty() && tally.failed + tally.crashed + tally.skipped == 0;
  return all_ran ? exit_ok : exit_wrong_result;
}

Action declare_reproduce(CLI::App& options) {
  auto r = std::make_shared<ReproduceRequest>();
  add_file(options, "file", r->file, "the result file to measure again");
  options
      .add_option("--only", r->only,
                  "the cases and microbenchmarks whose whole name matches: 'nw * cold stream' "
                  "(repeatable)")
      ->allow_extra_args(false)
      ->type_name("GLOB")
      ->default_str("all in FILE");
  add_device(options, r->session);
  add_keeping(options, r->session);
  add_dry_run(options, r->dry_run);
  options.add_flag("--record-host", r->record_host, "write the host name into the result file");
  return [r](const std::vector<std::string>& argv) { return reproduce(*r, argv); };
}

const bool reproduce_registered = register_command(
    {.name = "reproduce",
     .group = CommandGroup::measure,
     .summary = "measure again what a result file holds",
     .description =
         "Runs the cases, rows and configs of the file, with its seeds and effort. Exit status 1: "
         "a row is wrong, or not possible here; the output says why. Then python -m plots compare "
         "FILE OUT shows which times, speed-ups and points are the same, and the likely cause of "
         "each difference (GPU, code, clock, driver, compiler).",
     .examples = {{{"amasia reproduce results/h200/quick-nw.json.gz --dry-run",
                    "what would run, and what this program cannot measure"},
                   {"amasia reproduce results/h200/quick-nw.json.gz --only 'nw * cold stream'",
                    "some of its cases on this GPU"}}},
     .declare = declare_reproduce});

}  // namespace
}  // namespace amasia
