#include "harness/plan/plan.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/app.hpp"
#include "harness/errors.hpp"
#include "harness/registry.hpp"
#include "harness/results/codec.hpp"
#include "harness/results/fields.hpp"
#include "harness/results/provenance.hpp"

namespace amasia {

// Every field of a plan as it travels to the child process.

template <>
struct Fields<Effort> {
  static constexpr auto list =
      fields(field("min_rounds", &Effort::min_rounds), field("max_rounds", &Effort::max_rounds),
             field("seconds", &Effort::seconds), field("patience", &Effort::patience),
             field("precision", &Effort::precision), field("confidence", &Effort::confidence),
             field("energy", &Effort::energy), field("verify_only", &Effort::verify_only),
             field("count_only", &Effort::count_only));
};

template <>
struct Fields<PointEffort> {
  static constexpr auto list = fields(
      field("min_samples", &PointEffort::min_samples),
      field("max_samples", &PointEffort::max_samples), field("seconds", &PointEffort::seconds),
      field("precision", &PointEffort::precision), field("confidence", &PointEffort::confidence));
};

template <>
struct Fields<ScheduleWinner> {
  static constexpr auto list =
      fields(field("schedule", &ScheduleWinner::schedule), field("config", &ScheduleWinner::config),
             field("source", &ScheduleWinner::source));
};

template <>
struct Fields<PlannedRow> {
  static constexpr auto list = fields(
      field("variant", &PlannedRow::variant), field("role", &PlannedRow::role),
      field("repeat", &PlannedRow::repeat), field("config", &PlannedRow::config),
      field("config_source", &PlannedRow::config_source), field("excluded", &PlannedRow::excluded),
      field("schedule", &PlannedRow::schedule), field("matches", &PlannedRow::matches),
      field("by_schedule", &PlannedRow::by_schedule));
};

template <>
struct Fields<PlannedGroup> {
  static constexpr auto list =
      fields(field("key", &PlannedGroup::key), field("preset", &PlannedGroup::preset),
             field("seed", &PlannedGroup::seed), field("effort", &PlannedGroup::effort),
             field("rows", &PlannedGroup::rows));
};

template <>
struct Fields<PlannedMicrobenchmark> {
  static constexpr auto list = fields(
      field("name", &PlannedMicrobenchmark::name), field("scope", &PlannedMicrobenchmark::scope),
      field("effort", &PlannedMicrobenchmark::effort), field("only", &PlannedMicrobenchmark::only),
      field("asked", &PlannedMicrobenchmark::asked),
      field("excluded", &PlannedMicrobenchmark::excluded));
};

namespace {

bool contains(const std::vector<Role>& list, Role item) {
  return std::ranges::find(list, item) != list.end();
}

/// The rows of a comparison, kind by kind.
class ComparisonRows {
 public:
  ComparisonRows(const GroupKey& key, const std::vector<const Variant*>& selected,
                 const std::vector<Role>& roles, const TuningTable& tuning,
                 const std::string& device)
      : key_(key), selected_(selected), roles_(roles), tuning_(tuning), device_(device) {}

  std::vector<PlannedRow> rows() {
    for (const Variant* v : variants_of(key_.app)) {
      const bool is_baseline = v->strategy == "baseline";
      const bool is_selected = std::ranges::find(selected_, v) != selected_.end();
      if (is_baseline) baseline_ = v;
      if (is_baseline || is_selected) add(*v, is_baseline);
    }
    if (contains(roles_, Role::matched)) add_counterparts();
    const std::vector<Schedule> schedules = find_app(key_.app)->schedules();
    if (baseline_ == nullptr || schedules.empty()) return std::move(rows_);
    if (contains(roles_, Role::matched) && contains(roles_, Role::best)) {
      for (const Variant* v : strategies_) add_matched(*baseline_, *v);
      for (const Variant* v : strategies_) add_matched(*v, *baseline_);
    }
    for (const Schedule& s : schedules) {
      if (!contains(roles_, Role::cross)) break;
      add_cross(*baseline_, s.name, 0);
      add_cross(*baseline_, s.name, 1);
      for (const Variant* v : strategies_) add_cross(*v, s.name, 0);
    }
    return std::move(rows_);
  }

 private:
  TunedCase tuned_case(const Variant& v) const {
    return {device_, v.name(), key_.size, key_.cache, key_.launch, source_digest(v.name())};
  }

  PlannedRow best(const Variant& v, Role role) const {
    PlannedRow row{v.name(), role};
    const auto choice = tuning_.choose(tuned_case(v));
    row.config = choice ? choice->config : "";
    row.config_source = choice ? choice->source : "built-in default";
    if (v.user_kernel) {  // there is one config, and nothing to tune
      row.config = v.configs.front().info.name;
      row.config_source = v.user_kernel->place.empty() ? "as loaded" : v.user_kernel->place;
      row.excluded = v.user_kernel->broken;
    }
    return row;
  }

  /// At iso and at best, the baseline twice; a comparator once.
  void add(const Variant& v, bool is_baseline) {
    if (v.comparator) {
      const bool only_cross = roles_ == std::vector<Role>{Role::cross};
      if (!only_cross) rows_.push_back(best(v, Role::comparator));
      return;
    }
    if (!is_baseline) strategies_.push_back(&v);
    for (const Role role : {Role::iso, Role::best}) {
      if (!contains(roles_, role)) continue;
      PlannedRow row = best(v, role);
      if (role == Role::iso) {
        row.config = v.configs.front().info.name;
        row.config_source = "the original geometry";
      }
      rows_.push_back(row);
      if (!is_baseline) continue;
      row.repeat = 1;
      rows_.push_back(row);
    }
  }

  void add_counterparts() {
    for (const Variant* v : selected_) {
      if (v->app != key_.app || v->spells.empty()) continue;
      PlannedRow row{key_.app + "/" + v->spells, Role::counterpart};
      row.matches = v->name();
      rows_.push_back(std::move(row));
    }
  }

  void add_matched(const Variant& v, const Variant& matches) {
    PlannedRow row{v.name(), Role::matched};
    row.matches = matches.name();
    row.by_schedule = tuning_.choose_by_schedule(tuned_case(v), v);
    rows_.push_back(std::move(row));
  }

  void add_cross(const Variant& v, std::string_view schedule, int repeat) {
    PlannedRow row{v.name(), Role::cross, repeat};
    row.schedule = schedule;
    row.by_schedule = tuning_.choose_by_schedule(tuned_case(v), v);
    rows_.push_back(std::move(row));
  }

  const GroupKey& key_;
  const std::vector<const Variant*>& selected_;
  const std::vector<Role>& roles_;
  const TuningTable& tuning_;
  const std::string& device_;
  const Variant* baseline_ = nullptr;
  std::vector<const Variant*> strategies_{};  // beside the baseline
  std::vector<PlannedRow> rows_{};
};

}  // namespace

std::vector<PlannedRow> comparison_rows(const GroupKey& key,
                                        const std::vector<const Variant*>& selected,
                                        const std::vector<Role>& roles, const TuningTable& tuning,
                                        const std::string& device) {
  return ComparisonRows(key, selected, roles, tuning, device).rows();
}

std::vector<PlannedRow> candidate_rows(const std::vector<const Variant*>& selected) {
  std::vector<PlannedRow> rows;
  for (const Variant* v : selected) {
    for (const Config& c : v->configs) {
      rows.push_back({v->name(), Role::candidate, 0, c.info.name, "candidate"});
    }
  }
  return rows;
}

Json to_json(const PlannedGroup& plan) { return written(plan); }

PlannedGroup planned_group_from_json(const Json& json) {
  PlannedGroup plan;
  read(At(json), any_value, plan);
  const App* app = find_app(plan.key.app);
  if (app == nullptr) throw UsageError("app '" + plan.key.app + "' is not part of this program");
  const auto& values = plan.key.size.values();
  plan.key.size = Parameters(app->parameters(), {values.begin(), values.end()});
  return plan;
}

double expected_seconds(const PlannedGroup& g) {
  constexpr double start_up = 2;  // context, inputs, reference
  constexpr double verification = 0.1;
  constexpr double profiler_passes =
      10;  // of a process each: what can be counted at a time is little
  const double rows = static_cast<double>(g.rows.size());
  if (g.effort.count_only) return profiler_passes * (start_up + 2 * rows * verification);
  return start_up + 2 * rows * verification + (g.effort.verify_only ? 0 : g.effort.seconds / 2) +
         (g.effort.energy ? rows : 0);
}

std::vector<Point> planned_points(const PlannedMicrobenchmark& plan, const Device& device) {
  const Microbenchmark* m = find_microbenchmark(plan.name);
  if (m == nullptr) {
    throw UsageError("microbenchmark '" + plan.name + "' is not part of this program");
  }
  std::vector<Point> points;
  if (plan.asked.empty()) points = m->points(device, plan.scope);
  for (const Coordinates& traits : plan.asked) {
    if (!m->asked) throw UsageError("microbenchmark '" + m->name + "' takes no --traits");
    for (Point& p : m->asked(device, traits)) points.push_back(std::move(p));
  }
  check_points(*m, points);
  if (plan.only.empty()) return points;
  std::erase_if(points, [&](const Point& p) {
    return std::ranges::none_of(plan.only, [&](const Coordinates& wanted) {
      return std::ranges::all_of(
          wanted, [&](const auto& pair) { return value_of(p.at, pair.first) == pair.second; });
    });
  });
  return points;
}

Json to_json(const PlannedMicrobenchmark& plan) { return written(plan); }

PlannedMicrobenchmark planned_microbenchmark_from_json(const Json& json) {
  PlannedMicrobenchmark plan;
  read(At(json), any_value, plan);
  return plan;
}

double expected_seconds(const PlannedMicrobenchmark& plan, std::size_t points) {
  constexpr double start_up = 1;  // context, module load
  return start_up + static_cast<double>(points) * plan.effort.seconds / 4;
}

Effort effort_of(const EffortAsked& asked, Effort own) {
  own.max_rounds = asked.max_rounds.value_or(own.max_rounds);
  own.min_rounds = asked.min_rounds.value_or(std::min(own.min_rounds, own.max_rounds));
  if (own.min_rounds > own.max_rounds) {
    throw UsageError(fmt::format("--min-rounds {} is more than --max-rounds {}{}", own.min_rounds,
                                 own.max_rounds, asked.max_rounds ? "" : ", the default here"));
  }
  own.seconds = asked.seconds.value_or(own.seconds);
  if (asked.seconds) own.patience = 1;  // a cap that was asked for is one
  own.precision = asked.precision.value_or(own.precision);
  own.confidence = asked.confidence.value_or(own.confidence);
  own.energy = own.energy || asked.energy;
  return own;
}

std::map<std::string, std::string> settings_of(const Effort& effort) {
  return {{"min_rounds", std::to_string(effort.min_rounds)},
          {"max_rounds", std::to_string(effort.max_rounds)},
          {"seconds", fmt::format("{}", effort.seconds)},
          {"precision", fmt::format("{}", effort.precision)},
          {"confidence", fmt::format("{}", effort.confidence)},
          {"cold_method", "flush: 4 x L2 read before each run"}};
}

}  // namespace amasia
