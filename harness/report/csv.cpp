#include "harness/report/csv.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/report/cells.hpp"

namespace amasia {
namespace {

/// As provenance.sessions counts them; nothing in a file of one.
Cell session_cell(const std::optional<int>& session) {
  return session ? Cell(std::int64_t{*session}) : Cell();
}

/// What disturbed the group: "company; drift"; nothing in a valid one.
Cell invalidity_cell(const GroupResult& group) {
  std::vector<std::string_view> kinds;
  for (const Invalidity& i : group.invalid) kinds.push_back(word_of(i.kind));
  return text_or_nothing(fmt::format("{}", fmt::join(kinds, "; ")));
}

/// A table with these columns behind those of the origin.
Table table_of(std::vector<Column> own) {
  Table table;
  for (auto& [column, cell] : origin_of({})) table.columns.push_back(std::move(column));
  std::move(own.begin(), own.end(), std::back_inserter(table.columns));
  return table;
}

void add(Table& table, const Provenance& from, const std::optional<int>& session,
         std::vector<Cell> own) {
  std::vector<Cell> row;
  for (auto& [column, cell] : origin_of(from, session)) row.push_back(std::move(cell));
  std::move(own.begin(), own.end(), std::back_inserter(row));
  table.add(std::move(row));
}

}  // namespace

Table sample_table(const ResultFile& file) {
  Table table = table_of({{"app", "app"},
                          {"size", "size"},
                          {"cache", "cache"},
                          {"launch", "launch"},
                          {"session", "session"},
                          {"variant", "variant"},
                          {"role", "role"},
                          {"repeat", "repeat"},
                          {"config", "config"},
                          {"schedule", "schedule"},
                          {"status", "status"},
                          {"round", "round"},
                          {"position", "position"},
                          {"time_ms", "time", "ms"},
                          {"sm_clock_mhz", "SM clock", "MHz"},
                          {"throttled", "throttled"},
                          {"invalid", "not valid"}});
  for (const GroupResult& group : file.groups) {
    for (const Row& row : group.rows) {
      for (const Sample& sample : row.samples) {
        add(table, file.provenance, group.session,
            {group.key.app, group.key.size.to_string(), word_cell(group.key.cache),
             word_cell(group.key.launch), session_cell(group.session), row.variant,
             word_cell(row.role), std::int64_t{row.repeat}, row.config,
             text_or_nothing(row.schedule), word_cell(row.status), std::int64_t{sample.round},
             std::int64_t{sample.position}, sample.time_ms, optional_cell(sample.sm_clock_mhz),
             sample.throttled, invalidity_cell(group)});
      }
    }
  }
  return table;
}

Table summary_table(const ResultFile& file) {
  Table table = table_of({{"app", "app"},
                          {"size", "size"},
                          {"cache", "cache"},
                          {"launch", "launch"},
                          {"session", "session"},
                          {"preset", "preset"},
                          {"seed", "seed"},
                          {"variant", "variant"},
                          {"role", "role"},
                          {"repeat", "repeat"},
                          {"config", "config"},
                          {"config_source", "config from"},
                          {"schedule", "schedule"},
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
                          {"against_schedule", "against schedule"},
                          {"speedup", "speed-up", "", true},
                          {"speedup_coverage", "coverage"},
                          {"claim", "claim"},
                          {"source_digest", "sources"},
                          {"invalid", "not valid"}});
  for (const GroupResult& group : file.groups) {
    for (const Row& row : group.rows) {
      const Comparison* comparison = comparison_of(group, row);
      const auto& time = row.time_ms;
      const auto& verdict = row.verdict;
      add(table, file.provenance, group.session,
          {group.key.app,
           group.key.size.to_string(),
           word_cell(group.key.cache),
           word_cell(group.key.launch),
           session_cell(group.session),
           word_cell(group.preset),
           std::to_string(group.seed),  // text: 64 bits without a sign
           row.variant,
           word_cell(row.role),
           std::int64_t{row.repeat},
           row.config,
           row.config_source,
           text_or_nothing(row.schedule),
           word_cell(row.status),
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
           group.floor ? word_cell(group.floor->bound_by()) : Cell(),
           optional_cell(row.floor_fraction),
           optional_cell(row.gflops),
           optional_cell(row.gbytes_per_s),
           optional_cell(row.energy_mj),
           comparison ? Cell(comparison->against) : Cell(),
           comparison ? text_or_nothing(comparison->against_schedule) : Cell(),
           comparison ? Cell(estimate_of(comparison->speedup)) : Cell(),
           comparison ? Cell(comparison->speedup.coverage) : Cell(),
           comparison ? word_cell(comparison->claim) : Cell(),
           text_or_nothing(row.source_digest),
           invalidity_cell(group)});
    }
  }
  return table;
}

Table point_table(const ResultFile& file) {
  Table table = table_of({{"session", "session"},
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
                          {"source_digest", "sources"}});
  for (const MicrobenchmarkResult& m : file.microbenchmarks) {
    for (const MicrobenchmarkRow& row : m.rows) {
      add(table, file.provenance, m.session,
          {session_cell(m.session), m.name, to_string(row.at), row.quantity, row.unit,
           word_cell(row.status), text_or_nothing(row.reason), text_or_nothing(row.remark),
           static_cast<std::int64_t>(row.samples.size()), value_cell(row),
           optional_cell(row.cycles), optional_cell(row.time_ns), optional_cell(row.clock_mhz),
           text_or_nothing(proof_text(row)), word_cell(row.stop_reason),
           text_or_nothing(m.source_digest)});
    }
  }
  return table;
}

}  // namespace amasia
