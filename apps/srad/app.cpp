// srad as the harness sees it: parameters, sizes, work.
#include <memory>

#include "apps/common/parameters.hpp"
#include "apps/srad/cpu_reference.hpp"
#include "apps/srad/schedules.hpp"
#include "apps/srad/srad.hpp"
#include "variants/geometry/tile.hpp"

namespace amasia::srad {

const std::vector<ParameterSpec>& parameter_specs() {
  using Kind = ParameterSpec::Kind;
  // 2^30 rows or columns keep row and column arithmetic within 32 bits on the device; 2^16
  // iterations keep the list of launches of a run reasonable. Up to lambda = 1 an iteration cannot
  // leave the range of its input.
  static const std::vector<ParameterSpec> specs = {
      {"rows", Kind::integer, "image rows", "2160", 1, std::int64_t{1} << 30},
      {"cols", Kind::integer, "image columns", "3840", 1, std::int64_t{1} << 30},
      {"iterations", Kind::integer, "diffusion steps", "100", 1, std::int64_t{1} << 16},
      {"lambda", Kind::integer, "weight of a diffusion step, in thousandths", "500", 1, 1000}};
  return specs;
}

double quarter_lambda(const Parameters& p) {
  return static_cast<double>(p.integer("lambda")) / 4000;
}

void refuse_overflow(const Parameters& p) {
  if (checked_product({p.integer("rows"), p.integer("cols")}, "rows x cols") > most_pixels) {
    throw UsageError("rows x cols is at most 2^31: the sums over an image are of 64 bits");
  }
}

namespace {

class Srad final : public App {
 public:
  std::string_view name() const override { return "srad"; }
  std::string_view summary() const override {
    return "speckle-reducing anisotropic diffusion of an image: stencil and reduction, fp32";
  }
  const std::vector<ParameterSpec>& parameters() const override { return parameter_specs(); }
  std::vector<Schedule> schedules() const override {
    return {std::begin(srad::schedules), std::end(srad::schedules)};
  }

  std::vector<Parameters> sizes(Preset preset) const override {
    struct Size {
      std::int64_t rows, cols, iterations, lambda = 500;
    };
    std::vector<Size> sizes;
    switch (preset) {
      case Preset::smoke:
        // Degenerate; around iso's tiles, windows of 120 columns, blocks of 480 and chunks of 8
        // rows; rows without padding; many iterations of small images, which become flat.
        sizes = {{1, 1, 1},      {1, 1, 5},       {1, 37, 2},      {41, 1, 3},
                 {1, 4096, 2},   {2, 2, 4},       {3, 5, 6, 1000}, {16, 16, 1},
                 {15, 17, 2},    {17, 33, 5, 1},  {31, 119, 3},    {8, 120, 2},
                 {9, 121, 4},    {7, 124, 3},     {64, 128, 5},    {65, 479, 4},
                 {30, 480, 3},   {33, 481, 7},    {127, 131, 200}, {257, 1021, 5, 250},
                 {509, 487, 20}, {1024, 1024, 3}, {1021, 1933, 4}, {33, 2049, 6, 999}};
        break;
      case Preset::quick:
        sizes = {{1024, 1024, 100}, {2160, 3840, 100}};
        break;
      case Preset::paper:
        sizes = {{2160, 3840, 1000}, {8192, 8192, 100}};
        break;
      case Preset::sweep:
        for (std::int64_t n :
             {64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 16384, 24576}) {
          sizes.push_back({n, n, 100});
        }
        break;
    }
    std::vector<Parameters> all;
    for (const Size& s : sizes) {
      all.push_back(size_of(parameter_specs(), {{"rows", s.rows},
                                                {"cols", s.cols},
                                                {"iterations", s.iterations},
                                                {"lambda", s.lambda}}));
    }
    return all;
  }

  Work work(const Parameters& p) const override {
    const double pixels =
        static_cast<double>(p.integer("rows")) * static_cast<double>(p.integer("cols"));
    const auto iterations = static_cast<double>(p.integer("iterations"));
    Work w;
    // Two differences (the others are a neighbour's), C 22, the update 8, the sums 6 (kernel.cuh).
    w.operations = pixels * 38 * iterations;
    w.kind = Work::Kind::fp32;
    w.bytes_read = pixels * sizeof(float);
    w.bytes_written = pixels * sizeof(float);
    // From pixel to pixel: seven to C's denominator, then reciprocal, product, minimum and two FMA.
    w.dependent_operations = 12 * iterations;
    return w;
  }

  std::int64_t device_bytes(const Parameters& p) const override {
    refuse_overflow(p);
    // image, result, scratch, what either input must become, and the five grids of Problem.
    const std::int64_t grids = checked_product(
        {p.integer("rows"), padded_pitch<float>(p.integer("cols")), 10, sizeof(float)},
        "ten grids of rows x cols x 4 bytes");
    return grids + (p.integer("iterations") + 1) * slots * static_cast<std::int64_t>(sizeof(Sums));
  }

  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
    return check_references(p, seed);
  }
};

const bool registered = register_app(std::make_unique<Srad>());

}  // namespace
}  // namespace amasia::srad
