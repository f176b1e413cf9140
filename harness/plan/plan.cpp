#include "harness/plan/plan.hpp"

#include <algorithm>

#include "harness/app.hpp"
#include "harness/plan/plan_fields.hpp"
#include "harness/registry.hpp"
#include "harness/results/provenance.hpp"
#include "harness/results/read.hpp"
#include "harness/results/written.hpp"

namespace amasia {

namespace {

using Json = nlohmann::ordered_json;

bool contains(const std::vector<Role>& list, Role item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

std::vector<PlannedRow> comparison_rows(const GroupKey& key,
                                        const std::vector<const Variant*>& selected,
                                        const std::vector<Role>& roles, const TuningTable& tuning,
                                        const std::string& device) {
  const std::string& app = key.app;
  const auto tuned_case = [&](const Variant& v) {
    return TunedCase{device, v.name(), key.size, key.cache, key.launch, source_digest(v.name())};
  };
  std::vector<PlannedRow> rows;
  const auto best = [&](const Variant& v, Role role) {
    PlannedRow row{v.name(), role};
    const auto choice = tuning.choose(tuned_case(v));
    row.config = choice ? choice->config : "";
    row.config_source = choice ? choice->source : "built-in default";
    if (v.user_kernel) {  // there is one config, and nothing to tune
      row.config = v.configs.front().info.name;
      row.config_source = v.user_kernel->place.empty() ? "as it was brought" : v.user_kernel->place;
      row.excluded = v.user_kernel->broken;
    }
    return row;
  };
  const auto by_schedule = [&](const Variant& v) {
    return tuning.choose_by_schedule(tuned_case(v), v);
  };
  const auto is_selected = [&](const Variant* v) {
    return std::find(selected.begin(), selected.end(), v) != selected.end();
  };
  const std::vector<Schedule> schedules = find_app(app)->schedules();
  std::vector<const Variant*> strategies;  // beside the baseline
  const Variant* baseline = nullptr;
  for (const Variant* v : variants_of(app)) {
    const bool is_baseline = v->strategy == "baseline";
    if (is_baseline) baseline = v;
    if (!is_baseline && !is_selected(v)) continue;
    if (v->comparator) {
      const bool only_cross = roles == std::vector<Role>{Role::cross};
      if (!only_cross) rows.push_back(best(*v, Role::comparator));
      continue;
    }
    if (!is_baseline) strategies.push_back(v);
    for (const Role role : {Role::iso, Role::best}) {
      if (!contains(roles, role)) continue;
      PlannedRow row = best(*v, role);
      if (role == Role::iso) {
        row.config = v->configs.front().info.name;
        row.config_source = "the original geometry";
      }
      rows.push_back(row);
      if (is_baseline) {
        row.repeat = 1;
        rows.push_back(row);
      }
    }
  }
  if (contains(roles, Role::matched)) {
    for (const Variant* v : selected) {
      if (v->app != app || v->spells.empty()) continue;
      PlannedRow row{app + "/" + v->spells, Role::counterpart};
      row.matches = v->name();
      rows.push_back(std::move(row));
    }
  }
  if (baseline == nullptr || schedules.empty()) return rows;
  if (contains(roles, Role::matched) && contains(roles, Role::best)) {
    const auto add = [&](const Variant& v, const Variant& matches) {
      PlannedRow row{v.name(), Role::matched};
      row.matches = matches.name();
      row.by_schedule = by_schedule(v);
      rows.push_back(std::move(row));
    };
    for (const Variant* v : strategies) add(*baseline, *v);
    for (const Variant* v : strategies) add(*v, *baseline);
  }
  if (contains(roles, Role::cross)) {
    const auto add = [&](const Variant& v, std::string_view schedule, int repeat) {
      PlannedRow row{v.name(), Role::cross, repeat};
      row.schedule = schedule;
      row.by_schedule = by_schedule(v);
      rows.push_back(std::move(row));
    };
    for (const Schedule& s : schedules) {
      add(*baseline, s.name, 0);
      add(*baseline, s.name, 1);
      for (const Variant* v : strategies) add(*v, s.name, 0);
    }
  }
  return rows;
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

Json to_json(const PlannedGroup& plan) { return written(plan, any_value, Place()); }

PlannedGroup planned_group_from_json(const Json& json) {
  PlannedGroup plan;
  read(At(json), any_value, plan);
  const App* app = find_app(plan.key.app);
  if (app == nullptr) throw UsageError("app '" + plan.key.app + "' is not part of this program");
  std::map<std::string, std::string> given;
  for (const auto& [name, value] : plan.key.size.values()) given[name] = value;
  plan.key.size = Parameters(app->parameters(), given);
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
    return std::none_of(plan.only.begin(), plan.only.end(), [&](const Coordinates& wanted) {
      return std::all_of(wanted.begin(), wanted.end(), [&](const auto& pair) {
        return value_of(p.at, pair.first) == pair.second;
      });
    });
  });
  return points;
}

Json to_json(const PlannedMicrobenchmark& plan) { return written(plan, any_value, Place()); }

PlannedMicrobenchmark planned_microbenchmark_from_json(const Json& json) {
  PlannedMicrobenchmark plan;
  read(At(json), any_value, plan);
  return plan;
}

double expected_seconds(const PlannedMicrobenchmark& plan, std::size_t points) {
  constexpr double start_up = 1;  // context, module load
  return start_up + static_cast<double>(points) * plan.effort.seconds / 4;
}

}  // namespace amasia
