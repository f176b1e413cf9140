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
#include "harness/results/agreement.hpp"
#include "harness/results/claim.hpp"
#include "harness/results/provenance.hpp"
#include "harness/results/sessions.hpp"
#include "harness/text/json_file.hpp"
#include "harness/text/output.hpp"
#include "harness/text/pattern.hpp"
#include "harness/text/shell.hpp"

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

/// The same for what disturbed a case, and what to do about it.
void say_not_valid(const Repetition& repeated) {
  std::vector<std::string> said;
  for (const RepeatedRow& row : repeated.rows) {
    const std::string where = row.at.empty() ? row.name.substr(0, row.name.find(' ')) : row.at;
    const std::string line = fmt::format("{}: {}", where, row.reason);
    if (row.outcome != Outcome::not_valid ||
        std::find(said.begin(), said.end(), line) != said.end()) {
      continue;
    }
    print_prose("not valid: {}\n", line);
    said.push_back(line);
  }
}

/// The settings of the file that is measured again: they are those of this run.
Provenance describe_run(const std::vector<std::string>& argv, const ReproduceRequest& r,
                        const Provenance& recorded, const Provenance& queried) {
  std::map<std::string, std::string> settings = recorded.settings;
  settings["reproduces"] = without_folders(r.file);
  settings["shard"] = "";
  settings["energy"] = "false";
  Provenance p = collect_provenance(argv, "reproduce", settings, r.record_host);
  p.device = queried.device;
  p.device_state = queried.device_state;
  return p;
}

/// "of 42 values 38 are the same, 2 are at the edge of their interval (about 4 are by chance),
/// ...".
std::string summary(const Repetition& repeated) {
  const auto judged = std::count_if(repeated.rows.begin(), repeated.rows.end(),
                                    [](const RepeatedRow& row) { return is_judged(row.outcome); });
  std::string text = fmt::format(
      "of {} values {} are the same, {} are at the edge of their interval (about {:.0f} are by "
      "chance), {} are different, {} were not possible here",
      repeated.rows.size(), repeated.count(Outcome::same), repeated.count(Outcome::edge),
      (1 - prediction_confidence) * static_cast<double>(judged), repeated.count(Outcome::different),
      repeated.count(Outcome::not_possible));
  if (const int failed = repeated.count(Outcome::failed); failed > 0) {
    text += fmt::format(", {} failed here (a wrong result or a crash)", failed);
  }
  if (const int invalid = repeated.count(Outcome::not_valid); invalid > 0) {
    text += fmt::format(", {} are not valid", invalid);
  }
  if (const int one_run = repeated.of_one_run(); one_run > 0) {
    text += fmt::format(
        "; {} values are judged by one run on each side, and a plain re-run may differ by more: "
        "give files of repeated runs (amasia run --sessions) with --sessions FILE",
        one_run);
  }
  return text;
}

/// What to try next, with the file of the repetition.
void say_what_next(const Repetition& repeated, const ResultFile& recorded, const ResultFile& now,
                   const std::string& file, const std::string& out) {
  const bool is_invalid_now =
      std::any_of(now.groups.begin(), now.groups.end(),
                  [](const GroupResult& g) { return !g.invalid.empty(); }) ||
      std::any_of(now.microbenchmarks.begin(), now.microbenchmarks.end(),
                  [](const MicrobenchmarkResult& m) { return invalidity_in(m).has_value(); });
  if (is_invalid_now) {
    say_next(in_shell({"amasia", "reproduce", file}),
             "measures it again, when what disturbed it has ended");
  } else if (repeated.count(Outcome::not_valid) > 0) {
    return;  // the lines on what is not valid say what to go by
  } else if (repeated.count(Outcome::failed) > 0) {
    say_next("amasia verify", "holds every config of the variants against the reference");
  } else if (const auto why = session_disagreement(recorded.provenance, now.provenance)) {
    say_next(
        in_shell({"amasia", "compare", file, out}),
        fmt::format("sets the two against each other; merge takes no sessions that differ in {}",
                    *why));
  } else if (repeated.of_other_code > 0) {
    say_next(in_shell({"amasia", "compare", file, out}),
             "shows what the other code changed; merge would leave it out");
  } else {
    say_next(in_shell({"amasia", "merge", file, out, "--out", "sessions.json"}),
             "makes this run a session of the file, so that it tells how far rows move");
  }
}

ExitStatus reproduce(const ReproduceRequest& r, const std::vector<std::string>& argv) {
  const ResultFile recorded = std::move(read_result_files({r.file}).front());
  const std::vector<ResultFile> repeated_runs = read_result_files(r.sessions);
  check_asked(recorded, r.only);
  const Again again = plan_again(recorded, r.only);
  if (r.dry_run) {
    say_not_possible(again.not_possible);
    print_preview({"reproduce " + r.file, again.campaign, look_at(r.session), true});
    return exit_ok;
  }
  std::vector<std::string> inputs = r.sessions;
  inputs.push_back(r.file);
  keep_inputs(inputs, r.session.out, r.exports);
  // First of all: without a GPU nothing is possible, for one reason.
  const Provenance queried = query_in_child(r.session);
  say_not_possible(again.not_possible);
  if (again.campaign.groups.empty() && again.campaign.microbenchmarks.empty()) {
    print_prose("{}: nothing in it can be measured by this program\n", r.file);
    return exit_wrong_result;
  }
  SessionOptions options = r.session;
  options.ceilings = again.campaign.ceilings;
  if (options.out.empty()) {
    options.out = default_output(fmt::format("out/{}-reproduce", device_slug(queried.device.name)),
                                 options.existing == Existing::resume);
    keep_inputs(inputs, options.out, r.exports);
  }
  constexpr std::uint64_t room = 64 << 20;
  check_writable(options.out, room);
  check_writable(r.exports);
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
  if (!outcome.device_lost.empty()) {
    print_prose(
        "the GPU does not answer any more ({}): finished groups are kept; bring it back and "
        "continue with the same command and --resume\n",
        outcome.device_lost);
    return exit_no_device;
  }
  std::vector<const ResultFile*> more;
  for (const ResultFile& file : repeated_runs) more.push_back(&file);
  std::map<std::string, std::string> obstacles;
  for (const NotPossible& n : again.not_possible) obstacles.emplace(n.what, n.reason);
  const Repetition repeated = repetition(recorded, outcome.file, more, obstacles, r.only);
  const Table table = to_table(repeated);
  or_say_where_results_are(options.out, [&] {
    write_output(r.exports.csv, to_csv(table));
    write_output(r.exports.json,
                 dump_json(nlohmann::ordered_json{{"schema", "amasia-repetition"},
                                                  {"version", 1},
                                                  {"rows", to_json(table)},
                                                  {"differences", repeated.differences}}));
    write_output(r.exports.markdown, to_markdown(table));
    if (r.exports.none() && !is_stdout(options.out)) write_data(to_markdown(table));
  });
  for (const std::string& d : repeated.differences) print_prose("differs: {}\n", d);
  say_not_valid(repeated);
  const auto again_there =
      std::count_if(repeated.rows.begin(), repeated.rows.end(),
                    [](const RepeatedRow& row) { return is_judged(row.outcome); });
  if (repeated.of_other_code > 0) {
    print_prose("differs: the code of {} of {} values that were measured again\n",
                repeated.of_other_code, again_there);
  }
  print_prose("{}\n", summary(repeated));
  say_what_next(repeated, recorded, outcome.file, r.file, options.out);
  const bool all_same =
      again.not_possible.empty() &&
      std::all_of(repeated.rows.begin(), repeated.rows.end(), [](const RepeatedRow& row) {
        return row.outcome == Outcome::same || row.outcome == Outcome::edge;
      });
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
         "(GPU, code, clock, driver, compiler), not valid and what disturbed it, failed here (a "
         "wrong result or a crash), or not possible here and why. One in ten falls outside by "
         "chance and is at the edge. Exit status 1 says that something is none of the same and "
         "the edge.",
     .examples = {{{"amasia reproduce results/h200/quick.json.gz --dry-run",
                    "what would run, and what this program cannot measure"},
                   {"amasia reproduce results/h200/quick.json.gz --sessions sessions.json",
                    "the recorded file on this GPU, held against what differs between runs"}}},
     .exits = {exit_ok, exit_wrong_result, exit_usage, exit_no_device, exit_output,
               exit_interrupted},
     .declare = declare_reproduce});

}  // namespace
}  // namespace amasia
