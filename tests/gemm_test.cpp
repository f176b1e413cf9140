// gemm without a device: the walk's arithmetic, rounding, the references, the comparison, what the
// harness asks.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "apps/gemm/gemm.hpp"
#include "apps/gemm/geometry.hpp"
#include "harness/registry.hpp"

namespace amasia::gemm {
namespace {

Parameters size(std::int64_t m, std::int64_t n, std::int64_t k, const char* mode = "fp32") {
  return Parameters(parameter_specs(), {{"m", std::to_string(m)},
                                        {"n", std::to_string(n)},
                                        {"k", std::to_string(k)},
                                        {"mode", mode}});
}

// ---- geometry.hpp

TEST(Walk, EveryTileIsComputedOnce) {
  for (int cluster : {1, 2, 4}) {
    for (const auto& [m, n] :
         {std::pair{1, 1}, {129, 257}, {2048, 4096}, {2049, 300}, {5000, 5000}}) {
      const Walk walk(m, n, 100, 128, 256, 32, cluster);
      std::set<std::pair<int, int>> seen;
      for (std::int64_t step = 0; step < walk.steps(); ++step) {
        for (int rank = 0; rank < cluster; ++rank) {
          const TilePlace p = walk.place(step, rank);
          EXPECT_TRUE(seen.emplace(p.row, p.column).second);
          EXPECT_TRUE(p.row >= 0 && p.row < walk.rows && p.column >= 0 && p.column < walk.columns);
        }
      }
      EXPECT_EQ(static_cast<int>(seen.size()), walk.rows * walk.columns);
      EXPECT_GE(walk.rows * 128, m);
      EXPECT_LT(walk.rows * 128, m + 128 * cluster);
      EXPECT_GE(walk.columns * 256, n);
      EXPECT_LT((walk.columns - 1) * 256, n);
    }
  }
}

TEST(Walk, BlocksOfAClusterLieOneBelowTheOther) {
  const Walk walk(10000, 7000, 100, 128, 256, 32, 2);
  for (std::int64_t step = 0; step < walk.steps(); ++step) {
    EXPECT_EQ(walk.place(step, 1).row, walk.place(step, 0).row + 1);
    EXPECT_EQ(walk.place(step, 1).column, walk.place(step, 0).column);
  }
}

TEST(Walk, WhatRunsAtOneTimeIsAboutSquare) {
  for (const auto& [tile_m, tile_n, blocks] :
       {std::tuple{128, 256, 132}, {128, 128, 264}, {256, 128, 132}}) {
    const Walk walk(16384, 16384, 100, tile_m, tile_n, 32, 1);
    std::set<int> rows, columns;
    for (int step = 0; step < blocks; ++step) {
      rows.insert(walk.place(step, 0).row);
      columns.insert(walk.place(step, 0).column);
    }
    const double height = static_cast<double>(rows.size()) * tile_m;
    const double width = static_cast<double>(columns.size()) * tile_n;
    EXPECT_LT(std::abs(std::log2(height / width)), 0.5) << tile_m << " x " << tile_n;
  }
}

TEST(Walk, SlicesReachTheLastTerm) {
  for (int k : {1, 31, 32, 33, 64, 1000}) {
    const Walk walk(10, 10, k, 128, 256, 32, 1);
    EXPECT_GE(walk.slices * 32, k);
    EXPECT_LT((walk.slices - 1) * 32, k);
  }
}

// ---- rounding and inputs

TEST(Rounding, Bf16IsNearestTiesToEven) {
  EXPECT_EQ(from_bf16(round_to_bf16(1.0f)), 1.0f);
  EXPECT_EQ(from_bf16(round_to_bf16(1.0f + 0x1p-9f)), 1.0f);                // nearer to 1
  EXPECT_EQ(from_bf16(round_to_bf16(1.0f + 0x1p-8f)), 1.0f);                // a tie, 1 is even
  EXPECT_EQ(from_bf16(round_to_bf16(1.0f + 3 * 0x1p-8f)), 1.0f + 0x1p-6f);  // a tie upwards
  EXPECT_EQ(from_bf16(round_to_bf16(-1.0f - 0x1p-8f - 0x1p-20f)), -1.0f - 0x1p-7f);
}

TEST(Rounding, Tf32IsNearestTiesAway) {
  EXPECT_EQ(round_to_tf32(1.0f), 1.0f);
  EXPECT_EQ(round_to_tf32(1.0f + 0x1p-12f), 1.0f);
  EXPECT_EQ(round_to_tf32(1.0f + 0x1p-11f), 1.0f + 0x1p-10f);
  EXPECT_EQ(round_to_tf32(-1.0f - 0x1p-11f), -1.0f - 0x1p-10f);
}

TEST(Input, IsOfTheModeAndOfBothSigns) {
  int negative = 0;
  for (int i = 0; i < 1000; ++i) {
    const float x = input_element(5, 0, Mode::fp32, 10, i / 10, i % 10);
    negative += x < 0;
    EXPECT_LE(std::abs(x), 1.0f);
    EXPECT_EQ(input_element(5, 0, Mode::tf32, 10, i / 10, i % 10), round_to_tf32(x));
    EXPECT_EQ(input_element(5, 0, Mode::bf16, 10, i / 10, i % 10), from_bf16(round_to_bf16(x)));
    EXPECT_NE(x, input_element(5, 1, Mode::fp32, 10, i / 10, i % 10));
    EXPECT_NE(x, input_element(6, 0, Mode::fp32, 10, i / 10, i % 10));
  }
  EXPECT_TRUE(negative > 400 && negative < 600);
}

// ---- references

TEST(Reference, AgreesWithTheSecondOne) {
  const App* app = find_app("gemm");
  ASSERT_NE(app, nullptr);
  for (const Parameters& p : app->sizes(Preset::smoke)) {
    const Verdict v = app->check_reference(p, 11);
    EXPECT_TRUE(v.passed) << p.to_string() << ": " << v.error << " > " << v.bound;
  }
}

TEST(Reference, IsTheDefinition) {
  const Parameters p = size(2, 3, 2);
  const std::vector<Sums> c = reference(p, 9);
  const auto a = [](int i, int q) { return double{input_element(9, 0, Mode::fp32, 2, i, q)}; };
  const auto b = [](int q, int j) { return double{input_element(9, 1, Mode::fp32, 3, q, j)}; };
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      EXPECT_DOUBLE_EQ(c[i * 3 + j].value, a(i, 0) * b(0, j) + a(i, 1) * b(1, j));
      EXPECT_DOUBLE_EQ(c[i * 3 + j].magnitude,
                       std::abs(a(i, 0) * b(0, j)) + std::abs(a(i, 1) * b(1, j)));
    }
  }
}

// ---- the comparison

class Comparison : public testing::TestWithParam<const char*> {
 protected:
  static constexpr std::int64_t m = 40, n = 50, k = 600;
  Parameters p = size(m, n, k, GetParam());
  std::vector<Sums> expected = reference(p, 5);
  std::vector<float> good = rounded();

  std::vector<float> rounded() const {
    std::vector<float> c;
    for (const Sums& s : expected) c.push_back(static_cast<float>(s.value));
    return c;
  }
  Verdict judge(const std::vector<float>& c) const { return compare(c.data(), n, p, expected); }
};

TEST_P(Comparison, TheRightResultPasses) { EXPECT_TRUE(judge(good).passed); }

TEST_P(Comparison, NaiveSummationPasses) {
  std::vector<float> c(m * n);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t q = 0; q < k; ++q) {
        sum += input_element(5, 0, mode_of(p), k, i, q) * input_element(5, 1, mode_of(p), n, q, j);
      }
      c[i * n + j] = sum;
    }
  }
  const Verdict v = judge(c);
  EXPECT_TRUE(v.passed) << v.error << " > " << v.bound;
}

TEST_P(Comparison, OneLostTermOfSixHundredFails) {
  std::vector<float> c = good;
  const float term =
      input_element(5, 0, mode_of(p), k, 7, 599) * input_element(5, 1, mode_of(p), n, 599, 9);
  ASSERT_GT(std::abs(term), 0.01f);
  c[7 * n + 9] -= term;
  const Verdict v = judge(c);
  EXPECT_FALSE(v.passed);
  EXPECT_EQ(v.mismatches, 1);
  EXPECT_NE(v.first_mismatches.at(0).find("(7, 9)"), std::string::npos);
}

TEST_P(Comparison, NanAndPoisonFail) {
  std::vector<float> c = good;
  c[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(judge(c).passed);
}

INSTANTIATE_TEST_SUITE_P(Modes, Comparison, testing::Values("fp32", "tf32", "bf16"),
                         [](const auto& mode) { return std::string(mode.param); });

// A lost slice of 32 terms out of 8192 is far above the bound of every mode.
TEST(Bound, IsFarBelowALostSliceAtFullSize) {
  for (Mode mode : {Mode::fp32, Mode::tf32, Mode::bf16}) {
    // 32 products with a deviation of 1/3 each, over 8192 of mean magnitude 1/4.
    const double lost = std::sqrt(32.0) / 3 / (8192 / 4.0);
    EXPECT_LT(error_bound(mode, 8192), lost / 3);
  }
}

// ---- what the harness asks

TEST(App, CountsWorkAndBytes) {
  const App* app = find_app("gemm");
  const Work w = app->work(size(100, 200, 300));
  EXPECT_EQ(w.operations, 2.0 * 100 * 200 * 300);
  EXPECT_EQ(w.bytes_read, 4.0 * (100 * 300 + 300 * 200));
  EXPECT_EQ(w.bytes_written, 4.0 * 100 * 200);
  EXPECT_EQ(w.kind, Work::Kind::fp32);
  EXPECT_EQ(app->work(size(100, 200, 300, "bf16")).kind, Work::Kind::bf16);
  EXPECT_EQ(app->work(size(100, 200, 300, "bf16")).bytes_read, 2.0 * (100 * 300 + 300 * 200));
  // A (100 x 320), B (300 x 224), C (100 x 224) padded, and 12 bytes of reference per element.
  EXPECT_EQ(app->device_bytes(size(100, 200, 300)),
            4 * (100 * 320 + 300 * 224 + 100 * 224) + 12 * 100 * 200);
}

TEST(App, LargestShapesDoNotOverflow) {
  const std::int64_t most = std::int64_t{1} << 20;
  EXPECT_GT(find_app("gemm")->device_bytes(size(most, most, most)), std::int64_t{1} << 43);
  EXPECT_THROW(size(most + 1, 1, 1), UsageError);
  EXPECT_THROW(size(0, 1, 1), UsageError);
  EXPECT_THROW(size(1, 1, 1, "fp8"), UsageError);
}

}  // namespace
}  // namespace amasia::gemm
