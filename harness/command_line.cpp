#include "harness/command_line.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/ceiling.hpp"
#include "harness/compare.hpp"
#include "harness/evidence.hpp"
#include "harness/export.hpp"
#include "harness/isolation.hpp"
#include "harness/journal.hpp"
#include "harness/merge.hpp"
#include "harness/merge.hpp"
#include "harness/pattern.hpp"
#include "harness/provenance.hpp"
#include "harness/registry.hpp"
#include "harness/session.hpp"
#include "harness/study.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

/// Everything the measuring commands share.
struct Request {
  std::vector<std::string> patterns{};
  std::vector<std::string> sizes{};      // --size a=1,b=2
  std::string preset{};
  std::vector<std::string> caches{}, launches{}, roles{"iso", "best"};
  std::string study{};
  Effort effort{};
  std::uint64_t seed = 20211;
  std::string out{}, json{}, csv{}, markdown{}, google_benchmark{};
  std::string tuning{};
  std::string shard{};
  double group_timeout = 120;
  bool resume = false, strict = false, in_process = false, record_host = false, reference = false;
  int device = 0;
};

void write_output(const std::string& path, const std::string& text) {
  if (path == "-") {
    fmt::print("{}", text);
  } else if (!path.empty()) {
    write_text_file(path, text);
  }
}

void add_choice_list(CLI::App& command, const std::string& flag, std::vector<std::string>& target,
                     const std::vector<std::string>& choices, const std::string& help) {
  command.add_option(flag, target, help + fmt::format(" ({})", fmt::join(choices, ", ")))
      ->delimiter(',')
      ->check(CLI::IsMember(choices));
}

void add_selection(CLI::App& command, Request& r) {
  command.add_option("patterns", r.patterns,
                     "variants by glob: pathfinder, '*/tma', hotspot/dsm (none: all)");
  command.add_option("--size", r.sizes, "one size, e.g. rows=10000,cols=10000 (repeatable)");
  command.add_option("--preset", r.preset, "the sizes of a preset: smoke, quick, paper, sweep");
}

void add_device(CLI::App& command, Request& r) {
  command.add_option("--device", r.device, "index of the GPU")->check(CLI::NonNegativeNumber);
  command.add_option("--group-timeout", r.group_timeout,
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
  command.add_option("--precision", r.effort.precision,
                     "stop when every interval's half width is below this share")
      ->check(CLI::Range(1e-6, 1.0));
  command.add_option("--confidence", r.effort.confidence, "joint confidence of a group's claims")
      ->check(CLI::Range(0.5, 0.999999));
  command.add_flag("--energy", r.effort.energy, "measure energy per run in a hot batch");
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
  command.add_option("--markdown", r.markdown, "summary as Markdown, - for stdout");
  command.add_option("--google-benchmark", r.google_benchmark,
                     "one entry per sample in Google Benchmark's schema, - for stdout");
}

SessionOptions session_options(const Request& r) {
  SessionOptions o;
  o.device_index = r.device;
  o.out = r.out;
  o.resume = r.resume;
  o.in_process = r.in_process;
  o.extra_seconds = r.group_timeout;
  return o;
}

/// The selected variants by app, in name order.
std::vector<std::pair<const App*, std::vector<const Variant*>>> selection(const Request& r) {
  const auto chosen = select_variants(r.patterns.empty() ? std::vector<std::string>{"*"} : r.patterns);
  std::vector<std::pair<const App*, std::vector<const Variant*>>> by_app;
  for (const App* app : apps()) {
    std::vector<const Variant*> mine;
    std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(mine),
                 [&](const Variant* v) { return v->app == app->name(); });
    if (!mine.empty()) by_app.emplace_back(app, std::move(mine));
  }
  return by_app;
}

/// Sizes of one app: --size if given, else the preset's.
std::vector<Parameters> sizes_of(const App& app, const Request& r, std::size_t apps_selected,
                                 Preset fallback) {
  if (r.sizes.empty()) return app.sizes(r.preset.empty() ? fallback : preset_from(r.preset));
  if (!r.preset.empty()) throw UsageError("--size and --preset exclude each other");
  if (apps_selected > 1) {
    throw UsageError("--size belongs to one app: name its variants, e.g. amasia run pathfinder "
                     "--size rows=1000,cols=1000");
  }
  std::vector<Parameters> sizes;
  for (const std::string& text : r.sizes) {
    sizes.emplace_back(app.parameters(), parse_size(text));
    app.device_bytes(sizes.back());  // throws when the size overflows
  }
  return sizes;
}

/// A size the user asked for must fit; one of a preset is skipped with the reason instead.
void refuse_too_large(const App& app, const std::vector<Parameters>& sizes, const Request& r,
                      const Device& device) {
  if (r.sizes.empty()) return;
  for (const Parameters& size : sizes) {
    const std::int64_t needed = app.device_bytes(size);
    if (needed > static_cast<std::int64_t>(device.free_bytes)) {
      throw UsageError(fmt::format("{} {} needs {} bytes of device memory, {} are available: choose "
                                   "a smaller size",
                                   app.name(), size.to_string(), needed, device.free_bytes));
    }
  }
}

std::pair<int, int> parse_shard(const std::string& text) {
  int i = 0, n = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%d/%d%c", &i, &n, &rest) != 2 || n < 1 || i < 1 || i > n) {
    throw UsageError(fmt::format("--shard {}: expected i/n with 1 <= i <= n, e.g. 3/16", text));
  }
  return {i, n};
}

std::vector<PlannedGroup> keep_shard(std::vector<PlannedGroup> plan, const std::string& shard) {
  if (shard.empty()) return plan;
  const auto [i, n] = parse_shard(shard);
  std::vector<PlannedGroup> mine;
  for (const std::size_t member : shard_members(plan.size(), i, n)) mine.push_back(plan[member]);
  return mine;
}

std::string default_tuning_path(const Device& device) {
  return "results/" + device_slug(device.name) + "/tuning.json";
}

Provenance describe_run(const std::vector<std::string>& argv, const Request& r,
                        const Provenance& queried) {
  const auto list = [](const std::vector<std::string>& items) {
    return fmt::format("{}", fmt::join(items, ","));
  };
  const std::map<std::string, std::string> settings{
      {"patterns", r.patterns.empty() ? "*" : list(r.patterns)},
      {"sizes", list(r.sizes)},
      {"preset", r.preset},
      {"cache", list(r.caches)},
      {"launch", list(r.launches)},
      {"roles", list(r.roles)},
      {"min_rounds", std::to_string(r.effort.min_rounds)},
      {"max_rounds", std::to_string(r.effort.max_rounds)},
      {"seconds", fmt::format("{}", r.effort.seconds)},
      {"precision", fmt::format("{}", r.effort.precision)},
      {"confidence", fmt::format("{}", r.effort.confidence)},
      {"energy", r.effort.energy ? "true" : "false"},
      {"seed", std::to_string(r.seed)},
      {"shard", r.shard},
      {"cold_method", "flush: 4 x L2 read before each run"},
  };
  Provenance p = collect_provenance(argv, r.study, settings, r.record_host);
  p.device = queried.device;
  p.device_state = queried.device_state;
  return p;
}

/// Exit status of what was measured, and the closing sentences on stderr.
int conclude(const SessionOutcome& outcome, const Request& r) {
  int ok = 0, failed = 0, skipped = 0, crashed = 0;
  bool valid = true;
  for (const GroupResult& g : outcome.file.groups) {
    for (const Row& row : g.rows) {
      switch (row.status) {
        case RowStatus::ok: ++ok; break;
        case RowStatus::skipped: ++skipped; break;
        case RowStatus::failed: ++failed; break;
        case RowStatus::crashed: ++crashed; break;
      }
      if (row.status == RowStatus::failed || row.status == RowStatus::crashed) {
        fmt::print(stderr, "{} {} ({}) at {}: {} - {}\n",
                   row.status == RowStatus::failed ? "FAILED" : "CRASHED", row.variant, row.role,
                   g.key.to_string(), row.reason,
                   row.verdict && !row.verdict->first_mismatches.empty()
                       ? row.verdict->first_mismatches.front()
                       : "no mismatch recorded");
      } else if (row.status == RowStatus::skipped) {
        fmt::print(stderr, "skipped {} ({}) at {}: {}\n", row.variant, row.role, g.key.to_string(),
                   row.reason);
      }
    }
    for (const std::string& w : g.warnings) {
      fmt::print(stderr, "warning: {}: {}\n", g.key.to_string(), w);
    }
    valid = valid && g.warnings.empty() && g.launch_blocked && g.stop_reason != "time limit";
    for (const std::string& s : sentences(g)) fmt::print(stderr, "{}\n", s);
  }
  fmt::print(stderr, "{} rows ok, {} failed, {} skipped, {} crashed\n", ok, failed, skipped, crashed);
  if (outcome.interrupted) {
    fmt::print(stderr, "interrupted: finished groups are kept; continue with the same command and "
                       "--resume\n");
    return exit_interrupted;
  }
  if (failed + crashed > 0) return exit_wrong_result;
  if (r.strict && !valid) return exit_invalid_measurement;
  return exit_ok;
}

void write_exports(const ResultFile& file, const Request& r) {
  write_output(r.json, to_json(file).dump(1) + "\n");
  write_output(r.csv, to_csv_summary(file));
  write_output(r.markdown, to_markdown(file));
  write_output(r.google_benchmark, to_google_benchmark(file));
}

int run(Request r, const std::vector<std::string>& argv, Preset fallback) {
  if (r.caches.empty()) r.caches = {"cold"};
  if (r.launches.empty()) r.launches = {"stream"};
  const auto selected = selection(r);
  std::vector<std::pair<const App*, std::vector<Parameters>>> sizes;
  for (const auto& [app, mine] : selected) {
    sizes.emplace_back(app, sizes_of(*app, r, selected.size(), fallback));
  }
  if (!r.shard.empty()) parse_shard(r.shard);

  SessionOptions options = session_options(r);
  const Provenance queried = query_in_child(options);
  const Device& device = queried.device;
  for (const auto& [app, list] : sizes) refuse_too_large(*app, list, r, device);

  const std::string tuning_path = r.tuning.empty() ? default_tuning_path(device) : r.tuning;
  if (!r.tuning.empty() && !std::filesystem::exists(r.tuning)) {
    throw UsageError(fmt::format("no tuning file {}: make one with amasia tune", r.tuning));
  }
  const TuningTable tuning = TuningTable::read(tuning_path);
  std::vector<PlannedGroup> plan;
  for (std::size_t a = 0; a < selected.size(); ++a) {
    const auto& [app, mine] = selected[a];
    for (const Parameters& size : sizes[a].second) {
      for (const std::string& cache : r.caches) {
        for (const std::string& launch : r.launches) {
          PlannedGroup g;
          g.key = GroupKey{std::string(app->name()), size, cache, launch};
          g.preset = r.sizes.empty() ? std::string(preset_names[static_cast<int>(
                                           r.preset.empty() ? fallback : preset_from(r.preset))])
                                     : "";
          g.seed = r.seed;
          g.effort = r.effort;
          g.rows = comparison_rows(g.key.app, size, mine, r.roles, tuning, device.name, cache, launch);
          plan.push_back(std::move(g));
        }
      }
    }
  }
  plan = keep_shard(std::move(plan), r.shard);
  if (options.out.empty()) {
    options.out = fmt::format("out/{}-{}.json", device_slug(device.name),
                              r.study.empty() ? "run" : r.study);
  }
  constexpr std::uint64_t room = 64 << 20;   // the largest study's file, several times over
  check_writable(options.out, room);
  fmt::print(stderr, "{} on {}: {} groups, results to {}\n", r.study.empty() ? "run" : r.study,
             device.name, plan.size(), options.out);
  const SessionOutcome outcome = run_session(plan, describe_run(argv, r, queried), options);
  const bool data_on_stdout = r.json == "-" || r.csv == "-" || r.markdown == "-" ||
                              r.google_benchmark == "-";
  write_exports(outcome.file, r);
  if (!data_on_stdout) fmt::print("{}", to_markdown(outcome.file));
  return conclude(outcome, r);
}

int run_study(const std::string& name, Request r, const std::vector<std::string>& argv,
              const CLI::App& command) {
  const Study& study = find_study(name);
  r.study = name;
  r.preset = preset_names[static_cast<int>(study.preset)];
  if (r.caches.empty()) r.caches = study.caches;
  if (r.launches.empty()) r.launches = study.launches;
  // What the user gave on the command line outweighs the study's own effort.
  if (command.count("--max-rounds") == 0) r.effort.max_rounds = study.effort.max_rounds;
  if (command.count("--seconds") == 0) r.effort.seconds = study.effort.seconds;
  if (command.count("--energy") == 0) r.effort.energy = study.effort.energy;
  return run(std::move(r), argv, study.preset);
}

int verify_references(const Request& r) {
  int passed = 0, failed = 0;
  const auto selected = selection(r);
  for (const auto& [app, variants] : selected) {
    for (const Parameters& size : sizes_of(*app, r, selected.size(), Preset::smoke)) {
      const Verdict v = app->check_reference(size, r.seed);
      fmt::print("{} {} {}: {} over {} values, {} {:.3g} (bound {:.3g})\n", app->name(),
                 size.to_string(), v.passed ? "ok" : "FAILED", "reference", v.checked, v.norm,
                 v.error, v.bound);
      ++(v.passed ? passed : failed);
    }
  }
  fmt::print("{} references ok, {} failed\n", passed, failed);
  return failed == 0 ? exit_ok : exit_wrong_result;
}

int verify(const Request& r) {
  if (r.reference) return verify_references(r);
  const SessionOptions options = session_options(r);
  const auto selected = selection(r);
  const Device device = query_in_child(options).device;
  int ok = 0, failed = 0, skipped = 0;
  for (const auto& [app, mine] : selected) {
    const auto sizes = sizes_of(*app, r, selected.size(), Preset::smoke);
    refuse_too_large(*app, sizes, r, device);
    for (const Parameters& size : sizes) {
      PlannedGroup g;
      g.key = GroupKey{std::string(app->name()), size, "cold", "stream"};
      g.seed = r.seed;
      g.effort.verify_only = true;
      g.rows = candidate_rows(mine);
      bool stopped = false;
      const GroupResult result = run_isolated(
          g, options, [](const std::string&) {}, stopped);
      if (stopped) return exit_interrupted;
      int size_ok = 0;
      for (const Row& row : result.rows) {
        if (row.status == RowStatus::ok) {
          ++size_ok;
        } else if (row.status == RowStatus::skipped) {
          ++skipped;
          fmt::print("skipped {} {} {}: {}\n", row.variant, row.config, size.to_string(), row.reason);
        } else {
          ++failed;
          fmt::print("FAILED {} {} {}: {}\n", row.variant, row.config, size.to_string(), row.reason);
          if (row.verdict) {
            for (const auto& m : row.verdict->first_mismatches) fmt::print("  {}\n", m);
          }
        }
      }
      ok += size_ok;
      fmt::print("{} {}: {} of {} configs verified\n", app->name(), size.to_string(), size_ok,
                 result.rows.size());
      std::fflush(stdout);
    }
  }
  fmt::print("{} ok, {} failed, {} skipped\n", ok, failed, skipped);
  return failed == 0 ? exit_ok : exit_wrong_result;
}

int tune(Request r) {
  if (r.caches.empty()) r.caches = {"cold"};
  if (r.launches.empty()) r.launches = {"graph"};
  const SessionOptions options = session_options(r);
  const auto selected = selection(r);
  const Provenance queried = query_in_child(options);
  const Device& device = queried.device;
  const std::string path = r.tuning.empty() ? default_tuning_path(device) : r.tuning;
  check_writable(path, 1 << 20);
  TuningTable table = TuningTable::read(path);
  int failed = 0;
  for (const auto& [app, mine] : selected) {
    const auto sizes = sizes_of(*app, r, selected.size(), Preset::paper);
    refuse_too_large(*app, sizes, r, device);
    for (const Parameters& size : sizes) {
      if (app->device_bytes(size) > static_cast<std::int64_t>(device.free_bytes)) {
        fmt::print(stderr, "skipped {} {}: does not fit in device memory\n", app->name(),
                   size.to_string());
        continue;
      }
      for (const std::string& cache : r.caches) {
        for (const std::string& launch : r.launches) {
          PlannedGroup g;
          g.key = GroupKey{std::string(app->name()), size, cache, launch};
          g.seed = r.seed;
          g.effort = r.effort;
          g.rows = candidate_rows(mine);
          bool stopped = false;
          const GroupResult result = run_isolated(
              g, options, [&](const std::string& line) {
                fmt::print(stderr, "{}: {}\n", g.key.to_string(), line);
              }, stopped);
          if (stopped) return exit_interrupted;
          for (const Variant* v : mine) {
            TuningEntry entry;
            entry.device = device.name;
            entry.variant = v->name();
            entry.size = size;
            entry.cache = cache;
            entry.launch = launch;
            entry.source_digest = source_digest(v->name());
            entry.date_utc = utc_now();
            double least = 0;
            for (const Row& row : result.rows) {
              if (row.variant != v->name()) continue;
              TuningCandidate c{row.config, std::string(name_of(row.status)), row.reason, row.time_ms};
              failed += row.status == RowStatus::failed || row.status == RowStatus::crashed;
              if (row.time_ms && (entry.config.empty() || row.time_ms->median < least)) {
                entry.config = row.config;
                least = row.time_ms->median;
              }
              fmt::print("{} {} {} {}: {}\n", v->name(), row.config, size.to_string(), c.status,
                         row.time_ms ? fmt::format("{:.4g} ms [{:.4g}, {:.4g}]", row.time_ms->median,
                                                   row.time_ms->low, row.time_ms->high)
                                     : row.reason);
              entry.table.push_back(std::move(c));
            }
            if (entry.config.empty()) continue;  // nothing ran: nothing to record
            fmt::print("{} {} {} {}: best is {}\n", v->name(), size.to_string(), cache, launch,
                       entry.config);
            table.record(std::move(entry));
          }
          table.write(path);   // after every group: an interrupted search keeps what it found
        }
      }
    }
  }
  fmt::print(stderr, "winners are in {}\n", path);
  return failed == 0 ? exit_ok : exit_wrong_result;
}

int compare(const std::string& a, const std::string& b, const Request& r) {
  const FileComparison c = compare_files(read_result_file(a), read_result_file(b),
                                         r.effort.confidence);
  write_output(r.json, to_json(c).dump(1) + "\n");
  write_output(r.csv, to_csv(c));
  write_output(r.markdown, to_markdown(c));
  if (r.json.empty() && r.csv.empty() && r.markdown.empty()) fmt::print("{}", to_markdown(c));
  for (const std::string& w : c.warnings) fmt::print(stderr, "warning: {}\n", w);
  return exit_ok;
}

int merge(const std::vector<std::string>& inputs, const std::string& out) {
  std::vector<ResultFile> files;
  for (const std::string& path : inputs) files.push_back(read_result_file(path));
  check_writable(out, 1 << 20);
  write_result_file(out, merge_files(files, inputs));
  return exit_ok;
}

Json list_json() {
  Json all = {{"apps", Json::array()}, {"studies", Json::array()}, {"ceilings", Json::array()}};
  for (const App* app : apps()) {
    Json sizes = Json::object(), parameters = Json::array(), list = Json::array();
    for (std::size_t p = 0; p < std::size(preset_names); ++p) {
      for (const Parameters& size : app->sizes(static_cast<Preset>(p))) {
        sizes[std::string(preset_names[p])].push_back(size.to_string());
      }
    }
    for (const ParameterSpec& s : app->parameters()) {
      parameters.push_back({{"name", s.name}, {"default", s.default_value}, {"help", s.help},
                            {"choices", s.choices}});
    }
    for (const Variant* v : variants_of(app->name())) {
      Json configs = Json::array();
      for (const Config& c : v->configs) {
        Json geometry = Json::object();
        for (const auto& [key, value] : c.info.geometry) geometry[key] = value;
        configs.push_back({{"name", c.info.name}, {"geometry", geometry}});
      }
      list.push_back({{"name", v->name()}, {"comparator", v->comparator},
                      {"runs_from", v->traits.runs_from}, {"native_from", v->traits.native_from},
                      {"configs", configs}});
    }
    all["apps"].push_back({{"name", app->name()}, {"summary", app->summary()},
                           {"parameters", parameters}, {"sizes", sizes}, {"variants", list}});
  }
  for (const Study& s : studies()) {
    all["studies"].push_back({{"name", s.name}, {"summary", s.summary}});
  }
  for (const CeilingProbe& c : ceiling_probes()) {
    all["ceilings"].push_back({{"name", c.name}, {"unit", c.unit}, {"method", c.method}});
  }
  return all;
}

int list(const std::vector<std::string>& patterns, bool json, bool sources) {
  if (sources) {
    fmt::print("{}\n", Json(source_digests()).dump(1));
    return exit_ok;
  }
  if (json) {
    fmt::print("{}\n", list_json().dump(1));
    return exit_ok;
  }
  const auto chosen = select_variants(patterns.empty() ? std::vector<std::string>{"*"} : patterns);
  for (const App* app : apps()) {
    const auto mine = variants_of(app->name());
    if (std::none_of(mine.begin(), mine.end(), [&](const Variant* v) {
          return std::find(chosen.begin(), chosen.end(), v) != chosen.end();
        })) {
      continue;
    }
    fmt::print("{}: {}\n", app->name(), app->summary());
    for (const ParameterSpec& s : app->parameters()) {
      fmt::print("  {:<12} {} (default {})\n", s.name, s.help,
                 s.default_value.empty() ? "none" : s.default_value);
    }
    for (const Variant* v : mine) {
      if (std::find(chosen.begin(), chosen.end(), v) == chosen.end()) continue;
      std::vector<std::string> names;
      for (const Config& c : v->configs) names.push_back(c.info.name);
      fmt::print("  {:<28} {}{}\n", v->name(), fmt::join(names, " "),
                 v->traits.runs_from > 0 ? fmt::format("  (sm_{} and newer)", v->traits.runs_from)
                                         : "");
    }
  }
  fmt::print("studies:\n");
  for (const Study& s : studies()) fmt::print("  {:<12} {}\n", s.name, s.summary);
  return exit_ok;
}

int doctor(const Request& r) {
  fmt::print("disassembler: {}\n", find_cuobjdump().empty()
                                       ? "none found: instruction counts come from PTX"
                                       : find_cuobjdump());
  Provenance p;
  try {
    p = query_in_child(session_options(r));
  } catch (const NoDevice& error) {
    fmt::print("no usable GPU: {}\n", error.what());
    fmt::print("what works here: amasia verify --reference, compare, merge, list; the report from "
               "recorded results\n");
    return exit_no_device;
  }
  const Device& d = p.device;
  fmt::print("GPU {}: {}, compute capability {}.{}, {} SMs, {:.1f} GB memory ({:.1f} free), L2 {} MiB\n",
             d.index, d.name, d.compute_capability / 10, d.compute_capability % 10, d.sm_count,
             static_cast<double>(d.memory_bytes) * 1e-9, static_cast<double>(d.free_bytes) * 1e-9,
             d.l2_bytes >> 20);
  fmt::print("CUDA driver {}.{}, runtime {}.{}\n", d.driver_version / 1000,
             d.driver_version % 1000 / 10, d.runtime_version / 1000, d.runtime_version % 1000 / 10);
  for (const auto& [key, value] : p.device_state) fmt::print("{}: {}\n", key, value);
  for (const Variant* v : variants()) {
    if (d.compute_capability < v->traits.runs_from) {
      fmt::print("cannot run {}: needs compute capability {}.{}\n", v->name(),
                 v->traits.runs_from / 10, v->traits.runs_from % 10);
    } else if (d.compute_capability < v->traits.native_from) {
      fmt::print("runs {} with plain copies: the mechanism needs compute capability {}.{}\n",
                 v->name(), v->traits.native_from / 10, v->traits.native_from % 10);
    }
  }
  const std::string tuning = default_tuning_path(d);
  fmt::print("recorded winners: {}\n", std::filesystem::exists(tuning)
                                           ? tuning
                                           : "none for this GPU: amasia tune finds them");
  return exit_ok;
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

  CLI::App* list_command = program.add_subcommand("list", "apps, variants, configs, sizes, studies");
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
  export_command->add_option("--csv-samples", second, "every sample as CSV, - for stdout");
  export_command->add_option("--markdown", r.markdown, "as Markdown, - for stdout");
  export_command->add_option("--google-benchmark", r.google_benchmark,
                             "Google Benchmark's schema, - for stdout");

  CLI::App* merge_command = program.add_subcommand("merge", "shards into one result file");
  merge_command->add_option("inputs", inputs, "result files")->required();
  merge_command->add_option("--out", merged, "the merged file")->required();

  CLI::App* doctor_command = program.add_subcommand("doctor", "what can run here, and why not");
  add_device(*doctor_command, r);

  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    program.exit(help);
    return exit_ok;
  } catch (const CLI::ExtrasError& error) {
    // An unknown word: CLI11 knows only that it did not fit; name the commands that do.
    std::vector<std::string> names;
    for (const CLI::App* c : program.get_subcommands({})) names.push_back(c->get_name());
    const std::string word = argc > 1 ? argv[1] : "";
    const bool command = std::find(names.begin(), names.end(), word) == names.end();
    throw UsageError(command ? fmt::format("no command '{}': {}", word, suggestion(word, names))
                             : std::string(error.what()));
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
  const ResultFile file = read_result_file(first);
  if (second.empty() && r.csv.empty() && r.markdown.empty() && r.google_benchmark.empty()) {
    r.markdown = "-";
  }
  write_output(second, to_csv_samples(file));
  write_exports(file, r);
  return exit_ok;
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
