#include "harness/report/cells.hpp"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

std::string next_text(const std::optional<Prediction>& next, const Sessions::Values& sessions) {
  std::set<std::string> gpus;
  for (const SessionValue& session : sessions) gpus.insert(session.gpu);
  std::string runs =
      sessions.size() < 2
          ? "one run"
          : fmt::format("{} runs on {}", sessions.size(),
                        gpus.size() == 1 ? "one GPU" : fmt::format("{} GPUs", gpus.size()));
  if (!next) return runs;
  return fmt::format("{} to {} ({})", format_number(next->low), format_number(next->high), runs);
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
