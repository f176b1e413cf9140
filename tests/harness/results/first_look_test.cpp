// A first look at nw that once said "not resolved" of everything, tests/plots/first_look_nw.json.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "harness/results/comparison.hpp"
#include "harness/statistics/interval_rule.hpp"
#include "harness/text/json_file.hpp"

namespace amasia {
namespace {

std::vector<Sample> timed_samples(const nlohmann::ordered_json& columns) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < columns["round"].size(); ++i) {
    Sample& s = samples.emplace_back();
    s.round = columns["round"][i].get<int>();
    s.time_ms = columns["time_ms"][i].get<double>();
  }
  return samples;
}

TEST(CompareRows, WhatEveryRoundShowsIsClaimed) {
  const nlohmann::ordered_json nw =
      read_json_file(AMASIA_SOURCE_DIR "/tests/plots/first_look_nw.json");
  std::vector<Row> rows;
  for (const nlohmann::ordered_json& r : nw["rows"]) {
    Row& row = rows.emplace_back();
    row.variant = r["variant"].get<std::string>();
    row.role = *find_word<Role>(r["role"].get<std::string>());
    row.repeat = r["repeat"].get<int>();
    row.schedule = r.value("schedule", "");
    row.status = RowStatus::ok;
    row.samples = timed_samples(r["samples"]);
    if (r.contains("repeat_samples")) row.repeat_samples = timed_samples(r["repeat_samples"]);
  }
  const auto claims = [&](IntervalRule rule) {
    std::map<std::string, std::string> found;
    for (const Comparison& c : compare_rows(rows, nw["confidence"].get<double>(), rule)) {
      found[c.variant + " " + std::string(word_of(c.role)) + (c.control ? " control" : "")] =
          word_of(c.claim);
    }
    return found;
  };
  EXPECT_EQ(claims(newest_rule), (nw["claims"].get<std::map<std::string, std::string>>()));
  EXPECT_EQ(claims(IntervalRule::widened)["nw/tma best"], "not resolved");
}

}  // namespace
}  // namespace amasia
