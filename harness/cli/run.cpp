#include "harness/cli/commands.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/cli/command_line.hpp"
#include "harness/report/export.hpp"
#include "harness/process/isolation.hpp"
#include "harness/results/journal.hpp"
#include "harness/results/merge.hpp"
#include "harness/results/provenance.hpp"
#include "harness/published/published.hpp"
#include "harness/plan/study.hpp"

namespace amasia {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::pair<int, int> parse_shard(const std::string& text) {
  int i = 0, n = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%d/%d%c", &i, &n, &rest) != 2 || n < 1 || i < 1 || i > n) {
    throw UsageError(fmt::format("--shard {}: expected i/n with 1 <= i <= n, e.g. 3/16", text));
  }
  return {i, n};
}

template <class Planned>
std::vector<Planned> keep_shard(std::vector<Planned> plan, const std::string& shard) {
  if (shard.empty()) return plan;
  const auto [i, n] = parse_shard(shard);
  std::vector<Planned> mine;
  for (const std::size_t member : shard_members(plan.size(), i, n)) mine.push_back(plan[member]);
  return mine;
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
      {"point_seconds", fmt::format("{}", r.point_seconds)},
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
  for (const MicrobenchmarkResult& m : outcome.file.microbenchmarks) {
    for (const MicrobenchmarkRow& row : m.rows) {
      ok += row.status == RowStatus::ok;
      skipped += row.status == RowStatus::skipped;
      failed += row.status == RowStatus::failed;
      crashed += row.status == RowStatus::crashed;
      if (row.status != RowStatus::ok) {
        fmt::print(stderr, "{} {} [{}]: {}\n", name_of(row.status), m.name, to_string(row.at),
                   row.reason);
      }
      valid = valid && row.stop_reason != "time limit";
    }
    for (const std::string& w : m.warnings) fmt::print(stderr, "warning: {}: {}\n", m.name, w);
  }
  for (const GroupResult& g : outcome.file.groups) {
    for (const Row& row : g.rows) {
      switch (row.status) {
        case RowStatus::ok:
          ++ok;
          break;
        case RowStatus::skipped:
          ++skipped;
          break;
        case RowStatus::failed:
          ++failed;
          break;
        case RowStatus::crashed:
          ++crashed;
          break;
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
  fmt::print(stderr, "{} rows ok, {} failed, {} skipped, {} crashed\n", ok, failed, skipped,
             crashed);
  if (outcome.interrupted) {
    fmt::print(stderr,
               "interrupted: finished groups are kept; continue with the same command and "
               "--resume\n");
    return exit_interrupted;
  }
  if (failed + crashed > 0) return exit_wrong_result;
  if (r.strict && !valid) return exit_invalid_measurement;
  return exit_ok;
}

}  // namespace

int run(Request r, const std::vector<std::string>& argv, Preset fallback) {
  if (r.caches.empty()) r.caches = {"cold"};
  if (r.launches.empty()) r.launches = {"stream"};
  const bool only_ceilings = r.patterns.empty() && !r.inventory.empty();
  const PatternSelection chosen = only_ceilings ? PatternSelection{} : select_all(r.patterns);
  const auto selected = by_app(chosen.variants);
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
          // Energy is measured in a hot batch: once per size, in the hottest of the groups.
          g.effort.energy = r.effort.energy && launch == r.launches.back() &&
                            cache == (contains(r.caches, "hot") ? "hot" : r.caches.back());
          g.rows =
              comparison_rows(g.key.app, size, mine, r.roles, tuning, device.name, cache, launch);
          plan.push_back(std::move(g));
        }
      }
    }
  }
  std::vector<PlannedMicrobenchmark> micro;
  for (const Microbenchmark* m : chosen.microbenchmarks) {
    micro.push_back(planned_microbenchmark(*m, r, fallback));
  }
  plan = keep_shard(std::move(plan), r.shard);
  micro = keep_shard(std::move(micro), r.shard);
  options.ceilings = !plan.empty() || std::any_of(r.inventory.begin(), r.inventory.end(),
                                                  [](const InventoryRow& row) {
                                                    return contains(row.by, "ceilings");
                                                  });
  if (options.out.empty()) {
    options.out =
        fmt::format("out/{}-{}.json", device_slug(device.name), r.study.empty() ? "run" : r.study);
  }
  constexpr std::uint64_t room = 64 << 20;  // the largest study's file, several times over
  check_writable(options.out, room);
  fmt::print(stderr, "{} on {}: {} groups, {} microbenchmarks, results to {}\n",
             r.study.empty() ? "run" : r.study, device.name, plan.size(), micro.size(),
             options.out);
  const SessionOutcome outcome = run_session(plan, describe_run(argv, r, queried), options, micro);
  const bool data_on_stdout = r.json == "-" || r.csv == "-" || r.csv_points == "-" ||
                              r.markdown == "-" || r.google_benchmark == "-";
  write_exports(outcome.file, r);
  if (!data_on_stdout) {
    fmt::print("{}", r.inventory.empty()
                         ? to_markdown(outcome.file)
                         : to_markdown(reproduction_table(outcome.file, r.inventory)));
  }
  return conclude(outcome, r);
}

}  // namespace amasia
