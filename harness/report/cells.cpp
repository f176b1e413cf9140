#include "harness/report/cells.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/conclusions/comparison.hpp"
#include "harness/conclusions/sessions.hpp"

namespace amasia {

Cell optional_cell(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

Cell text_or_nothing(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

Estimate estimate_of(const RatioInterval& ratio) { return {ratio.ratio, ratio.low, ratio.high}; }

Cell value_cell(const MicrobenchmarkRow& row) {
  return row.value ? Cell(Estimate{row.value->median, row.value->low, row.value->high}) : Cell();
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
  return {{{"gpu", "GPU"}, text_or_nothing(from.device.name)},
          {{"driver", "CUDA driver"}, std::int64_t{from.device.driver_version}},
          {{"toolkit", "CUDA compiler"}, text_or_nothing(from.cuda_compiler)},
          {{"commit", "commit"}, text_or_nothing(commit)}};
}

namespace {

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
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return fmt::format("{} to {} ({} runs on {})", format_number(*least), format_number(*most),
                     values.size(),
                     gpus.size() == 1 ? "one GPU" : fmt::format("{} GPUs", gpus.size()));
}

bool is_same_row(const Row& a, const Row& b) {
  return std::tie(a.variant, a.role, a.repeat, a.config, a.schedule, a.source_digest) ==
         std::tie(b.variant, b.role, b.repeat, b.config, b.schedule, b.source_digest);
}

}  // namespace

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
