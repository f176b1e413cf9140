#include "harness/results/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "harness/results/agreement.hpp"
#include "harness/results/claim.hpp"
#include "harness/results/comparison.hpp"
#include "harness/results/row_name.hpp"
#include "harness/results/sessions.hpp"
#include "harness/statistics/false_discovery.hpp"
#include "harness/statistics/quantiles.hpp"
#include "harness/statistics/ranks.hpp"

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
  for (const GroupResult* shown : shown_groups(file)) {
    const GroupResult& group = *shown;
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

/// What is known of a difference before it is known how many there are.
struct Judged {
  double p = 1;
  double least_p = 0;  // what the clearest difference would have had
  std::optional<Difference> between{};
};

/// A file with its rows by name, and the sessions that are in it alone: what stands in the other
/// file is the other side, also where it is of the same code.
struct Side {
  const ResultFile& file;
  std::vector<std::string> order{};
  std::map<std::string, Timed> rows;
  Sessions sessions;

  explicit Side(const ResultFile& of)
      : file(of), rows(timed_rows(of, order)), sessions(std::vector{&of}) {}

  Sessions::Values values(const Timed& timed) const {
    return sessions.of(file, *timed.group, *timed.row);
  }
};

Judged judge(const Side& a, const Side& b, const std::string& name, const Sessions& all) {
  const Timed &left = a.rows.at(name), &right = b.rows.at(name);
  const auto kind_without = [&](const Side& side, const Sessions::Values& row) {
    return all.times_of(side.file.provenance.device.name, pool_of(*left.group), row);
  };
  Judged judged;
  const Sessions::Values in_a = a.values(left), in_b = b.values(right);
  if (!in_a.empty() && !in_b.empty()) {
    // As they are among all: there the row of A may have further sessions, and that of B stands for
    // itself where it is of the same code.
    const Sessions::Values& a_of_all = all.of(a.file, *left.group, *left.row);
    const bool is_in_both = !a.sessions.of(b.file, *right.group, *right.row).empty();
    const Sessions::Values& b_of_all = is_in_both ? in_b : all.of(b.file, *right.group, *right.row);
    judged.between = difference(in_a, kind_without(a, a_of_all), in_b, kind_without(b, b_of_all));
  }
  if (judged.between) {
    judged.p = p_value(*judged.between);
  } else {
    judged.p = independent_p_value(left.times, right.times);
    judged.least_p =
        least_p_value(static_cast<int>(std::min(left.times.size(), right.times.size())));
  }
  return judged;
}

RatioInterval interval_of(const Judged& judged, const Timed& left, const Timed& right,
                          double confidence) {
  if (!judged.between) return independent_ratio(left.times, right.times, confidence);
  const Difference& d = *judged.between;
  const double half = student_quantile((1 + confidence) / 2, d.degrees) * d.deviation;
  RatioInterval interval;
  interval.ratio = std::exp(d.value);
  interval.low = std::exp(d.value - half);
  interval.high = std::exp(d.value + half);
  interval.coverage = confidence;
  interval.n = static_cast<int>(std::min(left.times.size(), right.times.size()));
  return interval;
}

/// The least number of rounds on each side that may reach this level.
int rounds_for(double level) {
  int n = 1;
  while (least_p_value(n) > level) ++n;
  return n;
}

}  // namespace

FileComparison compare_files(const ResultFile& a, const ResultFile& b, double confidence,
                             const std::vector<const ResultFile*>& more) {
  FileComparison result;
  std::vector<std::string> common;
  const Side side_a(a), side_b(b);
  for (const std::string& name : side_a.order) {
    (side_b.rows.contains(name) ? common : result.only_in_a).push_back(name);
  }
  for (const std::string& name : side_b.order) {
    if (!side_a.rows.contains(name)) result.only_in_b.push_back(name);
  }

  // How far rows move is learnt from the sessions of each file and of those beside them. Rows of
  // the same code on the same kind of machine tell it, too, but not from what all of them differ
  // by: that is what is to be judged.
  const bool alike = !session_disagreement(a.provenance, b.provenance);
  Sessions sessions({});
  if (alike) {
    sessions.add({&a});
    sessions.learn_levelled(b);
  } else {
    sessions.learn_from(side_a.sessions);
  }
  sessions.learn_from(side_b.sessions);
  sessions.add(more);
  result.rows.reserve(common.size());  // what is unchanged points into it
  std::vector<Judged> judged;
  std::vector<double> p_values;
  for (const std::string& name : common) {
    judged.push_back(judge(side_a, side_b, name, sessions));
    p_values.push_back(judged.back().p);
  }
  const double rate = 1 - confidence;
  const Discoveries discoveries = benjamini_hochberg(p_values, rate);

  int too_few = 0;
  std::set<std::string> changed;
  std::map<std::string, std::vector<const FileComparisonRow*>> unchanged;  // by app
  bool seeds_differ = false;
  for (std::size_t i = 0; i < common.size(); ++i) {
    const Timed& left = side_a.rows.at(common[i]);
    const Timed& right = side_b.rows.at(common[i]);
    FileComparisonRow row;
    row.variant = left.row->variant;
    row.role = left.row->role;
    row.key = left.group->key;
    row.a_config = left.row->config;
    row.b_config = right.row->config;
    row.a_ms = median_interval(left.times, confidence).median;
    row.b_ms = median_interval(right.times, confidence).median;
    row.between_runs = judged[i].between.has_value();
    row.speedup = interval_of(judged[i], left, right, 1 - discoveries.level);
    row.speedup.resolved = discoveries.found[i];
    if (discoveries.found[i]) {
      row.verdict = row.speedup.ratio > 1 ? Change::faster : Change::slower;
    } else if (judged[i].least_p > discoveries.level) {
      row.verdict = Change::too_few_rounds;
      ++too_few;
    }
    const bool is_changed = source_of(a, *left.row) != source_of(b, *right.row);
    if (is_changed) changed.insert(row.variant);
    seeds_differ = seeds_differ || left.group->seed != right.group->seed;
    result.rows.push_back(std::move(row));
    if (!is_changed) unchanged[result.rows.back().key.app].push_back(&result.rows.back());
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
  if (pa.harness_digest != pb.harness_digest) {
    result.warnings.emplace_back("the sources of the harness differ");
  }
  for (const std::string& variant : changed) {
    result.warnings.push_back("the sources of " + variant + " differ");
  }
  for (const auto& [file, which] : {std::pair(&a, "A"), std::pair(&b, "B")}) {
    for (const GroupResult& group : file->groups) {
      if (group.invalid.empty()) continue;
      result.warnings.push_back(
          fmt::format("{} is left out: not valid in {} ({}: {})", group.key.to_string(), which,
                      word_of(group.invalid.front().kind), group.invalid.front().reason));
    }
  }
  for (const auto& [app, rows] : unchanged) {
    std::vector<double> ratios;
    std::array<int, 2> moved{};  // faster, slower
    for (const FileComparisonRow* row : rows) {
      ratios.push_back(row->speedup.ratio);
      moved[0] += row->verdict == Change::faster;
      moved[1] += row->verdict == Change::slower;
    }
    const int most = std::max(moved[0], moved[1]), of = static_cast<int>(rows.size());
    if (of < least_pool_rows || 2 * most <= of) continue;
    const bool faster = moved[0] > moved[1];
    const double by = faster ? median_of(ratios) : 1 / median_of(ratios);
    result.warnings.push_back(fmt::format(
        "{} of {} cases of {} whose code is the same became {}, by {} in the median: that is the "
        "machine, its clock or the build, and in every other difference of {}, too",
        most, of, app, faster ? "faster" : "slower",
        by < 1.1 ? fmt::format("{:.1f} %", 100 * (by - 1)) : fmt::format("{:.3g}x", by), app));
  }
  if (seeds_differ) result.warnings.emplace_back("the seeds of the inputs differ");
  if (too_few > 0) {
    const double alone = rate / static_cast<double>(common.size());
    result.warnings.push_back(fmt::format(
        "{} of {} cases have too few rounds to be told apart, however much they differ: {} rounds "
        "on "
        "each side are enough where all of them do, {} where one does (amasia run --min-rounds, or "
        "fewer cases)",
        too_few, common.size(), rounds_for(rate), rounds_for(alone)));
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
                   {"between", "interval knows"},
                   {"verdict", "B is"}};
  for (const FileComparisonRow& row : comparison.rows) {
    table.add({row.key.app, row.key.size.to_string(), word_cell(row.key.cache),
               word_cell(row.key.launch), row.variant, word_cell(row.role), row.a_config,
               row.b_config, row.a_ms, row.b_ms,
               Estimate{row.speedup.ratio, row.speedup.low, row.speedup.high}, row.speedup.coverage,
               std::string(row.between_runs ? "what differs between runs" : "one run each"),
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
