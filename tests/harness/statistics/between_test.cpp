#include "harness/statistics/between.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

#include "harness/statistics/quantiles.hpp"
#include "harness/text/json_file.hpp"

namespace amasia {
namespace {

using Row = std::vector<SessionValue>;

/// What the analysis in Python computes of the same sessions (tests/plots/test_between.py holds the
/// file to it).
const nlohmann::ordered_json& cases() {
  static const auto read = read_json_file(AMASIA_SOURCE_DIR "/tests/plots/between_cases.json");
  return read;
}

Row row_of(const nlohmann::ordered_json& sessions) {
  Row row;
  for (const auto& s : sessions) {
    row.push_back({s[0].get<std::string>(), s[1].get<double>(), s[2].get<double>()});
  }
  return row;
}

void expect_near(double found, double expected) {
  EXPECT_NEAR(found, expected, 1e-9 * std::max(1.0, std::abs(expected)));
}

TEST(Between, QuantilesAreThoseOfPython) {
  for (const auto& q : cases()["quantiles"]["normal"]) {
    expect_near(normal_quantile(q[0].get<double>()), q[1].get<double>());
  }
  for (const auto& q : cases()["quantiles"]["student"]) {
    expect_near(student_quantile(q[0].get<double>(), q[1].get<double>()), q[2].get<double>());
  }
  for (const auto& e : cases()["log_error"]) {
    expect_near(log_error(e[0].get<double>(), e[1].get<double>(), e[2].get<double>()),
                e[3].get<double>());
  }
}

TEST(Between, QuantilesOfTheTables) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959964, 1e-6);
  EXPECT_NEAR(student_quantile(0.95, 1), 6.313752, 1e-6);
  EXPECT_NEAR(student_quantile(0.05, 3), -2.353363, 1e-6);
  EXPECT_NEAR(student_two_sided(2.353363, 3), 0.1, 1e-6);
  EXPECT_THROW(normal_quantile(1), std::invalid_argument);
  EXPECT_THROW(student_quantile(0.9, 0), std::invalid_argument);
}

TEST(Between, PredictionsAreThoseOfPython) {
  for (const auto& kind : cases()["kinds"]) {
    SCOPED_TRACE(kind["name"].get<std::string>());
    std::vector<Row> rows;
    for (const auto& sessions : kind["rows"]) rows.push_back(row_of(sessions));
    Pool pool(rows);
    if (kind["of others"].get<bool>()) pool = pool.of_others();
    const Components found = pool.components();
    const auto& expected = kind["components"];
    expect_near(found.gpu_variance, expected[0].get<double>());
    expect_near(found.session_variance, expected[1].get<double>());
    EXPECT_EQ(found.gpu_rows, expected[2].get<int>());
    EXPECT_EQ(found.session_rows, expected[3].get<int>());
    expect_near(found.gpu_degrees, expected[4].get<double>());
    expect_near(found.session_degrees, expected[5].get<double>());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const Components others = pool.without(rows[r]).components();
      const std::optional<Prediction> both[] = {
          predict(rows[r], others, 0.9), predict_on(rows[r].front().gpu, rows[r], others, 0.9)};
      for (std::size_t i = 0; i < 2; ++i) {
        const auto& wanted = kind["predictions"][r][i];
        ASSERT_EQ(both[i].has_value(), !wanted.is_null()) << r << ' ' << i;
        if (!both[i]) continue;
        const Prediction& p = *both[i];
        const double values[] = {p.value, p.low, p.high, p.degrees, 1.0 * p.sessions, 1.0 * p.gpus};
        for (std::size_t v = 0; v < std::size(values); ++v) {
          expect_near(values[v], wanted[v].get<double>());
        }
      }
    }
    ASSERT_EQ(kind["differences"].size(), rows.size() - 1);
    for (std::size_t r = 0; r + 1 < rows.size(); ++r) {  // of each row and the next
      const auto& wanted = kind["differences"][r];
      const auto d = difference(rows[r], pool.without(rows[r]).components(), rows[r + 1],
                                pool.without(rows[r + 1]).components());
      ASSERT_EQ(d.has_value(), !wanted.is_null()) << r;
      if (!d) continue;
      expect_near(d->value, wanted[0].get<double>());
      expect_near(d->deviation, wanted[1].get<double>());
      expect_near(d->degrees, wanted[2].get<double>());
    }
  }
}

TEST(Between, NewSessionsOnNewGpusFallInsideAsOftenAsSaid) {
  std::mt19937_64 random(20211);
  std::normal_distribution<double> normal;
  constexpr double gpu = 0.004, session = 0.001, error = 0.0005;
  constexpr int pools = 60, kinds = 12;
  int inside = 0, all = 0;
  for (int pool = 0; pool < pools; ++pool) {
    std::vector<Row> rows(kinds);
    for (Row& row : rows) {
      for (const char* name : {"a", "b", "c"}) {
        const double of_gpu = gpu * normal(random);
        for (int s = 0; s < 2; ++s) {
          row.push_back({name, of_gpu + session * normal(random) + error * normal(random), error});
        }
      }
    }
    const Pool found(rows);
    for (const Row& row : rows) {
      const double next = gpu * normal(random) + session * normal(random) + error * normal(random);
      const Prediction p = *predict(row, found.without(row).components(), 0.9);
      inside += std::log(p.low) <= next && next <= std::log(p.high);
      ++all;
    }
  }
  const double share = static_cast<double>(inside) / all;
  EXPECT_GT(share, 0.87);
  EXPECT_LT(share, 0.96);
}

TEST(Between, OneRowThatMovedDoesNotWidenTheOthers) {
  std::vector<Row> rows;
  for (int i = 0; i < 11; ++i) rows.push_back({{"a", 0.001 * (i % 3), 0}, {"b", 0.001, 0}});
  const double before = half_width(*predict({{"a", 0, 0}}, pooled_components(rows), 0.9));
  rows.push_back({{"a", 0, 0}, {"b", 0.5, 0}});
  const Pool with(rows);
  EXPECT_LT(half_width(*predict({{"a", 0, 0}}, with.components(), 0.9)), 3 * before);
  // It has moved itself, and says so.
  const Components others = with.without(rows.back()).components();
  EXPECT_GT(half_width(*predict(rows.back(), others, 0.9)), 0.3);
}

TEST(Between, WithoutTwoGpusNothingIsSaidOfAnother) {
  const Row row{{"a", 0, 0.001}, {"a", 0.002, 0.001}};
  const Components kind = Pool({row}).without(row).components();
  EXPECT_FALSE(predict(row, kind, 0.9));
  EXPECT_TRUE(predict_on("a", row, kind, 0.9));
  EXPECT_FALSE(predict_on("b", row, kind, 0.9));
  EXPECT_EQ(pooled_components({}).gpu_rows, 0);
  EXPECT_THROW(predict({}, kind, 0.9), std::invalid_argument);
  EXPECT_THROW(predict(row, kind, 1), std::invalid_argument);
}

TEST(Between, ARowWithoutOthersStandsForItself) {
  const Row row{{"a", 0, 0}, {"b", 0.01, 0}}, one{{"a", 0, 0.001}};
  const Prediction p = *predict(row, Pool({row}).without(row).components(), 0.9);
  EXPECT_EQ(p.degrees, 1);
  EXPECT_NEAR(std::log(p.high / p.value), student_quantile(0.95, 1) * 0.01 * std::sqrt(0.75),
              1e-12);
  const Components none = Pool({one}).without(one).components();
  EXPECT_FALSE(predict(one, none, 0.9));
  EXPECT_FALSE(predict_on("a", one, none, 0.9));
  EXPECT_FALSE(difference(one, none, one, none));
}

TEST(Between, TwoGpusThatAreAlikeDoNotSayThatAllAre) {
  const std::vector<Row> alike(100, Row{{"a", 0, 0.001}, {"b", 0, 0.001}});
  EXPECT_FALSE(Pool(alike).suffices());
  std::vector<Row> three = alike;
  three.push_back({{"b", 0, 0.001}, {"c", 0, 0.001}});
  EXPECT_TRUE(Pool(three).suffices());
  three.resize(least_pool_rows - 1);
  three.back() = {{"b", 0, 0.001}, {"c", 0, 0.001}};
  EXPECT_FALSE(Pool(three).suffices());
}

TEST(Between, SessionsOfTheirOwnNarrowAQuietRow) {
  std::vector<Row> rows;
  for (int i = 0; i < 8; ++i) rows.push_back({{"a", 0.01 * (i - 4), 0}, {"b", 0, 0}});
  const Components kind = pooled_components(rows);
  const Row one{{"a", 0, 0}}, many{{"a", 0, 0}, {"b", 0, 0}, {"c", 0, 0}, {"d", 0, 0}};
  EXPECT_LT(half_width(*predict(many, kind, 0.9)), half_width(*predict(one, kind, 0.9)) / 2);
}

}  // namespace
}  // namespace amasia
