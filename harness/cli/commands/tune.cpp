#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/cli/command_line.hpp"
#include "harness/cli/measuring.hpp"
#include "harness/cli/options.hpp"
#include "harness/conclusions/comparison.hpp"
#include "harness/conclusions/journal.hpp"
#include "harness/results/provenance.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

struct TuneRequest : MeasureRequest {
  bool missing = false;
};

/// The group without the variants that have a winner already.
PlannedGroup without_known(PlannedGroup group, const TuningTable& table, const Device& device) {
  const GroupKey& key = group.key;
  std::erase_if(group.rows, [&](const PlannedRow& row) {
    return table.has(
        {device.name, row.variant, key.size, key.cache, key.launch, source_digest(row.variant)});
  });
  return group;
}

std::string to_text(const TuningCandidate& c) {
  return c.median_ms ? fmt::format("{:.4g} ms [{:.4g}, {:.4g}]", *c.median_ms, c.low_ms.value_or(0),
                                   c.high_ms.value_or(0))
                     : c.reason;
}

void print(const TuningEntry& entry) {
  const std::string size = entry.size.to_string();
  for (const TuningCandidate& c : entry.table) {
    print_data("{} {} {} {}: {}\n", entry.variant, c.config, size, word_of(c.status), to_text(c));
  }
  if (entry.config.empty()) return;  // nothing ran
  const std::string equal =
      entry.equal.empty()
          ? ""
          : fmt::format(", the least median; equal within noise: {}", fmt::join(entry.equal, ", "));
  print_data("{} {} {} {}: best is {}{}\n", entry.variant, size, word_of(entry.cache),
             word_of(entry.launch), entry.config, equal);
}

ExitStatus tune(TuneRequest& r) {
  CampaignRequest& c = r.campaign;
  const std::vector<AppCases> cases = app_cases_of(c);
  const std::vector<PlannedGroup> plan = plan_search(c, cases);
  const auto path_of = [&](const Device& device) {
    return r.tuning.empty() ? default_tuning_path(device) : r.tuning;
  };
  const auto left = [&](const Device& device) {
    const TuningTable table = TuningTable::read(path_of(device));
    std::vector<PlannedGroup> groups;
    for (const PlannedGroup& group : plan) {
      groups.push_back(r.missing ? without_known(group, table, device) : group);
      if (!groups.back().rows.empty()) continue;
      print_prose("{}: has its winners\n", group.key.to_string());
      groups.pop_back();
    }
    return groups;
  };
  if (r.dry_run) {
    return preview("tune", r, cases, [&](const std::optional<Device>& device) {
      return Campaign{device ? left(*device) : plan};
    });
  }
  const Provenance queried = query_in_child(r.session);
  const Device& device = queried.device;
  refuse_too_large(cases, c, device);
  const std::string path = path_of(device);
  check_writable(path, 1 << 20);
  int failed = 0;
  bool without_winner = false;
  Circumstances around;
  around.state_at_start = queried.device_state;
  for (const PlannedGroup& group : left(device)) {
    if (!fits(*find_app(group.key.app), group.key.size, device)) {
      print_prose("skipped {}: does not fit in device memory\n", group.key.to_string());
      continue;
    }
    bool stopped = false;
    const GroupResult result = run_judged(
        group, r.session, [](GroupResult&) {}, around,
        [&](const std::string& line) { print_prose("{}: {}\n", group.key.to_string(), line); },
        stopped);
    if (stopped) return exit_interrupted;
    for (const Row& row : result.rows) {
      failed += row.status == RowStatus::failed || row.status == RowStatus::crashed;
    }
    if (!result.invalid.empty()) {
      print_prose("INVALID {}: {}; no winner is recorded\n", group.key.to_string(),
                  to_string(result.invalid.front()));
      without_winner = true;
      continue;
    }
    std::vector<TuningEntry> winners;
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      const std::string& variant = group.rows[i].variant;
      if (i > 0 && variant == group.rows[i - 1].variant) continue;  // another config of it
      TuningEntry entry =
          tuning_entry(result, *find_variant(variant), device.name, c.effort.confidence);
      print(entry);
      if (!entry.config.empty()) winners.push_back(std::move(entry));
    }
    // After every group: an interrupted search keeps what it found.
    add_winners(path, device, winners);
  }
  print_prose("winners are in {}\n", path);
  say_next(with_patterns("amasia run", c.patterns),
           "compares the variants with these winners for the role best");
  // This outweighs a config that failed: that one is known now, these groups have to be searched
  // again.
  if (without_winner) return exit_invalid_measurement;
  return failed == 0 ? exit_ok : exit_wrong_result;
}

Action declare_tune(CLI::App& options) {
  auto r = std::make_shared<TuneRequest>();
  r->campaign.launches = {LaunchMode::graph};
  add_cases(options, r->campaign, Preset::paper);
  add_effort(options, r->effort, "");
  add_seed(options, r->campaign.seed);
  add_device(options, r->session);
  add_output(options, "--tuning", r->tuning, "file to record the winners in",
             "results/<gpu>/tuning.json");
  options.add_flag("--missing", r->missing,
                   "only what has no winner of the code as it is: after an interruption, or where "
                   "presets share a size");
  add_dry_run(options, r->dry_run);
  return [r](const std::vector<std::string>&) {
    r->campaign.effort = effort_of(r->effort, Effort{});
    return tune(*r);
  };
}

const bool tune_registered = register_command(
    {.name = "tune",
     .group = CommandGroup::measure,
     .summary = "time every config of the variants and record the winners",
     .description = "The winner is what `run` and `study` take for the role best at this size, or "
                    "at the nearest one tuned, as long as the variant's code is the same. Configs "
                    "whose times are not distinguishable from the winner's are named beside it.",
     .examples = {{{"amasia tune pathfinder/tma", "one variant at the sizes of the paper preset"},
                   {"amasia tune 'hotspot/*' --preset quick --dry-run",
                    "how many configs that would be, and how long"}}},
     .declare = declare_tune});

}  // namespace
}  // namespace amasia
