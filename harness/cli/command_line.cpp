#include "harness/cli/command_line.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "harness/cli/commands.hpp"
#include "harness/process/isolation.hpp"
#include "harness/text/pattern.hpp"
#include "harness/plan/study.hpp"

namespace amasia {
namespace {

void add_choice_list(CLI::App& command, const std::string& flag, std::vector<std::string>& target,
                     const std::vector<std::string>& choices, const std::string& help) {
  command.add_option(flag, target, help + fmt::format(" ({})", fmt::join(choices, ", ")))
      ->allow_extra_args(false)  // the next word is a pattern, not one more value
      ->delimiter(',')
      ->check(CLI::IsMember(choices));
}

void add_selection(CLI::App& command, Request& r) {
  command.add_option("patterns", r.patterns,
                     "variants by glob: pathfinder, '*/tma', hotspot/dsm (none: all); else "
                     "microbenchmarks: memory/latency, 'memory/*'");
  command.add_option("--size", r.sizes, "one size, e.g. rows=10000,cols=10000 (repeatable)")
      ->allow_extra_args(false);
  command.add_option("--preset", r.preset, "the sizes of a preset: smoke, quick, paper, sweep");
}

void add_device(CLI::App& command, Request& r) {
  command.add_option("--device", r.device, "index of the GPU")->check(CLI::NonNegativeNumber);
  command
      .add_option("--group-timeout", r.group_timeout,
                  "seconds a group may take beyond --seconds before it counts as hanging")
      ->check(CLI::PositiveNumber);
  command.add_flag("--in-process", r.in_process,
                   "no child processes (for debuggers and compute-sanitizer)");
}

void add_measuring(CLI::App& command, Request& r) {
  add_device(command, r);
  command.add_option("--max-rounds", r.effort.max_rounds, "rounds of the schedule at most")
      ->check(CLI::Range(1, 100000));
  command.add_option("--min-rounds", r.effort.min_rounds, "rounds of the schedule at least")
      ->check(CLI::Range(1, 100000));
  command.add_option("--seconds", r.effort.seconds, "cap on the timed part of a group")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--precision", r.effort.precision,
                  "stop when every interval's half width is below this share")
      ->check(CLI::Range(1e-6, 1.0));
  command.add_option("--confidence", r.effort.confidence, "joint confidence of a group's claims")
      ->check(CLI::Range(0.5, 0.999999));
  command.add_flag("--energy", r.effort.energy, "measure energy per run in a hot batch");
  command
      .add_option("--point-seconds", r.point_seconds,
                  "cap on the samples of one point of a microbenchmark")
      ->check(CLI::PositiveNumber);
  command.add_option("--seed", r.seed, "seed of the inputs");
  command.add_option("--tuning", r.tuning,
                     "file of recorded winners (default results/<gpu>/tuning.json)");
  command.add_option("--out", r.out, "result file (default out/<gpu>-<study or run>.json)");
  command.add_flag("--resume", r.resume, "continue an interrupted run of the same --out");
  command.add_option("--shard", r.shard, "i/n: only this part of the groups, for array jobs");
  command.add_flag("--strict", r.strict, "exit 4 when a measurement is not valid");
  command.add_flag("--record-host", r.record_host, "write the host name into the result file");
  command.add_option("--json", r.json, "also write the result file here, - for stdout");
  command.add_option("--csv", r.csv, "summary as CSV, - for stdout");
  command.add_option("--csv-points", r.csv_points,
                     "points of the microbenchmarks as CSV, - for stdout");
  command.add_option("--markdown", r.markdown, "summary as Markdown, - for stdout");
  command.add_option("--google-benchmark", r.google_benchmark,
                     "one entry per sample in Google Benchmark's schema, - for stdout");
}

int run_study(const std::string& name, Request r, const std::vector<std::string>& argv,
              const CLI::App& command) {
  r.study = name;
  r.inventory = inventory_rows(name);
  if (!r.inventory.empty()) {
    if (!r.patterns.empty()) {
      throw UsageError("study " + name + " is a list of its own: it takes no patterns");
    }
    return reproduce(std::move(r), argv);
  }
  const Study& study = find_study(name);
  r.preset = preset_names[static_cast<int>(study.preset)];
  if (r.caches.empty()) r.caches = study.caches;
  if (r.launches.empty()) r.launches = study.launches;
  // What the user gave on the command line outweighs the study's own effort.
  if (command.count("--max-rounds") == 0) r.effort.max_rounds = study.effort.max_rounds;
  if (command.count("--seconds") == 0) r.effort.seconds = study.effort.seconds;
  if (command.count("--energy") == 0) r.effort.energy = study.effort.energy;
  return run(std::move(r), argv, study.preset);
}

int dispatch(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == child_flag) return serve_child();
  catch_interrupts();
  const std::vector<std::string> arguments(argv, argv + argc);

  CLI::App program{"Amasia: which way of moving data pays on this GPU, by how much, and why"};
  program.require_subcommand(1);
  Request r;
  std::string first, second, study_name, merged;
  std::vector<std::string> inputs;
  bool as_json = false, sources = false;

  CLI::App* list_command =
      program.add_subcommand("list", "apps, variants, configs, sizes, studies");
  list_command->add_option("patterns", r.patterns, "variants by glob (none: all)");
  list_command->add_flag("--json", as_json, "everything, as JSON");
  list_command->add_flag("--sources", sources, "digest of each variant's code, as JSON");

  CLI::App* run_command = program.add_subcommand("run", "verify, time and compare variants");
  add_selection(*run_command, r);
  add_choice_list(*run_command, "--cache", r.caches, {"cold", "hot"}, "cache modes");
  add_choice_list(*run_command, "--launch", r.launches, {"stream", "graph"}, "launch modes");
  add_choice_list(*run_command, "--roles", r.roles, {"iso", "best"}, "configs");
  add_measuring(*run_command, r);

  CLI::App* study_command = program.add_subcommand("study", "a named list of cases");
  study_command->add_option("name", study_name, "which (amasia list shows them)")->required();
  study_command->add_option("patterns", r.patterns, "only these variants");
  add_choice_list(*study_command, "--cache", r.caches, {"cold", "hot"}, "cache modes");
  add_choice_list(*study_command, "--launch", r.launches, {"stream", "graph"}, "launch modes");
  add_measuring(*study_command, r);

  CLI::App* tune_command = program.add_subcommand("tune", "search the configs, record the winners");
  add_selection(*tune_command, r);
  add_choice_list(*tune_command, "--cache", r.caches, {"cold", "hot"}, "cache modes");
  add_choice_list(*tune_command, "--launch", r.launches, {"stream", "graph"}, "launch modes");
  add_measuring(*tune_command, r);

  CLI::App* verify_command =
      program.add_subcommand("verify", "every config of every variant against the reference");
  add_selection(*verify_command, r);
  add_device(*verify_command, r);
  verify_command->add_option("--seed", r.seed, "seed of the inputs");
  verify_command->add_flag("--reference", r.reference,
                           "the CPU references against a second one; needs no GPU");

  CLI::App* compare_command = program.add_subcommand("compare", "two result files: B against A");
  compare_command->add_option("a", first, "result file A")->required();
  compare_command->add_option("b", second, "result file B")->required();
  compare_command->add_option("--confidence", r.effort.confidence, "joint confidence")
      ->check(CLI::Range(0.5, 0.999999));
  compare_command->add_option("--json", r.json, "as JSON, - for stdout");
  compare_command->add_option("--csv", r.csv, "as CSV, - for stdout");
  compare_command->add_option("--markdown", r.markdown, "as Markdown, - for stdout");

  CLI::App* export_command = program.add_subcommand("export", "a result file in another form");
  export_command->add_option("file", first, "result file")->required();
  export_command->add_option("--csv", r.csv, "summary as CSV, - for stdout");
  export_command->add_option("--csv-points", r.csv_points,
                             "points of the microbenchmarks as CSV, - for stdout");
  export_command->add_option("--csv-samples", second, "every sample as CSV, - for stdout");
  export_command->add_option("--markdown", r.markdown, "as Markdown, - for stdout");
  export_command->add_option("--google-benchmark", r.google_benchmark,
                             "Google Benchmark's schema, - for stdout");

  CLI::App* merge_command = program.add_subcommand("merge", "shards into one result file");
  merge_command->add_option("inputs", inputs, "result files, or journals of interrupted runs")->required();
  merge_command->add_option("--out", merged, "the merged file")->required();

  CLI::App* doctor_command = program.add_subcommand("doctor", "what can run here, and why not");
  add_device(*doctor_command, r);

  // CLI11 would only say that a command is missing: name the one that was meant.
  std::vector<std::string> commands;
  for (const CLI::App* c : program.get_subcommands({})) commands.push_back(c->get_name());
  const std::string word = argc > 1 ? argv[1] : "";
  if (!word.empty() && word.front() != '-' &&
      std::find(commands.begin(), commands.end(), word) == commands.end()) {
    throw UsageError(fmt::format("no command '{}': {}", word, suggestion(word, commands)));
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    program.exit(help);
    return exit_ok;
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (amasia --help)", error.what()));
  }

  if (*list_command) return list(r.patterns, as_json, sources);
  if (*run_command) return run(r, arguments, Preset::quick);
  if (*study_command) return run_study(study_name, r, arguments, *study_command);
  if (*tune_command) return tune(r);
  if (*verify_command) return verify(r);
  if (*compare_command) return compare(first, second, r);
  if (*merge_command) return merge(inputs, merged);
  if (*doctor_command) return doctor(r);
  return export_file(first, second, r);
}

}  // namespace

int amasia_main(int argc, char** argv) {
  try {
    return dispatch(argc, argv);
  } catch (const NoDevice& error) {
    fmt::print(stderr, "amasia: no usable GPU: {} (amasia doctor explains)\n", error.what());
    return exit_no_device;
  } catch (const UsageError& error) {
    fmt::print(stderr, "amasia: {}\n", error.what());
    return exit_usage;
  } catch (const ResultError& error) {
    fmt::print(stderr, "amasia: {}\n", error.what());
    return exit_usage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "amasia: {}\n", error.what());
    return exit_wrong_result;
  }
}

}  // namespace amasia
