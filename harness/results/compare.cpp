#include "harness/results/compare.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "harness/results/claim.hpp"
#include "harness/results/comparison.hpp"
#include "harness/results/row_name.hpp"

namespace amasia {
namespace {

/// What makes rows of two files the same case. Candidates of a search differ by config alone; a
/// `best` row is the best of each file, whatever its config.
std::string name_of(const GroupResult& group, const Row& row) {
  return fmt::format("{} {} ({})", row.variant, role_in_group(row), group.key.to_string());
}

struct Timed {
  const GroupResult* group = nullptr;
  const Row* row = nullptr;
  std::vector<double> times{};
};

/// Rows with a valid time by name, and the names in file order. The A/A control is left out: the
/// file compares the baseline once. So is what an invalid group has.
std::map<std::string, Timed> timed_rows(const ResultFile& file, std::vector<std::string>& order) {
  std::map<std::string, Timed> rows;
  for (const GroupResult& group : file.groups) {
    if (!group.invalid.empty()) continue;
    for (const Row& row : group.rows) {
      if (row.status != RowStatus::ok || row.repeat != 0) continue;
      Timed timed{&group, &row, usable_times(row)};
      if (timed.times.empty()) continue;
      const std::string name = name_of(group, row);
      if (rows.emplace(name, std::move(timed)).second) order.push_back(name);
    }
  }
  return rows;
}

std::string source_of(const ResultFile& file, const Row& row) {
  const auto found = file.provenance.sources.find(row.variant);
  return found == file.provenance.sources.end() ? row.source_digest : found->second;
}

}  // namespace

FileComparison compare_files(const ResultFile& a, const ResultFile& b, double confidence) {
  FileComparison result;
  std::vector<std::string> order_a, order_b, common;
  const auto rows_a = timed_rows(a, order_a);
  const auto rows_b = timed_rows(b, order_b);
  for (const std::string& name : order_a) {
    (rows_b.contains(name) ? common : result.only_in_a).push_back(name);
  }
  for (const std::string& name : order_b) {
    if (!rows_a.contains(name)) result.only_in_b.push_back(name);
  }

  const double each = corrected_confidence(confidence, static_cast<int>(common.size()));
  const std::size_t enough = static_cast<std::size_t>(least_sample_size((1 + each) / 2));
  std::size_t too_few = 0;
  std::set<std::string> changed;
  bool seeds_differ = false;
  for (const std::string& name : common) {
    const Timed& left = rows_a.at(name);
    const Timed& right = rows_b.at(name);
    FileComparisonRow row;
    row.variant = left.row->variant;
    row.role = left.row->role;
    row.key = left.group->key;
    row.a_config = left.row->config;
    row.b_config = right.row->config;
    row.a_ms = median_interval(left.times, each).median;
    row.b_ms = median_interval(right.times, each).median;
    row.speedup = independent_ratio(left.times, right.times, each);
    row.verdict = verdict_on(row.speedup);
    too_few += std::min(left.times.size(), right.times.size()) < enough;
    if (source_of(a, *left.row) != source_of(b, *right.row)) changed.insert(row.variant);
    seeds_differ = seeds_differ || left.group->seed != right.group->seed;
    result.rows.push_back(std::move(row));
  }

  const auto warn_if = [&](const std::string& what, const auto& in_a, const auto& in_b) {
    if (in_a != in_b) {
      result.warnings.push_back(fmt::format("{} differs: {} in A, {} in B", what, in_a, in_b));
    }
  };
  const Provenance &pa = a.provenance, &pb = b.provenance;
  warn_if("GPU", pa.device.name, pb.device.name);
  if (pa.device.name == pb.device.name && pa.device.uuid_hash != pb.device.uuid_hash) {
    result.warnings.emplace_back("the files are from two GPUs of one type");
  }
  warn_if("CUDA driver", pa.device.driver_version, pb.device.driver_version);
  warn_if("CUDA compiler", pa.cuda_compiler, pb.cuda_compiler);
  warn_if("compiler flags", pa.flags, pb.flags);
  if (pa.digests != pb.digests) {
    result.warnings.push_back(
        fmt::format("whether the sources differ is not known: the digests are {} in A, {} in B",
                    word_of(pa.digests), word_of(pb.digests)));
  } else {
    if (pa.harness_digest != pb.harness_digest) {
      result.warnings.emplace_back("the sources of the harness differ");
    }
    for (const std::string& variant : changed) {
      result.warnings.push_back("the sources of " + variant + " differ");
    }
  }
  for (const auto& [file, which] : {std::pair(&a, "A"), std::pair(&b, "B")}) {
    for (const GroupResult& group : file->groups) {
      if (group.invalid.empty()) continue;
      result.warnings.push_back(
          fmt::format("{} is left out: not valid in {} ({}: {})", group.key.to_string(), which,
                      word_of(group.invalid.front().kind), group.invalid.front().reason));
    }
  }
  if (seeds_differ) result.warnings.emplace_back("the seeds of the inputs differ");
  if (too_few > 0) {
    result.warnings.push_back(fmt::format(
        "{} of {} cases have too few rounds to be told apart, however much they differ: {} cases "
        "together need {} rounds on each side (amasia run --min-rounds, or fewer cases)",
        too_few, common.size(), common.size(), enough));
  }
  if (result.rows.empty()) result.warnings.emplace_back("the files have no case in common");
  return result;
}

Table to_table(const FileComparison& comparison) {
  Table table;
  table.columns = {{"app", "app"},
                   {"size", "size"},
                   {"cache", "cache"},
                   {"launch", "launch"},
                   {"variant", "variant"},
                   {"role", "role"},
                   {"a_config", "config in A"},
                   {"b_config", "config in B"},
                   {"a_ms", "A", "ms"},
                   {"b_ms", "B", "ms"},
                   {"speedup", "speed-up of B", "", true},
                   {"coverage", "coverage"},
                   {"verdict", "B is"}};
  for (const FileComparisonRow& row : comparison.rows) {
    table.add({row.key.app, row.key.size.to_string(), word_cell(row.key.cache),
               word_cell(row.key.launch), row.variant, word_cell(row.role), row.a_config,
               row.b_config, row.a_ms, row.b_ms,
               Estimate{row.speedup.ratio, row.speedup.low, row.speedup.high}, row.speedup.coverage,
               word_cell(row.verdict)});
  }
  return table;
}

std::string to_markdown(const FileComparison& comparison) {
  std::string text = to_markdown(to_table(comparison));
  const auto list = [&](const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    text += fmt::format("\n{}\n\n", title);
    for (const std::string& line : lines) text += "- " + line + '\n';
  };
  list("Warnings:", comparison.warnings);
  list("Timed in A only:", comparison.only_in_a);
  list("Timed in B only:", comparison.only_in_b);
  return text;
}

std::string to_csv(const FileComparison& comparison) { return to_csv(to_table(comparison)); }

nlohmann::ordered_json to_json(const FileComparison& comparison) {
  return {{"schema", "amasia-comparison"},         {"version", 1},
          {"rows", to_json(to_table(comparison))}, {"only_in_a", comparison.only_in_a},
          {"only_in_b", comparison.only_in_b},     {"warnings", comparison.warnings}};
}

}  // namespace amasia
