// srad without a GPU: the computation in fp32 against the formula, its sums, the references, and
// the comparison that has to catch wrong kernels.
#include "apps/srad/srad.hpp"
#include "apps/srad/cpu_reference.hpp"
#include "apps/srad/kernel.cuh"
#include "apps/srad/schedules.hpp"
#include "apps/srad/strip.hpp"
#include "tests/apps/srad_replay.hpp"
#include "tests/test.hpp"

namespace amasia::srad {
namespace {

Image<double> exact(const Image<float>& image) {
  return {image.rows, image.columns, {image.pixels.begin(), image.pixels.end()}};
}

double scale_of(const Image<float>& image) {
  long long values = 0, squares = 0;
  for (const float pixel : image.pixels) {
    values += quantised(pixel);
    squares += static_cast<long long>(quantised(pixel)) * quantised(pixel);
  }
  return speckle_scale(values, squares, static_cast<std::int64_t>(image.pixels.size()));
}

Image<float> iterate_fp32(const Image<float>& image, double lambda_quarter) {
  return iterate_fp32(image, speckle_of(scale_of(image)), static_cast<float>(lambda_quarter));
}

TEST(SradKernel, IsWithinTheBoundOfTheFormulaInEveryIteration) {
  for (const auto& [rows, columns, iterations, lambda] :
       {std::array{1, 1, 5, 500}, std::array{1, 37, 20, 500}, std::array{41, 1, 20, 1000},
        std::array{31, 33, 300, 500}, std::array{97, 120, 40, 1000}, std::array{64, 48, 40, 1}}) {
    for (const int challenge : {0, 1}) {
      Image<float> image = generated(rows, columns, challenge);
      double worst = 0;
      for (int i = 0; i < iterations; ++i) {
        const Image<float> next = iterate_fp32(image, lambda / 4000.0);
        const Verdict v = check_step(image, next, lambda / 4000.0);
        ASSERT_TRUE(v.passed) << rows << " x " << columns << ", iteration " << i << ": " << v.error;
        worst = std::max(worst, v.error);
        image = next;
      }
      EXPECT_LT(worst, step_bound / 4);  // the bound is of the worst case
    }
  }
}

TEST(SradKernel, KeepsPixelsInTheRangeOfTheInput) {
  for (const int challenge : {0, 1}) {
    Image<float> image = generated(40, 50, challenge);
    for (const float pixel : image.pixels) {
      EXPECT_GE(pixel, 1.0f);
      EXPECT_LE(pixel, 2.72f);
    }
    const auto [least, most] = std::ranges::minmax_element(image.pixels);
    const float low = *least, high = *most;
    for (int i = 0; i < 50; ++i) image = iterate_fp32(image, 0.25);
    for (const float pixel : image.pixels) {
      EXPECT_GE(pixel, low * 0.999999f);
      EXPECT_LE(pixel, high * 1.000001f);
    }
  }
}

// The second input has coefficients of 1 and near 0; the first one has all between.
TEST(SradKernel, HasAllCoefficients) {
  const Speckle k = speckle_of(0.08);
  EXPECT_EQ(diffusion(1.5f, {0, 0, 0, 0}, k), 1.0f);
  EXPECT_LT(diffusion(1.0f, {1.5f, -0.5f, 1.5f, -0.5f}, k), 0.15f);
  const float between = diffusion(1.5f, {0.6f, -0.6f, 0.3f, -0.3f}, k);
  EXPECT_GT(between, 0.4f);
  EXPECT_LT(between, 0.9f);
}

TEST(SradSums, RoundToWholeQuanta) {
  for (const float pixel : {1.0f, 1.5f, 1.875f, 2.0f, 2.71875f, 1.0000076f, 2.3333333f}) {
    EXPECT_EQ(quantised(pixel), std::lrint((double{pixel} - 1.875) * 65536)) << pixel;
  }
}

TEST(SradSums, GiveTheScaleOfTheImage) {
  for (const int challenge : {0, 1}) {
    const Image<float> image = generated(123, 77, challenge);
    double sum = 0, sum_of_squares = 0;
    for (const float pixel : image.pixels) {
      sum += pixel;
      sum_of_squares += double{pixel} * pixel;
    }
    const double n = 123 * 77, mean = sum / n;
    const double q0 = (sum_of_squares / n - mean * mean) / (mean * mean);
    EXPECT_NEAR(scale_of(image), q0, 1e-5 * q0);
  }
}

TEST(SradSums, HaveALeastScale) {
  EXPECT_EQ(speckle_scale(0, 0, 1), least_q0);
  const long long q = quantised(2.5f);
  EXPECT_EQ(speckle_scale(3 * q, 3 * q * q, 3), least_q0);  // an image of one value
  const Speckle k = speckle_of(least_q0);
  EXPECT_EQ(diffusion(2.5f, {0, 0, 0, 0}, k), 1.0f);
}

// apps_test.cpp has the sizes that are refused.
TEST(SradSums, CannotOverflow) {
  const long long most = std::max(std::abs(quantised(1.0f)), std::abs(quantised(2.71875f)));
  EXPECT_LE(most * most, std::numeric_limits<std::int64_t>::max() / most_pixels);
}

TEST(SradReference, SeesOneWrongPixel) {
  const Image<float> before = generated(33, 47, 0);
  const Image<float> after = iterate_fp32(before, 0.125);
  ASSERT_TRUE(check_step(before, after, 0.125).passed);
  for (const std::size_t pixel : {std::size_t{0}, std::size_t{500}, after.pixels.size() - 1}) {
    for (const float wrong :
         {after.pixels[pixel] + 2e-5f, before.pixels[pixel],
          std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      Image<float> mutant = after;
      mutant.pixels[pixel] = wrong;
      const Verdict v = check_step(before, mutant, 0.125);
      EXPECT_EQ(v.mismatches, 1) << pixel << " " << wrong;
      EXPECT_EQ(v.first_mismatches.size(), 1u);
    }
  }
}

TEST(SradReference, SeesAWrongScaleAndAWrongWeight) {
  const Image<float> before = generated(33, 47, 1);
  EXPECT_FALSE(check_step(before, iterate_fp32(before, 0.1251), 0.125).passed);
  Image<float> moved = before;  // the sums of another image
  moved.pixels[3] *= 1.2f;
  Image<float> after = iterate_fp32(moved, 0.125);
  EXPECT_GT(check_step(before, after, 0.125).mismatches, 100);
}

TEST(SradReference, ConservesTheSum) {
  Image<double> image = exact(generated(19, 23, 1));
  const double sum = std::accumulate(image.pixels.begin(), image.pixels.end(), 0.0);
  for (int i = 0; i < 10; ++i) image = iterate(image, 0.125);
  EXPECT_NEAR(std::accumulate(image.pixels.begin(), image.pixels.end(), 0.0), sum, 1e-9 * sum);
}

TEST(SradReference, ChecksTheFirstAndTheLastIteration) {
  EXPECT_EQ(checked_iterations(5, 100), (std::vector{0, 1, 2, 3, 4}));
  EXPECT_EQ(checked_iterations(1, std::int64_t{1} << 31), (std::vector{0}));
  const std::vector<int> few = checked_iterations(1000, 2160 * 3840);
  EXPECT_EQ(few.front(), 0);
  EXPECT_EQ(few.back(), 999);
  EXPECT_GE(few.size(), 16u);
  EXPECT_TRUE(std::ranges::is_sorted(few));
  EXPECT_EQ(checked_iterations(1000, most_pixels), (std::vector{0, 999}));
}

TEST(SradIterations, EndInResultAndNeverWriteTheInput) {
  std::vector<float> image(1), result(1), scratch(1);
  for (int iterations = 1; iterations < 7; ++iterations) {
    Problem problem;
    problem.image = {image.data(), 1, 1, 1};
    problem.result = {result.data(), 1, 1, 1};
    problem.scratch = {scratch.data(), 1, 1, 1};
    problem.iterations = iterations;
    const std::vector<Iteration> all = ping_pong(problem);
    ASSERT_EQ(static_cast<int>(all.size()), iterations);
    EXPECT_EQ(all.front().source.data, image.data());
    EXPECT_EQ(all.back().destination.data, result.data());
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_NE(all[i].destination.data, image.data());
      EXPECT_NE(all[i].destination.data, all[i].source.data);
      EXPECT_EQ(all[i].upwards, i % 2 == 1);
      if (i > 0) {
        EXPECT_EQ(all[i].source.data, all[i - 1].destination.data);
      }
    }
  }
}

template <bool UPWARDS>
void every_pixel_is_finished_once(int rows, int columns, int sm_count, int cluster) {
  const Division d = Division::of(rows, columns, sm_count, cluster);
  ASSERT_GE(d.chunk_rows, least_chunk);
  ASSERT_EQ(d.chunk_places % cluster, 0);
  std::vector<int> finished(static_cast<std::size_t>(rows) * columns);
  for (int block = 0; block < d.blocks(); ++block) {
    for (int thread = 0; thread < strip_threads; ++thread) {
      const Place p(block, thread, d.chunk_rows, d.chunk_places, rows, columns);
      ASSERT_EQ(p.row_count > 0, p.chunk < d.chunks);
      EXPECT_EQ(p.column % per_lane, 0);
      // The block's tile has the lane's columns.
      const int in_tile = p.column - (block / d.chunk_places * block_columns - per_lane);
      EXPECT_GE(in_tile, 0);
      EXPECT_LE(in_tile + per_lane, tile_columns);
      if (!p.finishes) continue;
      for (int k = halo_rows; k < p.row_count; ++k) {
        const int row = p.finished_row<UPWARDS>(k);
        ASSERT_GE(row, p.first);
        ASSERT_LT(row, p.end);
        // Read by then: the row, the one north of it and two south of it.
        EXPECT_EQ(p.row<UPWARDS>(UPWARDS ? k : k - 3), std::max(row - 1, 0));
        EXPECT_EQ(p.row<UPWARDS>(UPWARDS ? k - 1 : k - 2), row);
        EXPECT_EQ(p.row<UPWARDS>(UPWARDS ? k - 2 : k - 1), std::min(row + 1, rows - 1));
        EXPECT_EQ(p.row<UPWARDS>(UPWARDS ? k - 3 : k), std::min(row + 2, rows - 1));
        for (int c = p.column; c < std::min(p.column + per_lane, columns); ++c) {
          EXPECT_TRUE(p.at_edge || (c >= 1 && c + 2 < columns));
          ++finished[static_cast<std::size_t>(row) * columns + c];
        }
      }
    }
  }
  EXPECT_EQ(std::ranges::count(finished, 1), rows * columns) << rows << " x " << columns;
}

TEST(SradStrips, FinishEveryPixelOnceInBothDirections) {
  for (const auto& [rows, columns] :
       {std::array{1, 1}, std::array{1, 481}, std::array{7, 119}, std::array{8, 120},
        std::array{9, 121}, std::array{65, 479}, std::array{41, 480}, std::array{100, 964}}) {
    for (const int cluster : {1, 2}) {
      every_pixel_is_finished_once<false>(rows, columns, 1, cluster);
      every_pixel_is_finished_once<true>(rows, columns, 1, cluster);
    }
  }
}

// The rows that a cluster's blocks send each other (mail.cuh) are the ones that the other needs.
TEST(SradStrips, NeighboursReadTheSameRows) {
  const Division d = Division::of(100, 200, 1, 2);
  for (int chunk = 0; chunk + 1 < d.chunks; ++chunk) {
    const Place upper(chunk, 0, d.chunk_rows, d.chunk_places, 100, 200);
    const Place lower(chunk + 1, 0, d.chunk_rows, d.chunk_places, 100, 200);
    EXPECT_EQ(upper.row<false>(upper.row_count - 2), lower.row<false>(1));
    EXPECT_EQ(upper.row<false>(upper.row_count - 1), lower.row<false>(2));
    EXPECT_EQ(lower.row<true>(lower.row_count - 1), upper.row<true>(2));
  }
}

TEST(SradStrips, FillTheDeviceAtThePapersSize) {
  const Division d = Division::of(2160, 3840, 132);
  EXPECT_EQ(d.blocks(), 528);
  EXPECT_EQ(d.chunk_rows, 33);
  EXPECT_EQ(Division::of(1 << 30, 1, 132).chunk_rows, most_chunk);
}

}  // namespace
}  // namespace amasia::srad
