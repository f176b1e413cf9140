#include "harness/report/report.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/conclusions/comparison.hpp"
#include "harness/conclusions/sessions.hpp"

namespace amasia {
namespace {

/// The columns of a row and what is in them.
using ColumnCells = std::vector<std::pair<Column, Cell>>;

/// As provenance.sessions counts them; nothing in a file of one.
Cell session_cell(const std::optional<int>& session) {
  return session ? Cell(std::int64_t{*session}) : Cell();
}

/// What disturbed the group: "drift; floor"; nothing in a valid one.
Cell invalidity_cell(const GroupResult& group) {
  std::vector<std::string_view> kinds;
  for (const Invalidity& i : group.invalid) kinds.push_back(word_of(i.kind));
  return text_or_nothing(fmt::format("{}", fmt::join(kinds, "; ")));
}

ColumnCells case_fields(const GroupResult& group) {
  return {{{"app"}, group.key.app},
          {{"size"}, group.key.size.to_string()},
          {{"cache"}, word_cell(group.key.cache)},
          {{"launch"}, word_cell(group.key.launch)},
          {{"session"}, session_cell(group.session)}};
}

ColumnCells summary_fields(const GroupResult& group, const Row& row) {
  const Comparison* comparison = comparison_of(group, row);
  const auto& time = row.time_ms;
  const auto& verdict = row.verdict;
  const auto& floor = group.floor;
  return {
      {{"preset"}, word_cell(group.preset)},
      {{"seed"}, std::to_string(group.seed)},  // text: 64 bits without a sign
      {{"variant"}, row.variant},
      {{"role"}, word_cell(row.role)},
      {{"repeat"}, std::int64_t{row.repeat}},
      {{"config"}, row.config},
      {{"config_source"}, row.config_source},
      {{"schedule"}, text_or_nothing(row.schedule)},
      {{"status"}, word_cell(row.status)},
      {{"reason"}, text_or_nothing(row.reason)},
      {{"fallback"}, text_or_nothing(row.fallback)},
      {{"verified"}, verdict ? Cell(verdict->passed) : Cell()},
      {{"error"}, verdict ? Cell(verdict->error) : Cell()},
      {{"bound"}, verdict ? Cell(verdict->bound) : Cell()},
      {{"n"}, time ? Cell(std::int64_t{time->n}) : Cell()},
      {{"time_ms", true}, median_cell(time)},
      {{"coverage"}, time ? Cell(time->coverage) : Cell()},
      {{"minimum_ms"}, time ? Cell(time->minimum) : Cell()},
      {{"maximum_ms"}, time ? Cell(time->maximum) : Cell()},
      {{"floor_ms"}, floor ? Cell(floor->floor_ms()) : Cell()},
      {{"bound_by"}, floor ? word_cell(floor->bound_by()) : Cell()},
      {{"floor_fraction"}, optional_cell(row.floor_fraction)},
      {{"gflops"}, optional_cell(row.gflops)},
      {{"gbytes_per_s"}, optional_cell(row.gbytes_per_s)},
      {{"energy_mj"}, optional_cell(row.energy_mj)},
      {{"against"}, comparison ? Cell(comparison->against) : Cell()},
      {{"against_schedule"}, comparison ? text_or_nothing(comparison->against_schedule) : Cell()},
      {{"speedup", true}, comparison ? Cell(estimate_of(comparison->speedup)) : Cell()},
      {{"speedup_coverage"}, comparison ? Cell(comparison->speedup.coverage) : Cell()},
      {{"claim"}, comparison ? word_cell(comparison->claim) : Cell()},
      {{"source_digest"}, text_or_nothing(row.source_digest)},
      {{"invalid"}, invalidity_cell(group)}};
}

ColumnCells point_fields(const MicrobenchmarkResult& m, const MicrobenchmarkRow& row) {
  return {{{"session"}, session_cell(m.session)},
          {{"microbenchmark"}, m.name},
          {{"at"}, to_string(row.at)},
          {{"quantity"}, row.quantity},
          {{"unit"}, row.unit},
          {{"status"}, word_cell(row.status)},
          {{"reason"}, text_or_nothing(row.reason)},
          {{"remark"}, text_or_nothing(row.remark)},
          {{"n"}, static_cast<std::int64_t>(row.samples.size())},
          {{"value", true}, median_cell(row.value)},
          {{"cycles"}, optional_cell(row.cycles)},
          {{"time_ns"}, optional_cell(row.time_ns)},
          {{"clock_mhz"}, optional_cell(row.clock_mhz)},
          {{"proof"}, text_or_nothing(proof_text(row))},
          {{"stop_reason"}, word_cell(row.stop_reason)},
          {{"source_digest"}, text_or_nothing(m.source_digest)}};
}

/// A table whose columns are those of a row of nothing.
template <class... Parts>
Table table_of(const Parts&... parts) {
  Table table;
  for (const ColumnCells& part : {origin_of({}), parts...}) {
    for (const auto& [column, cell] : part) table.columns.push_back(column);
  }
  return table;
}

template <class... Parts>
void add(Table& table, const Parts&... parts) {
  std::vector<Cell> row;
  for (const ColumnCells* part : {&parts...}) {
    for (const auto& [column, cell] : *part) row.push_back(cell);
  }
  table.add(std::move(row));
}

/// `value_in`: what a session's group has of it, nothing where it has none.
template <class ValueIn>
std::string range_over_sessions(const ResultFile& file, const GroupResult& group,
                                const ValueIn& value_in) {
  std::set<std::string> gpus;
  std::vector<double> values;
  for (const GroupResult& other : file.groups) {
    if (!other.invalid.empty() || other.key.to_string() != group.key.to_string()) continue;
    if (const std::optional<double> value = value_in(other)) {
      values.push_back(*value);
      gpus.insert(gpu_of(file.provenance, other));
    }
  }
  if (values.size() < 2) return "one run";
  const auto [least, most] = std::ranges::minmax_element(values);
  return fmt::format("{} to {} ({} runs on {})", format_number(*least), format_number(*most),
                     values.size(),
                     gpus.size() == 1 ? "one GPU" : fmt::format("{} GPUs", gpus.size()));
}

bool is_same_row(const Row& a, const Row& b) {
  return std::tie(a.variant, a.role, a.repeat, a.config, a.schedule, a.source_digest) ==
         std::tie(b.variant, b.role, b.repeat, b.config, b.schedule, b.source_digest);
}

}  // namespace

Table summary_table(const ResultFile& file) {
  Table table = table_of(case_fields({}), summary_fields({}, {}));
  for (const GroupResult& group : file.groups) {
    const ColumnCells origin = origin_of(file.provenance, group.session),
                      of_case = case_fields(group);
    for (const Row& row : group.rows) add(table, origin, of_case, summary_fields(group, row));
  }
  return table;
}

Table point_table(const ResultFile& file) {
  Table table = table_of(point_fields({}, {}));
  for (const MicrobenchmarkResult& m : file.microbenchmarks) {
    const ColumnCells origin = origin_of(file.provenance, m.session);
    for (const MicrobenchmarkRow& row : m.rows) add(table, origin, point_fields(m, row));
  }
  return table;
}

Cell optional_cell(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

Cell text_or_nothing(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

Estimate estimate_of(const RatioInterval& ratio) { return {ratio.ratio, ratio.low, ratio.high}; }

Cell median_cell(const std::optional<MedianInterval>& median) {
  return median ? Cell(Estimate{median->median, median->low, median->high}) : Cell();
}

std::vector<std::pair<Column, Cell>> origin_of(const Provenance& from,
                                               const std::optional<int>& session) {
  std::string commit = from.commit;
  bool dirty = from.dirty;
  if (session && static_cast<std::size_t>(*session) < from.sessions.size()) {
    const SessionRecord& record = from.sessions[static_cast<std::size_t>(*session)];
    commit = record.commit;
    dirty = record.dirty;
  }
  if (dirty && !commit.empty()) commit += "-dirty";
  return {{{"gpu"}, text_or_nothing(from.device.name)},
          {{"driver"}, std::int64_t{from.device.driver_version}},
          {{"toolkit"}, text_or_nothing(from.cuda_compiler)},
          {{"commit"}, text_or_nothing(commit)}};
}

std::string sessions_text(const ResultFile& file, const GroupResult& group, const Row& row) {
  return range_over_sessions(file, group, [&](const GroupResult& other) -> std::optional<double> {
    for (const Row& r : other.rows) {
      if (r.time_ms && r.status == RowStatus::ok && is_same_row(r, row)) return r.time_ms->median;
    }
    return std::nullopt;
  });
}

std::string sessions_text(const ResultFile& file, const GroupResult& group,
                          const Comparison& comparison) {
  const auto shown = rows_of(group.rows, comparison);
  return range_over_sessions(file, group, [&](const GroupResult& other) -> std::optional<double> {
    for (const Comparison& c : other.comparisons) {
      const auto pair = rows_of(other.rows, c);
      if (c.role == comparison.role && shown && pair && is_same_row(*pair->row, *shown->row) &&
          is_same_row(*pair->reference, *shown->reference)) {
        return c.speedup.ratio;
      }
    }
    return std::nullopt;
  });
}

const Comparison* comparison_of(const GroupResult& group, const Row& row) {
  for (const Comparison& comparison : group.comparisons) {
    if (comparison.variant == row.variant && comparison.role == row.role &&
        comparison.schedule == row.schedule && comparison.control == (row.repeat > 0)) {
      return &comparison;
    }
  }
  return nullptr;
}

std::string strategy_of(const std::string& variant) {
  return variant.substr(variant.find('/') + 1);
}

std::string proof_text(const MicrobenchmarkRow& row) {
  std::vector<std::string> parts;
  for (const Proof& p : row.proof) {
    parts.push_back(p.found ? fmt::format("{} {}{} ({})", *p.found, p.instruction,
                                          p.in_loop ? " per iteration" : "", p.source)
                            : fmt::format("{} not counted", p.instruction));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace amasia
