#include "harness/plan/plan.hpp"

#include <algorithm>

#include "harness/app.hpp"
#include "harness/registry.hpp"
#include "harness/results/provenance.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

bool contains(const std::vector<Role>& list, Role item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

Json json_of(const std::vector<Coordinates>& list) {
  Json all = Json::array();
  for (const Coordinates& one : list) {
    Json pairs = Json::object();
    for (const auto& [name, value] : one) pairs[name] = value;
    all.push_back(std::move(pairs));
  }
  return all;
}

std::vector<Coordinates> coordinates_from_json(const Json& all) {
  std::vector<Coordinates> list;
  for (const Json& one : all) {
    Coordinates& pairs = list.emplace_back();
    for (const auto& [name, value] : one.items())
      pairs.emplace_back(name, value.get<std::string>());
  }
  return list;
}

}  // namespace

std::vector<PlannedRow> comparison_rows(const std::string& app, const Parameters& size,
                                        const std::vector<const Variant*>& selected,
                                        const std::vector<Role>& roles, const TuningTable& tuning,
                                        const std::string& device, CacheMode cache,
                                        LaunchMode launch) {
  std::vector<PlannedRow> rows;
  const auto best = [&](const Variant& v, Role role) {
    PlannedRow row{v.name(), role};
    const auto choice =
        tuning.choose(device, v.name(), size, cache, launch, source_digest(v.name()));
    row.config = choice ? choice->config : "";
    row.config_source = choice ? choice->source
                        : tuning.digests_by_path()
                            ? "built-in default (the tuning file is of version 1, with digests by "
                              "path: whether it is of this code is not known)"
                            : "built-in default";
    if (v.brought) {  // there is one config, and nothing to tune
      row.config = v.configs.front().info.name;
      row.config_source = v.brought->place.empty() ? "as it was brought" : v.brought->place;
      row.excluded = v.brought->broken;
    }
    return row;
  };
  const auto by_schedule = [&](const Variant& v) {
    return tuning.choose_by_schedule(device, v, size, cache, launch, source_digest(v.name()));
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

Json to_json(const PlannedGroup& g) {
  Json size = Json::object();
  for (const auto& [name, value] : g.key.size.values()) size[name] = value;
  Json rows = Json::array();
  for (const PlannedRow& r : g.rows) {
    Json by_schedule = Json::array();
    for (const ScheduleWinner& w : r.by_schedule) {
      by_schedule.push_back({{"schedule", w.schedule}, {"config", w.config}, {"source", w.source}});
    }
    rows.push_back({{"variant", r.variant},
                    {"role", word_of(r.role)},
                    {"repeat", r.repeat},
                    {"config", r.config},
                    {"config_source", r.config_source},
                    {"excluded", r.excluded},
                    {"schedule", r.schedule},
                    {"matches", r.matches},
                    {"by_schedule", std::move(by_schedule)}});
  }
  const Effort& e = g.effort;
  return {{"app", g.key.app},
          {"size", size},
          {"cache", word_of(g.key.cache)},
          {"launch", word_of(g.key.launch)},
          {"preset", word_of(g.preset)},
          {"seed", g.seed},
          {"effort",
           {{"min_rounds", e.min_rounds},
            {"max_rounds", e.max_rounds},
            {"seconds", e.seconds},
            {"patience", e.patience},
            {"precision", e.precision},
            {"confidence", e.confidence},
            {"energy", e.energy},
            {"verify_only", e.verify_only},
            {"count_only", e.count_only}}},
          {"rows", rows}};
}

PlannedGroup planned_group_from_json(const Json& j) {
  PlannedGroup g;
  g.key.app = j.at("app").get<std::string>();
  const App* app = find_app(g.key.app);
  if (app == nullptr) throw UsageError("app '" + g.key.app + "' is not part of this program");
  std::map<std::string, std::string> given;
  for (const auto& [name, value] : j.at("size").items()) given[name] = value.get<std::string>();
  g.key.size = Parameters(app->parameters(), given);
  g.key.cache = from_word<CacheMode>(j.at("cache").get<std::string>());
  g.key.launch = from_word<LaunchMode>(j.at("launch").get<std::string>());
  g.preset = find_word<Preset>(j.at("preset").get<std::string>());
  g.seed = j.at("seed").get<std::uint64_t>();
  const Json& e = j.at("effort");
  g.effort.min_rounds = e.at("min_rounds").get<int>();
  g.effort.max_rounds = e.at("max_rounds").get<int>();
  g.effort.seconds = e.at("seconds").get<double>();
  g.effort.patience = e.at("patience").get<double>();
  g.effort.precision = e.at("precision").get<double>();
  g.effort.confidence = e.at("confidence").get<double>();
  g.effort.energy = e.at("energy").get<bool>();
  g.effort.verify_only = e.at("verify_only").get<bool>();
  g.effort.count_only = e.at("count_only").get<bool>();
  for (const Json& r : j.at("rows")) {
    std::vector<ScheduleWinner> by_schedule;
    for (const Json& w : r.at("by_schedule")) {
      by_schedule.push_back({w.at("schedule").get<std::string>(), w.at("config").get<std::string>(),
                             w.at("source").get<std::string>()});
    }
    g.rows.push_back({r.at("variant").get<std::string>(),
                      from_word<Role>(r.at("role").get<std::string>()), r.at("repeat").get<int>(),
                      r.at("config").get<std::string>(), r.at("config_source").get<std::string>(),
                      r.at("excluded").get<std::string>(), r.at("schedule").get<std::string>(),
                      r.at("matches").get<std::string>(), std::move(by_schedule)});
  }
  return g;
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

Json to_json(const PlannedMicrobenchmark& plan) {
  Json excluded = Json::object();
  for (const auto& [point, reason] : plan.excluded) excluded[std::to_string(point)] = reason;
  return {{"name", plan.name},
          {"scope", word_of(plan.scope)},
          {"effort",
           {{"min_samples", plan.effort.min_samples},
            {"max_samples", plan.effort.max_samples},
            {"seconds", plan.effort.seconds},
            {"precision", plan.effort.precision},
            {"confidence", plan.effort.confidence}}},
          {"only", json_of(plan.only)},
          {"asked", json_of(plan.asked)},
          {"excluded", std::move(excluded)}};
}

PlannedMicrobenchmark planned_microbenchmark_from_json(const Json& j) {
  PlannedMicrobenchmark plan;
  plan.name = j.at("name").get<std::string>();
  plan.scope = from_word<Scope>(j.at("scope").get<std::string>());
  const Json& e = j.at("effort");
  plan.effort.min_samples = e.at("min_samples").get<int>();
  plan.effort.max_samples = e.at("max_samples").get<int>();
  plan.effort.seconds = e.at("seconds").get<double>();
  plan.effort.precision = e.at("precision").get<double>();
  plan.effort.confidence = e.at("confidence").get<double>();
  plan.only = coordinates_from_json(j.at("only"));
  plan.asked = coordinates_from_json(j.at("asked"));
  for (const auto& [point, reason] : j.at("excluded").items()) {
    plan.excluded[std::stoi(point)] = reason.get<std::string>();
  }
  return plan;
}

double expected_seconds(const PlannedMicrobenchmark& plan, std::size_t points) {
  constexpr double start_up = 1;  // context, module load
  return start_up + static_cast<double>(points) * plan.effort.seconds / 4;
}

}  // namespace amasia
