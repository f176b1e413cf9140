// lud without a device: the schedule's arithmetic, the references, the comparison, what the harness
// asks.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "apps/lud/blocked.hpp"
#include "apps/lud/lud.hpp"
#include "harness/registry.hpp"

namespace amasia::lud {
namespace {

Parameters size(std::int64_t n, const char* input = "random") {
  return Parameters(parameter_specs(), {{"n", std::to_string(n)}, {"input", input}});
}

// ---- blocked.hpp

TEST(Schedule, EveryTileIsUpdatedByEveryEarlierPanelOnce) {
  for (int cluster : {1, 2, 3}) {
    for (std::int64_t n : {1, 127, 128, 129, 500, 1025}) {
      const int tiles = tiles_of(n);
      for (int step = 0; step < tiles; ++step) {
        std::map<std::pair<int, int>, int> updates, panels;
        for (Region region : {Region::panels, Region::strip, Region::rest}) {
          const int blocks = blocks_of(region, tiles, step, cluster);
          EXPECT_EQ(blocks % cluster, 0);
          for (int b = 0; b < blocks; ++b) {
            const TileProduct t = tile_product(region, tiles, step, cluster, b);
            if (!t.inside) continue;
            EXPECT_EQ(t.subtract, region != Region::panels);
            auto& count = region == Region::panels ? panels : updates;
            ++count[{t.c_row / panel_width, t.c_column / panel_width}];
            EXPECT_LT(t.c_row, n);
            EXPECT_LT(t.c_column, n);
          }
        }
        for (int i = step + 1; i < tiles; ++i) {
          EXPECT_EQ((panels[{i, step}]), 1);
          EXPECT_EQ((panels[{step, i}]), 1);
          for (int j = step + 1; j < tiles; ++j) EXPECT_EQ((updates[{i, j}]), 1) << i << ", " << j;
        }
        const int side = tiles - 1 - step;
        EXPECT_EQ(static_cast<int>(updates.size()), side * side);
        EXPECT_EQ(static_cast<int>(panels.size()), 2 * side);
      }
    }
  }
}

TEST(Schedule, TheStripIsWhatTheNextStepNeeds) {
  const int tiles = 6, step = 2;
  for (int b = 0; b < blocks_of(Region::strip, tiles, step, 1); ++b) {
    const TileProduct t = tile_product(Region::strip, tiles, step, 1, b);
    EXPECT_TRUE(t.c_row == 3 * panel_width || t.c_column == 3 * panel_width);
  }
  for (int b = 0; b < blocks_of(Region::rest, tiles, step, 1); ++b) {
    const TileProduct t = tile_product(Region::rest, tiles, step, 1, b);
    EXPECT_GT(t.c_row, 3 * panel_width);
    EXPECT_GT(t.c_column, 3 * panel_width);
  }
}

TEST(Schedule, BlocksOfAClusterShareAnOperand) {
  for (int cluster : {2, 4}) {
    for (Region region : {Region::panels, Region::strip, Region::rest}) {
      const int tiles = 8, step = 1;
      for (int b = 0; b < blocks_of(region, tiles, step, cluster); ++b) {
        const TileProduct first = tile_product(region, tiles, step, cluster, b / cluster * cluster);
        const TileProduct t = tile_product(region, tiles, step, cluster, b);
        EXPECT_EQ(t.shares_a, first.shares_a);
        if (t.shares_a) {
          EXPECT_EQ(t.a_source, first.a_source);
          EXPECT_EQ(t.a_row, first.a_row);
          EXPECT_EQ(t.a_column, first.a_column);
        } else {
          EXPECT_EQ(t.b_source, first.b_source);
          EXPECT_EQ(t.b_row, first.b_row);
          EXPECT_EQ(t.b_column, first.b_column);
        }
      }
    }
  }
}

// ---- references and input

TEST(Reference, AgreesWithTheSecondOne) {
  const App* app = find_app("lud");
  ASSERT_NE(app, nullptr);
  for (const Parameters& p : app->sizes(Preset::smoke)) {
    const Verdict v = app->check_reference(p, 11);
    EXPECT_TRUE(v.passed) << p.to_string() << ": " << v.error << " > " << v.bound;
  }
}

TEST(Input, TheRandomMatrixIsStrictlyDominant) {
  for (std::int64_t n : {1, 2, 17, 63, 64, 65, 300, 1200}) {
    const HostMatrix m = host_matrix(size(n), 3);
    for (std::int64_t i = 0; i < n; ++i) {
      double others = 0;
      for (std::int64_t j = 0; j < n; ++j) others += j == i ? 0 : std::abs(m.elements[i * n + j]);
      EXPECT_GT(std::abs(m.elements[i * n + i]), others) << n << ", row " << i;
    }
    EXPECT_FALSE(objection_to(m).has_value());
  }
}

TEST(Input, RodiniasMatrixIsSymmetricAndAccepted) {
  const HostMatrix m = host_matrix(size(100, "rodinia"), 3);
  EXPECT_EQ(m.elements[0], 10.0f);
  EXPECT_EQ(m.elements[7], m.elements[700]);
  EXPECT_NEAR(m.elements[99], 10 * std::exp(-0.099), 1e-5);
  EXPECT_FALSE(objection_to(m).has_value());
}

TEST(Input, SingularAndUnstableMatricesAreRefused) {
  EXPECT_TRUE(objection_to({2, {1, 1, 1, 1}})->find("zero pivot in row 2") != std::string::npos);
  EXPECT_TRUE(objection_to({2, {0, 1, 1, 0}})->find("zero pivot in row 1") != std::string::npos);
  EXPECT_TRUE(objection_to({1, {0}})->find("zero pivot") != std::string::npos);
  EXPECT_TRUE(objection_to({2, {1e-6f, 1, 1, 1}})->find("grow") != std::string::npos);
}

// ---- the comparison

class Comparison : public testing::Test {
 protected:
  static constexpr std::int64_t n = 150;
  HostMatrix matrix = host_matrix(size(n), 5);
  std::vector<float> good = rounded(reference(matrix));

  static std::vector<float> rounded(const std::vector<double>& lu) {
    return {lu.begin(), lu.end()};
  }
  Verdict judge(const std::vector<float>& lu) const {
    return compare(lu.data(), n, matrix, Normalisation::unit_lower);
  }
};

TEST_F(Comparison, TheRightResultPasses) { EXPECT_TRUE(judge(good).passed); }

TEST_F(Comparison, CroutsNormalisationIsRecognised) {
  std::vector<float> crout = good;
  for (std::int64_t k = 0; k < n; ++k) {
    const float pivot = good[k * n + k];
    for (std::int64_t i = k + 1; i < n; ++i) {
      crout[i * n + k] *= pivot;
      crout[k * n + i] /= pivot;
    }
  }
  EXPECT_EQ(normalisation_of(good.data(), n, matrix), Normalisation::unit_lower);
  EXPECT_EQ(normalisation_of(crout.data(), n, matrix), Normalisation::unit_upper);
  EXPECT_TRUE(compare(crout.data(), n, matrix, Normalisation::unit_upper).passed);
  EXPECT_FALSE(judge(crout).passed);
}

TEST_F(Comparison, WrongResultsFail) {
  EXPECT_FALSE(judge(matrix.elements).passed);  // nothing done
  for (std::size_t i : {std::size_t{0}, std::size_t{n - 1}, good.size() - 1}) {
    std::vector<float> wrong = good;
    wrong[i] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(judge(wrong).passed);
    wrong[i] = good[i] * 1.001f + 0.001f;
    EXPECT_FALSE(judge(wrong).passed);
  }
  std::vector<float> skipped = good;  // the last tile misses its last update by a panel of 16
  for (std::int64_t i = 144; i < n; ++i) {
    for (std::int64_t j = 128; j < 144; ++j) {
      for (int k = 112; k < 128; ++k) skipped[i * n + j] += good[i * n + k] * good[k * n + j];
    }
  }
  const Verdict v = judge(skipped);
  EXPECT_FALSE(v.passed);
  EXPECT_EQ(v.first_mismatches.size(), 5u);
}

// ---- what the harness asks

TEST(App, WorkAndBytes) {
  const App* app = find_app("lud");
  ASSERT_NE(app, nullptr);
  EXPECT_EQ(app->work(size(2)).operations, 1 + 2);  // one division, one update
  EXPECT_NEAR(app->work(size(8192)).operations / (2.0 / 3 * 8192. * 8192 * 8192), 1, 1e-3);
  EXPECT_EQ(app->device_bytes(size(33)), 2 * 33 * 64 * 4 + 2 * 128 * 128 * 4);
  EXPECT_THROW(size(0), UsageError);
  EXPECT_THROW(size((std::int64_t{1} << 20) + 1), UsageError);
}

}  // namespace
}  // namespace amasia::lud
