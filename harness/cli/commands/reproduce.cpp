#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "harness/cli/closing.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/preview.hpp"
#include "harness/cli/result_files.hpp"
#include "harness/plan/again.hpp"
#include "harness/results/again.hpp"
#include "harness/results/provenance.hpp"
#include "harness/results/sessions.hpp"
#include "harness/text/json_file.hpp"
#include "harness/text/output.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

struct ReproduceRequest {
  std::string file{};
  std::vector<std::string> sessions{}, only{};
  SessionOptions session{};
  ExportPaths exports{};
  bool dry_run = false, record_host = false;
};

/// Throws UsageError when nothing in the file has such a name.
void check_asked(const ResultFile& file, const std::vector<std::string>& only) {
  std::vector<std::string> names;
  for (const GroupResult* group : shown_groups(file)) names.push_back(group->key.to_string());
  for (const MicrobenchmarkResult* m : shown_microbenchmarks(file)) names.push_back(m->name);
  for (const std::string& pattern : only) {
    if (std::any_of(names.begin(), names.end(),
                    [&](const std::string& name) { return is_asked({pattern}, name); })) {
      continue;
    }
    throw UsageError(fmt::format("--only {}: nothing in the file has such a name; {}", pattern,
                                 suggestion(pattern, names)));
  }
}

void say_not_possible(const std::vector<NotPossible>& list) {
  for (const NotPossible& n : list) print_prose("not possible here: {}: {}\n", n.what, n.reason);
}

/// The settings of the file that is measured again: they are those of this run.
Provenance describe_run(const std::vector<std::string>& argv, const ReproduceRequest& r,
                        const Provenance& recorded, const Provenance& queried) {
  std::map<std::string, std::string> settings = recorded.settings;
  settings["reproduces"] = r.file;
  settings["shard"] = "";
  settings["energy"] = "false";
  Provenance p = collect_provenance(argv, "reproduce", settings, r.record_host);
  p.device = queried.device;
  p.device_state = queried.device_state;
  return p;
}

/// "of 42 values 38 same, 2 at the edge of their interval where 4 are expected, ...".
std::string summary(const Repetition& repeated) {
  const int same = repeated.count(Outcome::same), edge = repeated.count(Outcome::edge),
            different = repeated.count(Outcome::different),
            missing = repeated.count(Outcome::not_possible);
  return fmt::format(
      "of {} values {} are the same, {} are at the edge of their interval (about {:.0f} are by "
      "chance), {} are different, {} were not possible here",
      same + edge + different + missing, same, edge,
      (1 - prediction_confidence) * (same + edge + different), different, missing);
}

ExitStatus reproduce(const ReproduceRequest& r, const std::vector<std::string>& argv) {
  const ResultFile recorded = std::move(read_result_files({r.file}).front());
  const std::vector<ResultFile> repeated_runs = read_result_files(r.sessions);
  check_asked(recorded, r.only);
  const Again again = plan_again(recorded, r.only);
  say_not_possible(again.not_possible);
  if (r.dry_run) {
    print_preview({"reproduce " + r.file, again.campaign, look_at(r.session), true});
    return exit_ok;
  }
  if (again.campaign.groups.empty() && again.campaign.microbenchmarks.empty()) {
    print_prose("{}: nothing in it can be measured by this program\n", r.file);
    return exit_wrong_result;
  }
  const Provenance queried = query_in_child(r.session);
  SessionOptions options = r.session;
  options.ceilings = again.campaign.ceilings;
  if (options.out.empty()) {
    options.out = default_output(fmt::format("out/{}-reproduce", device_slug(queried.device.name)),
                                 options.existing == Existing::resume);
  }
  constexpr std::uint64_t room = 64 << 20;
  check_writable(options.out, room);
  print_prose("reproduce {} on {}: {} groups, {} microbenchmarks, results to {}\n", r.file,
              queried.device.name, again.campaign.groups.size(),
              again.campaign.microbenchmarks.size(), options.out);
  const SessionOutcome outcome =
      run_session(again.campaign.groups, describe_run(argv, r, recorded.provenance, queried),
                  options, again.campaign.microbenchmarks);
  if (outcome.interrupted) {
    print_prose(
        "interrupted: finished groups are kept; continue with the same command and --resume\n");
    return exit_interrupted;
  }
  std::vector<const ResultFile*> more;
  for (const ResultFile& file : repeated_runs) more.push_back(&file);
  std::map<std::string, std::string> obstacles;
  for (const NotPossible& n : again.not_possible) obstacles.emplace(n.what, n.reason);
  const Repetition repeated = repetition(recorded, outcome.file, more, obstacles, r.only);
  const Table table = to_table(repeated);
  write_output(r.exports.csv, to_csv(table));
  write_output(r.exports.json,
               dump_json(nlohmann::ordered_json{{"schema", "amasia-repetition"},
                                                {"version", 1},
                                                {"rows", to_json(table)},
                                                {"differences", repeated.differences}}));
  write_output(r.exports.markdown, to_markdown(table));
  if (r.exports.none()) write_data(to_markdown(table));
  for (const std::string& d : repeated.differences) print_prose("differs: {}\n", d);
  const auto again_there =
      static_cast<int>(repeated.rows.size()) - repeated.count(Outcome::not_possible);
  if (repeated.of_other_code > 0) {
    print_prose("differs: the code of {} of {} values that were measured again\n",
                repeated.of_other_code, again_there);
  }
  print_prose("{}\n", summary(repeated));
  if (repeated.of_other_code > 0) {
    say_next(fmt::format("amasia compare {} {}", r.file, options.out),
             "shows what the other code changed; merge would leave it out");
  } else {
    say_next(fmt::format("amasia merge {} {} --out sessions.json", r.file, options.out),
             "makes this run a session of the file, so that it tells how far rows move");
  }
  const bool all_same = again.not_possible.empty() && repeated.count(Outcome::different) == 0 &&
                        repeated.count(Outcome::not_possible) == 0;
  return all_same ? exit_ok : exit_wrong_result;
}

Action declare_reproduce(CLI::App& options) {
  auto r = std::make_shared<ReproduceRequest>();
  options.add_option("file", r->file, "the result file to measure again")
      ->required()
      ->type_name("FILE");
  options
      .add_option("--sessions", r->sessions,
                  "files of repeated runs: they tell how far rows move between runs (repeatable)")
      ->allow_extra_args(false)
      ->type_name("FILE")
      ->default_str("those in FILE alone");
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
  add_output(options, "--json", r->exports.json, "the outcomes as JSON, - for stdout");
  add_output(options, "--csv", r->exports.csv, "the outcomes as CSV, - for stdout");
  add_output(options, "--markdown", r->exports.markdown, "the outcomes as Markdown, - for stdout",
             "stdout, when no form is asked for");
  return [r](const Invocation& invocation) { return reproduce(*r, invocation.argv); };
}

const bool reproduce_registered = register_command(
    {.name = "reproduce",
     .group = CommandGroup::measure,
     .summary = "measure again what a result file holds, and say what is the same",
     .description =
         "Runs the cases, rows and configs of the file, with its seeds and effort, and says of "
         "every time, speed-up and point: same (inside the interval of the next run, or of one run "
         "on each side where nothing tells how far rows move), different and the likely cause "
         "(GPU model, code, clock, driver, compiler), or not possible here and why. One in ten "
         "falls outside by chance and is at the edge. Exit status 1 says that something is "
         "different, wrong or not possible.",
     .examples = {{{"amasia reproduce results/h200/quick.json --dry-run",
                    "what would run, and what this program cannot measure"},
                   {"amasia reproduce results/h200/quick.json --sessions sessions.json",
                    "the recorded file on this GPU, held against what differs between runs"}}},
     .exits = {exit_ok, exit_wrong_result, exit_usage, exit_no_device, exit_output,
               exit_interrupted},
     .declare = declare_reproduce});

}  // namespace
}  // namespace amasia
