// The problem on the device: allocation, inputs, verification.
//
// All variants compute a pixel by the same roundings (kernel.cuh) and sum integers. So a result is
// compared bit for bit with that of the plainest kernels there are: one thread per pixel, C in one
// launch and pixels in the next. Their iterations are checked in fp64 on the CPU,
// each from the image that it started with, because errors of many iterations have no useful bound:
// where pixels are rougher than the image, diffusion sharpens.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/device_instance.cuh"
#include "apps/common/verification_report.cuh"
#include "apps/srad/cpu_reference.hpp"
#include "apps/srad/sums.cuh"
#include "variants/device/cuda.hpp"

namespace amasia::srad {
namespace {

__global__ void generate_image(Grid<float> image, std::uint64_t seed, int challenge) {
  each_element(image.rows, image.columns, [&](std::int64_t r, std::int64_t c) {
    image.at(r, c) = generated_pixel(seed, challenge, r, c, image.columns);
  });
}

__device__ Gradient plain_gradient(const Grid<const float>& image, std::int64_t r, std::int64_t c) {
  const float own = image.at(r, c);
  return {r > 0 ? image.at(r - 1, c) - own : 0, r < image.rows - 1 ? image.at(r + 1, c) - own : 0,
          c > 0 ? image.at(r, c - 1) - own : 0,
          c < image.columns - 1 ? image.at(r, c + 1) - own : 0};
}

__global__ void plain_coefficients(Grid<const float> image, Grid<float> coefficient,
                                   const Speckle* k) {
  each_element(image.rows, image.columns, [&](std::int64_t r, std::int64_t c) {
    coefficient.at(r, c) = diffusion(image.at(r, c), plain_gradient(image, r, c), *k);
  });
}

__global__ void plain_update(Grid<const float> image, Grid<const float> coefficient, Grid<float> to,
                             float quarter_lambda) {
  each_element(image.rows, image.columns, [&](std::int64_t r, std::int64_t c) {
    const Gradient d = plain_gradient(image, r, c);
    const float east = c < image.columns - 1 ? coefficient.at(r, c + 1) : 0;
    const float south = r < image.rows - 1 ? coefficient.at(r + 1, c) : 0;
    to.at(r, c) = diffused(image.at(r, c), inflow(d, coefficient.at(r, c), east), d.south, south,
                           quarter_lambda);
  });
}

// Pixels that differ in any bit, or are no finite number.
__global__ void compare_images(Grid<const float> got, Grid<const float> expected,
                               VerificationReport* report) {
  each_element(got.rows, got.columns, [&](std::int64_t r, std::int64_t c) {
    const float value = got.at(r, c), right = expected.at(r, c);
    const bool same = isfinite(value) && __float_as_uint(value) == __float_as_uint(right);
    const double error = fabs(double{value} - right);
    // 0 for equal bits, and never 0 for others: the bound is 0.
    report->add(same ? 0 : error > 0 ? error : INFINITY, 0, {r, c, value, right});
  });
}

class SradInstance final : public InstanceOf<Problem> {
 public:
  SradInstance(const Parameters& p, std::uint64_t seed)
      : seed_(seed),
        rows_(p.integer("rows")),
        columns_(p.integer("cols")),
        pitch_(padded_pitch<float>(columns_)),
        quarter_lambda_(quarter_lambda(p)) {
    refuse_overflow(p);
    for (DeviceArray<float>& array : grids_) array = DeviceArray<float>(pixels());
    sums_ = DeviceArray<Sums>((static_cast<std::size_t>(p.integer("iterations")) + 1) * slots);
    speckle_ = DeviceArray<Speckle>(1);
    problem_.image = readable(image_);
    Grid<float>* const written[] = {&problem_.result, &problem_.scratch, &problem_.coefficient,
                                    &problem_.north,  &problem_.south,   &problem_.west,
                                    &problem_.east};
    for (int i = 0; i < 7; ++i) *written[i] = grid(grids_[i]);
    problem_.sums = sums_.data();
    problem_.speckle = speckle_.data();
    problem_.quarter_lambda = static_cast<float>(quarter_lambda_);
    problem_.iterations = static_cast<int>(p.integer("iterations"));
    // The padding stays NaN: a variant that takes it for data fails verification.
    image_.poison(nullptr);
    pose(0);
  }

  const Problem& problem() const override { return problem_; }

  // The input is never written, so there is nothing to restore.
  void reset(Stream stream) override {
    for (int i = 0; i < 7; ++i) grids_[i].poison(stream);
    sums_.poison(stream);
    speckle_.poison(stream);
  }

  int challenges() const override { return 1; }

  void pose(int challenge) override {
    posed_ = challenge;
    generate_image<<<blocks(), element_threads>>>(grid(image_), seed_, challenge);
    AMASIA_CUDA(cudaGetLastError());
    AMASIA_CUDA(cudaDeviceSynchronize());
  }

  Verdict verify() override {
    AMASIA_CUDA(cudaDeviceSynchronize());
    Expected& expected = expected_[posed_];
    if (expected.pixels.size() == 0) {
      expected.pixels = DeviceArray<float>(pixels());
      expected.wrong = compute_expected(expected.pixels);
    }
    if (expected.wrong) return *expected.wrong;
    const DeviceReport report;
    compare_images<<<blocks(), element_threads>>>(readable(result_), readable(expected.pixels),
                                                  report.data());
    AMASIA_CUDA(cudaGetLastError());
    Verdict verdict;
    verdict.norm = "exact";
    verdict.checked = rows_ * columns_;
    return report.complete(verdict, "got");
  }

 private:
  std::size_t pixels() const {
    return static_cast<std::size_t>(checked_product({rows_, pitch_}, "rows x pitch"));
  }
  Grid<float> grid(const DeviceArray<float>& array) const {
    return {array.data(), rows_, columns_, pitch_};
  }
  Grid<const float> readable(const DeviceArray<float>& array) const {
    return {array.data(), rows_, columns_, pitch_};
  }
  dim3 blocks() const { return blocks_over(rows_, columns_); }
  Image<float> download(const Grid<const float>& from) const {
    Image<float> to{rows_, columns_,
                    std::vector<float>(static_cast<std::size_t>(rows_ * columns_))};
    download_rows(from, to.pixels.data());
    return to;
  }

  // What the iterations make of the posed input; a verdict if the CPU finds one of them wrong. Uses
  // what a run may use, never result; what it leaves there no later run may take for its own.
  std::optional<Verdict> compute_expected(const DeviceArray<float>& expected) {
    const std::vector<int> checked = checked_iterations(problem_.iterations, rows_ * columns_);
    std::optional<Verdict> wrong;
    Grid<const float> now = readable(image_);
    for (int i = 0; i < problem_.iterations && !wrong; ++i) {
      const bool last = (problem_.iterations - 1 - i) % 2 == 0;
      const DeviceArray<float>& next = last ? expected : scratch_;
      AMASIA_CUDA(cudaMemset(sums_.data(), 0, slots * sizeof(Sums)));
      // Few rows of blocks: additions to one address wait for each other.
      first_sums<element_threads><<<dim3(blocks().x, 64), element_threads>>>(now, sums_.data());
      scale_of_sums<lanes><<<1, lanes>>>(sums_.data(), rows_ * columns_, speckle_.data());
      plain_coefficients<<<blocks(), element_threads>>>(now, grid(coefficient_), speckle_.data());
      plain_update<<<blocks(), element_threads>>>(now, readable(coefficient_), grid(next),
                                                  problem_.quarter_lambda);
      AMASIA_CUDA(cudaGetLastError());
      if (std::binary_search(checked.begin(), checked.end(), i)) {
        Verdict v = check_step(download(now), download(readable(next)), quarter_lambda_);
        if (!v.passed) {
          v.norm = "iteration " + std::to_string(i) +
                   " of the reference on the device against fp64 on the CPU, " + v.norm;
          wrong = v;
        }
      }
      now = readable(next);
    }
    for (const DeviceArray<float>* array : {&scratch_, &coefficient_}) array->poison(nullptr);
    sums_.poison(nullptr);
    speckle_.poison(nullptr);
    AMASIA_CUDA(cudaDeviceSynchronize());
    return wrong;
  }

  std::uint64_t seed_;
  std::int64_t rows_, columns_, pitch_;
  double quarter_lambda_;
  // Of one input: it is computed once, however many configs are verified.
  struct Expected {
    DeviceArray<float> pixels;
    std::optional<Verdict> wrong;  // the expected pixels themselves
  };
  DeviceArray<float> grids_[8];  // what a run writes, in the order of Problem; then the input
  DeviceArray<float>&result_ = grids_[0], &scratch_ = grids_[1], &coefficient_ = grids_[2],
  &image_ = grids_[7];
  Expected expected_[2];
  DeviceArray<Sums> sums_;
  DeviceArray<Speckle> speckle_;
  Problem problem_;
  int posed_ = 0;
};

const bool instance_registered = register_instance<SradInstance>("srad");

}  // namespace
}  // namespace amasia::srad
