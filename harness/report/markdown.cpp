#include "harness/report/report.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/conclusions/comparison.hpp"
#include "harness/conclusions/sessions.hpp"
#include "harness/results/result.hpp"
#include "harness/text/table.hpp"

namespace amasia {
namespace {

std::string speedup_text(const Comparison& comparison) {
  const SpeedClaim claim = comparison.claim;
  const std::string estimate = format_estimate(estimate_of(comparison.speedup));
  if (comparison.control) return "A/A: " + estimate;
  return claim == SpeedClaim::faster || claim == SpeedClaim::slower
             ? estimate
             : fmt::format("{}: {}", word_of(claim), estimate);
}

std::string status_text(const Row& row) {
  switch (row.status) {
    case RowStatus::ok:
      return row.verdict && row.verdict->passed ? "verified" : "not verified";
    case RowStatus::failed:
      return "FAILED";
    case RowStatus::skipped:
      return std::string(word_of(row.status));
    case RowStatus::crashed:
      return "CRASHED";
  }
  return "";
}

/// The rows of a group, those at their best first: the baseline, then by their speed-up, the
/// largest first. The others stay in their order.
std::vector<const Row*> by_speedup(const GroupResult& group) {
  const auto place = [&](const Row& row) {
    const bool best = row.role == Role::best || row.role == Role::comparator;
    const Comparison* c = best && row.repeat == 0 ? comparison_of(group, row) : nullptr;
    const bool reference = best && c == nullptr && row.time_ms.has_value();
    return std::tuple(!best, !reference, c == nullptr ? 0 : -c->speedup.ratio);
  };
  std::vector<const Row*> rows;
  for (const Row& row : group.rows) rows.push_back(&row);
  std::ranges::stable_sort(rows, [&](const Row* a, const Row* b) { return place(*a) < place(*b); });
  return rows;
}

Table people_table(const ResultFile& file, const GroupResult& group) {
  // A file of one run says so once, not in every line.
  const bool several = !file.provenance.sessions.empty();
  Table table;
  table.columns = {{"variant"},
                   {"role"},
                   {"config"},
                   {"median time [ms]", true},
                   {"speed-up over baseline"},
                   {"fraction of floor"},
                   {"rate [GB/s]"},
                   {group.work.kind == Work::Kind::fp32 ? "rate [GFLOP/s]" : "rate [Gop/s]"},
                   {"result"}};
  if (several) {
    table.columns.insert(table.columns.begin() + 4, {"all runs [ms]"});
    table.columns.insert(table.columns.begin() + 6, {"all runs"});
  }
  for (const Row* of : by_speedup(group)) {
    const Row& row = *of;
    const Comparison* comparison = comparison_of(group, row);
    const auto all = [&](const auto& it) { return Cell(sessions_text(file, group, it)); };
    std::vector<Cell> cells{strategy_of(row.variant), word_cell(row.role), row.config,
                            median_cell(row.time_ms)};
    if (several) cells.push_back(row.time_ms ? all(row) : Cell());
    cells.push_back(comparison ? Cell(speedup_text(*comparison)) : Cell());
    if (several) cells.push_back(comparison ? all(*comparison) : Cell());
    const auto rate = [&](const std::optional<double>& value) {
      return optional_cell(has_work(group.work) ? value : std::nullopt);
    };
    for (const Cell& cell : {optional_cell(row.floor_fraction), rate(row.gbytes_per_s),
                             rate(row.gflops), Cell(status_text(row))}) {
      cells.push_back(cell);
    }
    table.add(std::move(cells));
  }
  return table;
}

/// What the speed-ups of a group consist of, the largest first.
Table gain_table(std::vector<Gain> gains) {
  std::ranges::stable_sort(gains, std::greater{},
                           [](const Gain& g) { return g.total->speedup.ratio; });
  Table table;
  table.columns = {{"strategy"},        {"best with"},   {"speed-up at best"},
                   {"of the schedule"}, {"of movement"}, {"of movement, with baseline's schedule"}};
  const auto cell = [](const Comparison* c) { return c ? Cell(speedup_text(*c)) : Cell(); };
  for (const Gain& gain : gains) {
    const bool same = gain.schedule == gain.baseline_schedule;
    table.add({strategy_of(gain.variant), gain.schedule, cell(gain.total),
               same ? Cell("1: the same") : cell(gain.by_schedule), cell(gain.by_movement),
               same ? cell(gain.by_movement) : cell(gain.at_baseline_schedule)});
  }
  return table;
}

/// What it costs to implement a strategy with a library in place of instructions.
Table spelling_table(const GroupResult& group) {
  Table table;
  table.columns = {{"strategy"},
                   {"implemented with"},
                   {"config"},
                   {"time [ms]", true},
                   {"time of the strategy [ms]", true},
                   {"speed-up"}};
  for (const Comparison& c : group.comparisons) {
    if (c.role != Role::counterpart) continue;
    const auto pair = rows_of(group.rows, c);
    if (!pair) continue;
    table.add({strategy_of(c.against), strategy_of(c.variant), pair->row->config,
               median_cell(pair->row->time_ms), median_cell(pair->reference->time_ms),
               Cell(speedup_text(c))});
  }
  return table;
}

/// Points for people: one column per coordinate name would be wide, so they stand in one.
Table people_table(const MicrobenchmarkResult& m) {
  Table table;
  table.columns = {{"point"},       {"median", true}, {"unit"},  {"time [ns]"},
                   {"clock [MHz]"}, {"proof"},        {"result"}};
  for (const MicrobenchmarkRow& row : m.rows) {
    const std::string status(word_of(row.status));
    table.add({to_string(row.at), median_cell(row.value), row.unit, optional_cell(row.time_ns),
               optional_cell(row.clock_mhz), text_or_nothing(proof_text(row)),
               row.status == RowStatus::ok ? (row.remark.empty() ? status : row.remark)
                                           : fmt::format("{}: {}", status, row.reason)});
  }
  return table;
}

Table finding_table(const MicrobenchmarkResult& m) {
  Table table;
  table.columns = {{"at"}, {"finding"}, {"value", true}, {"unit"}, {"how"}};
  for (const Finding& f : m.findings) {
    table.add({to_string(f.at), f.quantity, Estimate{f.value, f.low, f.high}, f.unit, f.how});
  }
  return table;
}

/// Lines about rows of a group that the table has no room for.
std::vector<std::string> remarks(const GroupResult& group) {
  std::vector<std::string> lines;
  for (const Row& row : group.rows) {
    const std::string name = fmt::format("{} ({})", row.variant, role_in_group(row));
    if (row.status != RowStatus::ok) {
      lines.push_back(fmt::format("{} {}: {}", status_text(row), name, row.reason));
      if (row.verdict) {
        for (const std::string& mismatch : row.verdict->first_mismatches) {
          lines.push_back("  " + mismatch);
        }
      }
    }
    if (!row.fallback.empty()) lines.push_back(fmt::format("{}: {}", name, row.fallback));
  }
  if (!group.launch_blocked) {
    lines.emplace_back(
        "too many launches to queue behind the blocking kernel: launch jitter is inside");
  }
  for (const std::string& warning : group.warnings) lines.push_back("warning: " + warning);
  for (const Invalidity& i : group.invalid) {
    lines.push_back(fmt::format("INVALID, nothing is claimed ({}): {}; {}", word_of(i.kind),
                                i.reason, i.remedy));
  }
  for (const Invalidity& i : group.repeated_because) {
    lines.push_back(fmt::format("measured a second time, because of the first ({}): {}",
                                word_of(i.kind), i.reason));
  }
  return lines;
}

/// "The baseline against itself: iso 1.000 [0.998, 1.002]"; empty without a control.
std::string noise_line(const GroupResult& group) {
  std::vector<std::string> parts;
  for (const Comparison& comparison : group.comparisons) {
    if (!comparison.control) continue;
    parts.push_back(fmt::format("{} {}", word_of(comparison.role),
                                format_estimate(estimate_of(comparison.speedup))));
  }
  if (parts.empty()) return "Noise (baseline against itself): not measured.";
  return fmt::format("Noise (baseline against itself): {}.", fmt::join(parts, "; "));
}

/// What stands behind the numbers of the file.
std::string sessions_line(const ResultFile& file) {
  const auto& sessions = file.provenance.sessions;
  if (sessions.empty()) {
    return "One run: intervals are of this run and do not say where the next one falls (amasia run "
           "--sessions).";
  }
  std::set<std::string> gpus;
  for (const SessionRecord& session : sessions) gpus.insert(session.uuid_hash);
  return fmt::format(
      "{} runs on {}. Times, speed-ups and their intervals are of the first; \"all runs\" is the "
      "least and the largest of all. Where the next one falls: python -m plots report.",
      sessions.size(), gpus.size() == 1 ? "one GPU" : fmt::format("{} GPUs", gpus.size()));
}

std::string floor_line(const GroupResult& group) {
  if (!group.floor) {
    return has_work(group.work) ? "Floor: unknown, a ceiling it needs was not measured."
                                : "Floor: unknown, the app does not state its work.";
  }
  return fmt::format("Floor: {} ms, bound by {}.", format_number(group.floor->floor_ms()),
                     word_of(group.floor->bound_by()));
}

}  // namespace

std::string to_markdown(const ResultFile& file) {
  const Provenance& from = file.provenance;
  std::string text = fmt::format(
      "# {}{}\n\n{}, commit {}{}, {}, CUDA driver {}.{}.\n",
      from.device.name.empty() ? "Results" : from.device.name,
      from.study.empty() ? "" : ": " + from.study, from.date_utc,
      from.commit.empty() ? "unknown" : from.commit, from.dirty ? " with local changes" : "",
      from.cuda_compiler.empty() ? "no CUDA compiler" : from.cuda_compiler,
      from.device.driver_version / 1000, from.device.driver_version % 1000 / 10);
  if (!file.groups.empty()) {
    text += '\n' + sessions_line(file) + '\n';
    text +=
        "\nA speed-up is the median of the ratios of its rounds. The quotient of two medians may "
        "differ from it where times drift.\n";
  }
  const auto list = [&](const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    text += '\n';
    for (std::string line : lines) {
      std::ranges::replace(line, '\n', ' ');  // a break would end the list
      // An indented line belongs to the one above it.
      text += line.starts_with("  ") ? "  - " + line.substr(2) : "- " + line;
      text += '\n';
    }
  };
  if (!file.ceilings.empty()) {
    Table ceilings;
    ceilings.columns = {{"ceiling"}, {"median"}, {"unit"}, {"how"}};
    for (const Ceiling& ceiling : file.ceilings) {
      ceilings.add({ceiling.name, ceiling.value, ceiling.unit, ceiling.method});
    }
    text += "\n## Ceilings\n\n" + to_markdown(ceilings);
  }
  for (const MicrobenchmarkResult* shown : shown_microbenchmarks(file)) {
    const MicrobenchmarkResult& m = *shown;
    text += fmt::format("\n## {}\n\n{} {}\n\n", m.name, m.question, m.method);
    text += to_markdown(people_table(m));
    if (!m.findings.empty()) {
      text += '\n';
      text += to_markdown(finding_table(m));
    }
    list(reservations(m));
  }
  for (const GroupResult* shown : shown_groups(file)) {
    const GroupResult& group = *shown;
    text +=
        fmt::format("\n## {}\n\n{} {} {} rounds{}\n\n", group.key.to_string(), noise_line(group),
                    floor_line(group), group.rounds,
                    group.stop_reason ? fmt::format(" ({}).", word_of(group.stop_reason)) : ".");
    text += to_markdown(people_table(file, group));
    if (const std::vector<Gain> gains = gains_of(group); !gains.empty()) {
      text += fmt::format("\nBaseline is best with schedule {}; of the speed-ups over it:\n\n",
                          gains.front().baseline_schedule);
      text += to_markdown(gain_table(gains));
    }
    if (const Table spellings = spelling_table(group); !spellings.rows.empty()) {
      text +=
          "\nStrategies beside the same implemented with a library, in configs of the same "
          "name:\n\n";
      text += to_markdown(spellings);
    }
    list(remarks(group));
  }
  return text;
}

}  // namespace amasia
