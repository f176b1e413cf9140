#include "harness/results/sessions.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "harness/results/claim.hpp"
#include "harness/results/comparison.hpp"
#include "harness/statistics/ranks.hpp"
#include "harness/statistics/stopping_rule.hpp"
#include "harness/words.hpp"

namespace amasia {
namespace {

std::string identity_of(const ResultFile& file, const GroupResult& group, const Row& row) {
  const Provenance& from = file.provenance;
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", from.device.name, group.key.to_string(),
                     row.variant, word_of(row.role), row.repeat, row.config, row.schedule,
                     code_of(from, row));
}

/// By its rows, and the role of the comparison; "" where they are not in the group.
std::string identity_of(const ResultFile& file, const GroupResult& group,
                        const Comparison& comparison) {
  const auto pair = rows_of(group.rows, comparison);
  if (!pair) return "";
  return fmt::format("{}||{}||{}", word_of(comparison.role), identity_of(file, group, *pair->row),
                     identity_of(file, group, *pair->reference));
}

std::string identity_of(const ResultFile& file, const MicrobenchmarkResult& result,
                        const MicrobenchmarkRow& row) {
  return fmt::format("{}|{}|{}|{}|{}", file.provenance.device.name, result.name,
                     result.source_digest, to_string(row.at), row.quantity);
}

bool is_tensor(Work::Kind kind) { return kind != Work::Kind::fp32 && kind != Work::Kind::int32; }

/// What takes the place of a pool with too few rows or GPUs (pool_of()).
std::string wider(const std::string& pool) {
  const auto kind = find_word<Work::Kind>(std::string_view(pool).substr(pool.rfind(' ') + 1));
  return kind && is_tensor(*kind) ? "all apps on tensor cores" : "all apps";
}

std::string on_model(const std::string& gpu_model, const std::string& pool) {
  return gpu_model + '|' + pool;
}

const Sessions::Values no_sessions{};

bool is_valid(const GroupResult& group) { return group.invalid.empty(); }
bool is_valid(const MicrobenchmarkResult& result) { return !invalidity_in(result); }

/// Of all variants in the group, each with its code.
std::set<std::string> variants_in(const GroupResult& group) {
  std::set<std::string> variants;
  for (const Row& row : group.rows) variants.insert(row.variant + ' ' + row.source_digest);
  return variants;
}

/// Whether a session of a case has some of the variants of another, and no others.
bool is_part_of(const GroupResult& group, const GroupResult& other) {
  const std::set<std::string> mine = variants_in(group), theirs = variants_in(other);
  return mine.size() < theirs.size() &&
         std::includes(theirs.begin(), theirs.end(), mine.begin(), mine.end());
}
bool is_part_of(const MicrobenchmarkResult&, const MicrobenchmarkResult&) { return false; }

/// Whether a session of the same code has more rounds than another that ended before the least.
bool can_say_more(const GroupResult& group, const GroupResult& other) {
  return other.rounds < least_rounds && group.rounds > other.rounds &&
         variants_in(group) == variants_in(other);
}
bool can_say_more(const MicrobenchmarkResult&, const MicrobenchmarkResult&) { return false; }

/// The earliest valid session of each, or the earliest where none is valid; a later one if it has
/// more variants, or the rounds that the earlier lacks.
template <class Results, class Name>
auto first_of_each(const Results& results, const Name& name) {
  std::vector<const typename Results::value_type*> first;
  std::map<std::string, std::size_t> place;
  const auto rank = [](const auto& result) {
    return std::pair(!is_valid(result), result.session.value_or(0));
  };
  for (const auto& result : results) {
    const auto [at, is_new] = place.emplace(name(result), first.size());
    if (is_new) {
      first.push_back(&result);
      continue;
    }
    const auto*& shown = first[at->second];
    const bool is_valid_alike = is_valid(result) == is_valid(*shown);
    if (is_valid_alike && (is_part_of(result, *shown) || can_say_more(*shown, result))) continue;
    if (rank(result) < rank(*shown) ||
        (is_valid_alike && (is_part_of(*shown, result) || can_say_more(result, *shown)))) {
      shown = &result;
    }
  }
  return first;
}

}  // namespace

std::string code_of(const Provenance& provenance, const Row& row) {
  if (!row.source_digest.empty()) return row.source_digest;
  const auto found = provenance.sources.find(row.variant);
  return found == provenance.sources.end() ? "" : found->second;
}

SessionRecord session_of(const Provenance& provenance, const std::optional<int>& session) {
  if (session && *session < static_cast<int>(provenance.sessions.size())) {
    SessionRecord record = provenance.sessions[static_cast<std::size_t>(*session)];
    if (record.compiler.empty()) record.compiler = provenance.compiler;
    if (record.flags.empty()) record.flags = provenance.flags;
    return record;
  }
  return {provenance.date_utc,
          provenance.commit,
          provenance.dirty,
          provenance.compiler,
          provenance.flags,
          provenance.device.uuid_hash,
          0,
          provenance.device_state};
}

namespace {

template <class Result>
std::string gpu_of_result(const Provenance& provenance, const Result& result) {
  return result.uuid_hash.empty() ? session_of(provenance, result.session).uuid_hash
                                  : result.uuid_hash;
}

}  // namespace

std::string gpu_of(const Provenance& provenance, const GroupResult& group) {
  return gpu_of_result(provenance, group);
}
std::string gpu_of(const Provenance& provenance, const MicrobenchmarkResult& result) {
  return gpu_of_result(provenance, result);
}

std::string pool_of(const GroupResult& group) {
  const Work::Kind kind = group.work.kind;
  return is_tensor(kind) ? fmt::format("{} {}", group.key.app, word_of(kind)) : group.key.app;
}

std::vector<const GroupResult*> shown_groups(const ResultFile& file) {
  return first_of_each(file.groups, [](const GroupResult& g) { return g.key.to_string(); });
}

std::vector<const MicrobenchmarkResult*> shown_microbenchmarks(const ResultFile& file) {
  return first_of_each(file.microbenchmarks, [](const MicrobenchmarkResult& m) { return m.name; });
}

void Sessions::Quantity::add(const std::string& identity, const ResultFile& file,
                             const std::string& pool_name, const std::optional<int>& session,
                             const SessionValue& value) {
  // A session that stands in two files is one: its GPU and the second in which it began tell it
  // from others.
  const std::string date = session_of(file.provenance, session).date_utc;
  if (!known.insert(fmt::format("{}|{}|{}", identity, value.gpu, date)).second) return;
  Repeated& row = rows[identity];
  row.gpu_model = file.provenance.device.name;
  row.pool = pool_name;
  row.values.push_back(value);
}

void Sessions::Quantity::learn_from(const Quantity& others) {
  for (const auto& [identity, row] : others.rows) {
    std::string name = identity;
    while (rows.contains(name)) name += "|of another file";
    rows[name] = row;
  }
}

void Sessions::Quantity::pool() {
  by_name.clear();
  std::map<std::string, std::vector<Values>> pools;
  for (const auto& [identity, row] : rows) {
    for (const std::string& name : {row.pool, wider(row.pool)}) {
      pools[on_model(row.gpu_model, name)].push_back(row.values);
    }
  }
  for (const auto& [name, of_pool] : pools) by_name[name] = Pool(of_pool);
}

Components Sessions::Quantity::components(const std::string& gpu_model,
                                          const std::string& pool_name, const Values& but) const {
  const auto own = by_name.find(on_model(gpu_model, pool_name));
  if (own != by_name.end() && own->second.suffices()) {
    return own->second.without(but).components();
  }
  const auto all = by_name.find(on_model(gpu_model, wider(pool_name)));
  if (all == by_name.end()) return {};
  return all->second.of_others().without(but).components();
}

const Sessions::Values& Sessions::Quantity::of(const std::string& identity) const {
  const auto found = rows.find(identity);
  return found == rows.end() ? no_sessions : found->second.values;
}

std::optional<Prediction> Sessions::Quantity::predicted(const std::string& identity) const {
  const auto found = rows.find(identity);
  if (found == rows.end()) return std::nullopt;
  const Repeated& row = found->second;
  return predict(row.values, components(row.gpu_model, row.pool, row.values),
                 prediction_confidence);
}

namespace {

/// What is visited: the file's valid groups, rows with a time and the session of each.
template <class Visit>
void for_each_time(const ResultFile& file, const Visit& visit) {
  for (const GroupResult& group : file.groups) {
    if (!group.invalid.empty()) continue;
    const std::string gpu = gpu_of(file.provenance, group);
    for (const Row& row : group.rows) {
      if (!row.time_ms || row.status != RowStatus::ok) continue;
      const MedianInterval& t = *row.time_ms;
      visit(group, row,
            SessionValue{gpu, std::log(t.median), log_error(t.low, t.high, t.coverage)});
    }
  }
}

}  // namespace

void Sessions::learn_levelled(const ResultFile& file) {
  const auto mean_of = [&](const GroupResult& group, const Row& row) -> std::optional<double> {
    const Values& there = of(file, group, row);
    if (there.empty()) return std::nullopt;
    double sum = 0;
    for (const SessionValue& session : there) sum += session.value;
    return sum / static_cast<double>(there.size());
  };
  std::map<std::string, std::vector<double>> differences;  // by app
  for_each_time(file, [&](const GroupResult& group, const Row& row, const SessionValue& value) {
    if (const auto mean = mean_of(group, row)) {
      differences[group.key.app].push_back(value.value - *mean);
    }
  });
  std::map<std::string, double> level;
  for (auto& [app, of_app] : differences) {
    if (static_cast<int>(of_app.size()) >= least_pool_rows) level[app] = median_of(of_app);
  }
  for_each_time(file, [&](const GroupResult& group, const Row& row, SessionValue value) {
    const auto found = level.find(group.key.app);
    if (found == level.end() || of(file, group, row).empty()) return;
    value.value -= found->second;
    times_.add(identity_of(file, group, row), file, pool_of(group), group.session, value);
  });
  times_.pool();
}

void Sessions::add(const std::vector<const ResultFile*>& files) {
  for (const ResultFile* file : files) {
    for_each_time(*file, [&](const GroupResult& group, const Row& row, const SessionValue& value) {
      times_.add(identity_of(*file, group, row), *file, pool_of(group), group.session, value);
    });
    for (const GroupResult& group : file->groups) {
      if (!group.invalid.empty()) continue;
      const std::string gpu = gpu_of(file->provenance, group);
      for (const Comparison& c : group.comparisons) {
        const std::string identity = identity_of(*file, group, c);
        const RatioInterval& r = c.speedup;
        if (!identity.empty()) {
          ratios_.add(identity, *file, pool_of(group), group.session,
                      {gpu, std::log(r.ratio), log_error(r.low, r.high, r.coverage)});
        }
      }
    }
    for (const MicrobenchmarkResult& m : file->microbenchmarks) {
      if (!is_valid(m)) continue;
      const std::string gpu = gpu_of(file->provenance, m);
      for (const MicrobenchmarkRow& row : m.rows) {
        if (!row.value || !(row.value->median > 0)) continue;
        const MedianInterval& v = *row.value;
        points_.add(identity_of(*file, m, row), *file, m.name, m.session,
                    {gpu, std::log(v.median), log_error(v.low, v.high, v.coverage)});
      }
    }
  }
  times_.pool();
  ratios_.pool();
  points_.pool();
}

void Sessions::learn_from(const Sessions& others) {
  times_.learn_from(others.times_);
  ratios_.learn_from(others.ratios_);
  points_.learn_from(others.points_);
  times_.pool();
  ratios_.pool();
  points_.pool();
}

const Sessions::Values& Sessions::of(const ResultFile& file, const GroupResult& group,
                                     const Row& row) const {
  return times_.of(identity_of(file, group, row));
}

const Sessions::Values& Sessions::of(const ResultFile& file, const GroupResult& group,
                                     const Comparison& comparison) const {
  return ratios_.of(identity_of(file, group, comparison));
}

const Sessions::Values& Sessions::of(const ResultFile& file, const MicrobenchmarkResult& result,
                                     const MicrobenchmarkRow& row) const {
  return points_.of(identity_of(file, result, row));
}

std::optional<Prediction> Sessions::predicted(const ResultFile& file, const GroupResult& group,
                                              const Row& row) const {
  return times_.predicted(identity_of(file, group, row));
}

std::optional<Prediction> Sessions::predicted(const ResultFile& file, const GroupResult& group,
                                              const Comparison& comparison) const {
  return ratios_.predicted(identity_of(file, group, comparison));
}

Components Sessions::times_of(const std::string& gpu_model, const std::string& pool,
                              const Values& but) const {
  return times_.components(gpu_model, pool, but);
}

Components Sessions::ratios_of(const std::string& gpu_model, const std::string& pool,
                               const Values& but) const {
  return ratios_.components(gpu_model, pool, but);
}

Components Sessions::points_of(const std::string& gpu_model, const std::string& microbenchmark,
                               const Values& but) const {
  return points_.components(gpu_model, microbenchmark, but);
}

}  // namespace amasia
