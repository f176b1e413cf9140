// What holds for all apps: their two references agree, and what one strategy was given of schedules
// and movements, the others were offered.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "harness/registry.hpp"

namespace amasia {
namespace {

TEST(References, AgreeWithEachOther) {
  for (const App* app : apps()) {
    for (const Parameters& p : app->sizes(Preset::smoke)) {
      const Verdict v = app->check_reference(p, 11);
      EXPECT_TRUE(v.passed) << app->name() << " " << p.to_string() << ": " << v.error << " > "
                            << v.bound;
    }
  }
}

std::set<std::string> names_of_schedules(const App& app) {
  std::set<std::string> names;
  for (const Schedule& s : app.schedules()) names.emplace(s.name);
  return names;
}

TEST(Schedules, HaveNamesOfTheirOwnAndASentence) {
  for (const App* app : apps()) {
    const auto schedules = app->schedules();
    EXPECT_EQ(names_of_schedules(*app).size(), schedules.size()) << app->name();
    if (!schedules.empty()) {
      EXPECT_EQ(schedules.front().name, "iso") << app->name();
    }
    for (const Schedule& s : schedules) {
      EXPECT_EQ(s.name.find_first_of("/ "), std::string_view::npos) << app->name() << " " << s.name;
      EXPECT_GE(s.summary.size(), 10u) << app->name() << " " << s.name;
    }
  }
}

TEST(Schedules, AreRunByEveryStrategyOrDeclinedWithAReason) {
  for (const App* app : apps()) {
    const auto names = names_of_schedules(*app);
    if (names.empty()) continue;
    for (const Variant* v : variants_of(app->name())) {
      if (v->comparator) continue;
      std::set<std::string> run, declined;
      for (const Config& c : v->configs) run.insert(c.info.schedule);
      for (const Declined& d : v->declined) {
        EXPECT_TRUE(declined.insert(d.schedule).second) << v->name() << " " << d.schedule;
        EXPECT_GE(d.reason.size(), 20u) << v->name() << " " << d.schedule;
        EXPECT_EQ(run.count(d.schedule), 0u) << v->name() << " runs and declines " << d.schedule;
      }
      std::set<std::string> answered = run;
      answered.insert(declined.begin(), declined.end());
      EXPECT_EQ(answered, names) << v->name();
    }
  }
}

TEST(Schedules, StandInTheNamesOfTheirConfigs) {
  for (const App* app : apps()) {
    if (app->schedules().empty()) continue;
    for (const Variant* v : variants_of(app->name())) {
      if (v->comparator) continue;
      EXPECT_EQ(v->configs.front().info.schedule, "iso") << v->name();
      for (const Config& c : v->configs) {
        const std::string& name = c.info.name;
        EXPECT_EQ(name.substr(0, name.find('/')), c.info.schedule) << v->name() << " " << name;
      }
    }
  }
}

/// So that a table of configs can be read down a column, one thing has one word.
TEST(Movements, AreDescribedInTheSameWords) {
  const std::set<std::string> words{"stages",         "stage_rows", "stage_bytes", "producer_warps",
                                    "batch",          "slots",      "depth",       "load_bytes",
                                    "rows_in_flight", "l2_ahead"};
  for (const App* app : apps()) {
    if (app->schedules().empty()) continue;
    for (const Variant* v : variants_of(app->name())) {
      for (const Config& c : v->configs) {
        for (const auto& [word, value] : c.info.movement) {
          EXPECT_EQ(words.count(word), 1u) << v->name() << " " << c.info.name << ": " << word;
          EXPECT_GE(value, 0) << v->name() << " " << c.info.name << ": " << word;
        }
      }
    }
  }
}

}  // namespace
}  // namespace amasia
