#include "harness/report/export.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

Cell optional_cell(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

Cell text_or_nothing(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

Estimate estimate_of(const RatioInterval& ratio) { return {ratio.ratio, ratio.low, ratio.high}; }

const Comparison* comparison_of(const GroupResult& group, const Row& row) {
  for (const Comparison& comparison : group.comparisons) {
    if (comparison.variant == row.variant && comparison.role == row.role &&
        comparison.control == (row.repeat > 0)) {
      return &comparison;
    }
  }
  return nullptr;
}

/// "hotspot/tma" -> "tma"
std::string strategy_of(const std::string& variant) {
  return variant.substr(variant.find('/') + 1);
}

std::string speedup_text(const GroupResult& group, const Comparison& comparison) {
  const std::string said = claim(group, comparison);
  const std::string estimate = format_estimate(estimate_of(comparison.speedup));
  if (comparison.control) return "A/A: " + estimate;
  return said == "faster" || said == "slower" ? estimate : said + ": " + estimate;
}

std::string status_text(const Row& row) {
  switch (row.status) {
    case RowStatus::ok:
      return row.verdict && row.verdict->passed ? "verified" : "not verified";
    case RowStatus::failed:
      return "FAILED";
    case RowStatus::skipped:
      return "skipped";
    case RowStatus::crashed:
      return "CRASHED";
  }
  return "";
}

Table people_table(const GroupResult& group) {
  Table table;
  table.columns = {{"variant", "variant"},
                   {"role", "role"},
                   {"config", "config"},
                   {"time_ms", "median time", "ms", true},
                   {"speedup", "speed-up over baseline"},
                   {"floor_fraction", "fraction of floor"},
                   {"gbytes_per_s", "rate", "GB/s"},
                   {"gflops", "rate", group.work.kind == Work::Kind::fp32 ? "GFLOP/s" : "Gop/s"},
                   {"status", "result"}};
  for (const Row& row : group.rows) {
    const Comparison* comparison = comparison_of(group, row);
    table.add({strategy_of(row.variant), row.role, row.config,
               row.time_ms
                   ? Cell(Estimate{row.time_ms->median, row.time_ms->low, row.time_ms->high})
                   : Cell(),
               comparison ? Cell(speedup_text(group, *comparison)) : Cell(),
               optional_cell(row.floor_fraction), optional_cell(row.gbytes_per_s),
               optional_cell(row.gflops), status_text(row)});
  }
  return table;
}

/// "32 LDG per iteration (sass)": what was counted in the code.
std::string proof_text(const MicrobenchmarkRow& row) {
  std::vector<std::string> parts;
  for (const Proof& p : row.proof) {
    parts.push_back(p.found ? fmt::format("{} {}{} ({})", *p.found, p.instruction,
                                          p.in_loop ? " per iteration" : "", p.source)
                            : fmt::format("{} not counted", p.instruction));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Cell value_cell(const MicrobenchmarkRow& row) {
  return row.value ? Cell(Estimate{row.value->median, row.value->low, row.value->high}) : Cell();
}

/// Points for people: one column per coordinate name would be wide, so they stand in one.
Table people_table(const MicrobenchmarkResult& m) {
  Table table;
  table.columns = {{"at", "point"},           {"value", "median", "", true}, {"unit", "unit"},
                   {"time_ns", "time", "ns"}, {"clock_mhz", "clock", "MHz"}, {"proof", "proof"},
                   {"status", "result"}};
  for (const MicrobenchmarkRow& row : m.rows) {
    const std::string status(name_of(row.status));
    table.add({to_string(row.at), value_cell(row), row.unit, optional_cell(row.time_ns),
               optional_cell(row.clock_mhz), text_or_nothing(proof_text(row)),
               row.status == RowStatus::ok ? (row.remark.empty() ? status : row.remark)
                                           : fmt::format("{}: {}", status, row.reason)});
  }
  return table;
}

/// Lines about rows of a group that the table has no room for.
std::vector<std::string> remarks(const GroupResult& group) {
  std::vector<std::string> lines;
  for (const Row& row : group.rows) {
    const std::string name = fmt::format("{} ({})", row.variant, row.role);
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
    lines.push_back(
        "too many launches to queue behind the blocking kernel: launch jitter is inside");
  }
  for (const std::string& warning : group.warnings) lines.push_back("warning: " + warning);
  return lines;
}

/// "The baseline against itself: iso 1.000 [0.998, 1.002]"; empty without a control.
std::string noise_line(const GroupResult& group) {
  std::vector<std::string> parts;
  for (const Comparison& comparison : group.comparisons) {
    if (!comparison.control) continue;
    parts.push_back(
        fmt::format("{} {}", comparison.role, format_estimate(estimate_of(comparison.speedup))));
  }
  if (parts.empty()) return "Noise (baseline against itself): not measured.";
  return fmt::format("Noise (baseline against itself): {}.", fmt::join(parts, "; "));
}

std::string floor_line(const GroupResult& group) {
  if (!group.floor) return "Floor: unknown, a ceiling it needs was not measured.";
  return fmt::format("Floor: {} ms, bound by {}.", format_number(group.floor->floor_ms()),
                     group.floor->bound_by());
}

/// Entries of one row; empty when it has no valid time.
std::vector<const Sample*> valid_samples(const Row& row) {
  std::vector<const Sample*> samples;
  if (row.status != RowStatus::ok) return samples;
  for (const Sample& sample : row.samples) {
    if (!sample.throttled) samples.push_back(&sample);
  }
  return samples;
}

}  // namespace

std::string claim(const GroupResult& group, const Comparison& comparison) {
  if (comparison.verdict == "not resolved" || comparison.control) return comparison.verdict;
  // A comparator is held against the baseline at its best.
  const std::string role = comparison.role == "comparator" ? "best" : comparison.role;
  for (const Comparison& control : group.comparisons) {
    if (control.control && control.role == role &&
        comparison.speedup.ratio >= control.speedup.low &&
        comparison.speedup.ratio <= control.speedup.high) {
      return "within A/A noise";
    }
  }
  return comparison.verdict;
}

Table sample_table(const ResultFile& file) {
  Table table;
  table.columns = {{"app", "app"},
                   {"size", "size"},
                   {"cache", "cache"},
                   {"launch", "launch"},
                   {"variant", "variant"},
                   {"role", "role"},
                   {"repeat", "repeat"},
                   {"config", "config"},
                   {"status", "status"},
                   {"round", "round"},
                   {"position", "position"},
                   {"time_ms", "time", "ms"},
                   {"sm_clock_mhz", "SM clock", "MHz"},
                   {"throttled", "throttled"}};
  for (const GroupResult& group : file.groups) {
    for (const Row& row : group.rows) {
      for (const Sample& sample : row.samples) {
        table.add({group.key.app, group.key.size.to_string(), group.key.cache, group.key.launch,
                   row.variant, row.role, std::int64_t{row.repeat}, row.config,
                   std::string(name_of(row.status)), std::int64_t{sample.round},
                   std::int64_t{sample.position}, sample.time_ms,
                   optional_cell(sample.sm_clock_mhz), sample.throttled});
      }
    }
  }
  return table;
}

Table summary_table(const ResultFile& file) {
  Table table;
  table.columns = {{"app", "app"},
                   {"size", "size"},
                   {"cache", "cache"},
                   {"launch", "launch"},
                   {"preset", "preset"},
                   {"seed", "seed"},
                   {"variant", "variant"},
                   {"role", "role"},
                   {"repeat", "repeat"},
                   {"config", "config"},
                   {"config_source", "config from"},
                   {"status", "status"},
                   {"reason", "reason"},
                   {"fallback", "fallback"},
                   {"verified", "verified"},
                   {"error", "error"},
                   {"bound", "bound"},
                   {"n", "samples"},
                   {"time_ms", "median time", "ms", true},
                   {"coverage", "coverage"},
                   {"minimum_ms", "minimum", "ms"},
                   {"maximum_ms", "maximum", "ms"},
                   {"floor_ms", "floor", "ms"},
                   {"bound_by", "bound by"},
                   {"floor_fraction", "fraction of floor"},
                   {"gflops", "rate", "GFLOP/s"},
                   {"gbytes_per_s", "rate", "GB/s"},
                   {"energy_mj", "energy", "mJ"},
                   {"against", "against"},
                   {"speedup", "speed-up", "", true},
                   {"speedup_coverage", "coverage"},
                   {"claim", "claim"},
                   {"source_digest", "sources"}};
  for (const GroupResult& group : file.groups) {
    for (const Row& row : group.rows) {
      const Comparison* comparison = comparison_of(group, row);
      const auto& time = row.time_ms;
      const auto& verdict = row.verdict;
      table.add({group.key.app,
                 group.key.size.to_string(),
                 group.key.cache,
                 group.key.launch,
                 text_or_nothing(group.preset),
                 std::to_string(group.seed),  // text: 64 bits without a sign
                 row.variant,
                 row.role,
                 std::int64_t{row.repeat},
                 row.config,
                 row.config_source,
                 std::string(name_of(row.status)),
                 text_or_nothing(row.reason),
                 text_or_nothing(row.fallback),
                 verdict ? Cell(verdict->passed) : Cell(),
                 verdict ? Cell(verdict->error) : Cell(),
                 verdict ? Cell(verdict->bound) : Cell(),
                 time ? Cell(std::int64_t{time->n}) : Cell(),
                 time ? Cell(Estimate{time->median, time->low, time->high}) : Cell(),
                 time ? Cell(time->coverage) : Cell(),
                 time ? Cell(time->minimum) : Cell(),
                 time ? Cell(time->maximum) : Cell(),
                 group.floor ? Cell(group.floor->floor_ms()) : Cell(),
                 group.floor ? Cell(group.floor->bound_by()) : Cell(),
                 optional_cell(row.floor_fraction),
                 optional_cell(row.gflops),
                 optional_cell(row.gbytes_per_s),
                 optional_cell(row.energy_mj),
                 comparison ? Cell(comparison->against) : Cell(),
                 comparison ? Cell(estimate_of(comparison->speedup)) : Cell(),
                 comparison ? Cell(comparison->speedup.coverage) : Cell(),
                 comparison ? Cell(claim(group, *comparison)) : Cell(),
                 text_or_nothing(row.source_digest)});
    }
  }
  return table;
}

Table point_table(const ResultFile& file) {
  Table table;
  table.columns = {{"gpu", "GPU"},
                   {"toolkit", "CUDA compiler"},
                   {"driver", "CUDA driver"},
                   {"microbenchmark", "microbenchmark"},
                   {"at", "point"},
                   {"quantity", "quantity"},
                   {"unit", "unit"},
                   {"status", "status"},
                   {"reason", "reason"},
                   {"remark", "remark"},
                   {"n", "samples"},
                   {"value", "median", "", true},
                   {"cycles", "cycles"},
                   {"time_ns", "time", "ns"},
                   {"clock_mhz", "clock", "MHz"},
                   {"proof", "proof"},
                   {"stop_reason", "stopped by"},
                   {"source_digest", "sources"}};
  const Provenance& from = file.provenance;
  for (const MicrobenchmarkResult& m : file.microbenchmarks) {
    for (const MicrobenchmarkRow& row : m.rows) {
      table.add({from.device.name, text_or_nothing(from.cuda_compiler),
                 std::int64_t{from.device.driver_version}, m.name, to_string(row.at), row.quantity,
                 row.unit, std::string(name_of(row.status)), text_or_nothing(row.reason),
                 text_or_nothing(row.remark), static_cast<std::int64_t>(row.samples.size()),
                 value_cell(row), optional_cell(row.cycles), optional_cell(row.time_ns),
                 optional_cell(row.clock_mhz), text_or_nothing(proof_text(row)),
                 text_or_nothing(row.stop_reason), text_or_nothing(m.source_digest)});
    }
  }
  return table;
}

Table finding_table(const MicrobenchmarkResult& m) {
  Table table;
  table.columns = {{"at", "at"},
                   {"quantity", "finding"},
                   {"value", "value", "", true},
                   {"unit", "unit"},
                   {"how", "how"}};
  for (const Finding& f : m.findings) {
    table.add({to_string(f.at), f.quantity, Estimate{f.value, f.low, f.high}, f.unit, f.how});
  }
  return table;
}

std::string to_csv_points(const ResultFile& file) { return to_csv(point_table(file)); }
std::string to_csv_samples(const ResultFile& file) { return to_csv(sample_table(file)); }
std::string to_csv_summary(const ResultFile& file) { return to_csv(summary_table(file)); }

std::string to_markdown(const ResultFile& file) {
  const Provenance& from = file.provenance;
  std::string text = fmt::format(
      "# {}{}\n\n{}, commit {}{}, {}, CUDA driver {}.{}.\n",
      from.device.name.empty() ? "Results" : from.device.name,
      from.study.empty() ? "" : ": " + from.study, from.date_utc,
      from.commit.empty() ? "unknown" : from.commit, from.dirty ? " with local changes" : "",
      from.cuda_compiler.empty() ? "no CUDA compiler" : from.cuda_compiler,
      from.device.driver_version / 1000, from.device.driver_version % 1000 / 10);
  const auto list = [&](const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    text += '\n';
    for (std::string line : lines) {
      std::replace(line.begin(), line.end(), '\n', ' ');  // a break would end the list
      // An indented line belongs to the one above it.
      text += line.starts_with("  ") ? "  - " + line.substr(2) : "- " + line;
      text += '\n';
    }
  };
  if (!file.ceilings.empty()) {
    Table ceilings;
    ceilings.columns = {
        {"name", "ceiling"}, {"value", "median"}, {"unit", "unit"}, {"method", "how"}};
    for (const Ceiling& ceiling : file.ceilings) {
      ceilings.add({ceiling.name, ceiling.value, ceiling.unit, ceiling.method});
    }
    text += "\n## Ceilings\n\n" + to_markdown(ceilings);
  }
  for (const MicrobenchmarkResult& m : file.microbenchmarks) {
    text += fmt::format("\n## {}\n\n{} {}\n\n", m.name, m.question, m.method);
    text += to_markdown(people_table(m));
    if (!m.findings.empty()) {
      text += '\n';
      text += to_markdown(finding_table(m));
    }
    list(m.warnings);
  }
  for (const GroupResult& group : file.groups) {
    text += fmt::format("\n## {}\n\n{} {} {} rounds{}\n\n", group.key.to_string(),
                        noise_line(group), floor_line(group), group.rounds,
                        group.stop_reason.empty() ? "." : " (" + group.stop_reason + ").");
    text += to_markdown(people_table(group));
    list(remarks(group));
  }
  return text;
}

std::string benchmark_name(const GroupKey& key, const Row& row) {
  return fmt::format("{}/{}{}{}/{}/{}/{}", row.variant, row.role,
                     row.role == "candidate" ? "/" + row.config : "",
                     row.repeat > 0 ? fmt::format("/repeat:{}", row.repeat) : "",
                     key.size.to_string(), key.cache, key.launch);
}

std::string to_google_benchmark(const ResultFile& file) {
  constexpr double ns_per_ms = 1e6;  // compare.py prints whole units: ns, not ms
  const Provenance& from = file.provenance;
  Json context = {{"date", from.date_utc},
                  {"host_name", from.host_name},
                  {"executable", from.argv.empty() ? "amasia" : from.argv.front()},
                  {"num_cpus", 0},
                  {"mhz_per_cpu", 0},
                  {"cpu_scaling_enabled", false},
                  {"caches", Json::array()},
                  {"load_avg", Json::array()},
                  {"library_build_type", "release"},
                  {"gpu", from.device.name},
                  {"commit", from.commit}};
  Json benchmarks = Json::array();
  int family = 0;
  for (const GroupResult& group : file.groups) {
    for (const Row& row : group.rows) {
      const std::vector<const Sample*> samples = valid_samples(row);
      if (samples.empty()) continue;
      const std::string name = benchmark_name(group.key, row);
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const double time = samples[i]->time_ms * ns_per_ms;
        benchmarks.push_back({{"name", name},
                              {"family_index", family},
                              {"per_family_instance_index", 0},
                              {"run_name", name},
                              {"run_type", "iteration"},
                              {"repetitions", samples.size()},
                              {"repetition_index", i},
                              {"threads", 1},
                              {"iterations", 1},
                              {"real_time", time},
                              {"cpu_time", time},
                              {"time_unit", "ns"},
                              {"label", row.config}});
      }
      ++family;
    }
  }
  return dump_json({{"context", std::move(context)}, {"benchmarks", std::move(benchmarks)}});
}

std::vector<std::string> sentences(const GroupResult& group) {
  std::vector<std::string> lines;
  for (const Comparison& comparison : group.comparisons) {
    if (comparison.role != "best" || comparison.control) continue;
    const std::string said = claim(group, comparison);
    const RatioInterval& ratio = comparison.speedup;
    const bool faster = said == "faster";
    if (!faster && said != "slower") continue;
    const Estimate times =
        faster ? estimate_of(ratio) : Estimate{1 / ratio.ratio, 1 / ratio.high, 1 / ratio.low};
    lines.push_back(fmt::format("{}: {} ran {}x [{}, {}] {} than {}", group.key.to_string(),
                                strategy_of(comparison.variant), format_number(times.value),
                                format_number(times.low), format_number(times.high), said,
                                strategy_of(comparison.against)));
  }
  return lines;
}

}  // namespace amasia
