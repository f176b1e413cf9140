// lud as the harness sees it: parameters, sizes, work.
#include <memory>

#include "apps/common/parameters.hpp"
#include "apps/common/tf32.hpp"
#include "apps/lud/cpu_reference.hpp"
#include "apps/lud/lud.hpp"
#include "apps/lud/matrices.hpp"
#include "apps/lud/schedules.hpp"
#include "inputs/formats/matrix.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/geometry/tile.hpp"

namespace amasia::lud {

namespace {

constexpr const char* input_names[] = {"random", "rodinia", "uniform", "graded", "ill_conditioned"};
constexpr const char* arithmetic_names[] = {"fp32", "tf32x3"};

}  // namespace

const std::vector<ParameterSpec>& parameter_specs() {
  using Kind = ParameterSpec::Kind;
  // 2^20 keeps the tiles of a matrix, and rows and columns, within 32 bits on the device.
  static const std::vector<ParameterSpec> specs = {
      {"n", Kind::integer, "order of the matrix", "8192", 1, std::int64_t{1} << 20},
      choice("input",
             "'random': strictly diagonally dominant; 'rodinia': 10 exp(-0.001 |i - j|); not "
             "dominant: 'uniform', 'graded', 'ill_conditioned'",
             "random", {std::begin(input_names), std::end(input_names)}),
      choice("arithmetic",
             "of trailing updates: 'fp32', or 'tf32x3': three products of tf32 on Hopper's tensor "
             "cores, as accurate as fp32",
             "fp32", {std::begin(arithmetic_names), std::end(arithmetic_names)}),
      {"matrix_file", Kind::file, "matrix in Rodinia's text format (default: generated)", ""},
      {"out_file", Kind::file, "where to write L and U in one matrix (default: nowhere)", ""}};
  return specs;
}

Input input_of(const Parameters& p) { return choice_of<Input>(p.text("input"), input_names); }

Arithmetic arithmetic_of(const Parameters& p) {
  return choice_of<Arithmetic>(p.text("arithmetic"), arithmetic_names);
}

namespace {

std::int64_t pitch_of(const Parameters& p) {
  checked_product({p.integer("n"), 32}, "n");  // padded_pitch adds up to 31 columns
  return padded_pitch<float>(p.integer("n"));
}

/// Of the panels of two groups, split (Problem::left, right).
std::int64_t parts_bytes(const Parameters& p) {
  if (arithmetic_of(p) == Arithmetic::fp32) return 0;
  const std::int64_t rows = matrix::rows_of_parts(round_up(p.integer("n"), panel_width));
  return checked_product({4, rows, most_panels * panel_width, sizeof(float)},
                         "two groups of panels of L and U in two parts");
}

class Lud final : public App {
 public:
  std::string_view name() const override { return "lud"; }
  std::string_view summary() const override {
    return "LU decomposition without pivoting, in place, fp32";
  }
  const std::vector<ParameterSpec>& parameters() const override { return parameter_specs(); }

  std::vector<Parameters> sizes(Preset preset) const override {
    struct Size {
      std::int64_t n;
      const char* input;
      const char* arithmetic = "fp32";
    };
    std::vector<Size> sizes;
    switch (preset) {
      case Preset::smoke:
        // Degenerate; around the 16-tile of iso; around the 128-block of the others and its
        // 32-sub-blocks; one, two and several blocks, with and without a remainder.
        for (std::int64_t n :
             {1, 2, 3, 15, 16, 17, 31, 37, 127, 128, 129, 131, 160, 255, 256, 257, 389, 512, 643}) {
          sizes.push_back({n, "random"});
        }
        sizes.push_back({400, "rodinia"});
        // Stability: within a sub-block, at its edge, and behind several diagonal blocks.
        for (std::int64_t n : {4, 33, 160, 389}) sizes.push_back({n, "ill_conditioned"});
        sizes.push_back({300, "uniform"});
        sizes.push_back({300, "graded"});
        // Without an update behind a group, with one tile of it, and with several, cut off.
        for (std::int64_t n : {100, 256, 389, 643, 1100}) sizes.push_back({n, "random", "tf32x3"});
        for (const char* input : {"rodinia", "uniform", "graded", "ill_conditioned"}) {
          sizes.push_back({643, input, "tf32x3"});
        }
        break;
      case Preset::quick:
        sizes = {{2048, "random"}};
        break;
      case Preset::paper:
        sizes = {{8192, "random"}, {2048, "random"}, {8192, "random", "tf32x3"}};
        break;
      case Preset::sweep:
        for (std::int64_t n : {512, 1024, 2048, 4096, 8192, 16384}) sizes.push_back({n, "random"});
        sizes.push_back({16384, "random", "tf32x3"});
        break;
    }
    std::vector<Parameters> all;
    for (const auto& [n, input, arithmetic] : sizes) {
      all.push_back(
          size_of(parameter_specs(), {{"n", n}, {"input", input}, {"arithmetic", arithmetic}}));
    }
    return all;
  }

  std::vector<Schedule> schedules() const override { return all_schedules(); }

  Work work(const Parameters& p) const override {
    const auto n = static_cast<double>(p.integer("n"));
    Work w;
    // n (n - 1) / 2 divisions, and a multiplication and a subtraction for each (n-1) n (2n-1) / 6
    // updates.
    w.operations = n * (n - 1) / 2 + (n - 1) * n * (2 * n - 1) / 3;
    w.kind = arithmetic_of(p) == Arithmetic::fp32 ? Work::Kind::fp32 : Work::Kind::tf32x3;
    w.bytes_read = n * n * sizeof(float);
    w.bytes_written = n * n * sizeof(float);
    w.dependent_operations = 3 * (n - 1);  // pivot to pivot: reciprocal, multiplication, FMA
    return w;
  }

  std::int64_t device_bytes(const Parameters& p) const override {
    // The matrix, the copy it is restored from, and one row each for the two scratch blocks.
    const std::int64_t matrices = checked_product({p.integer("n"), pitch_of(p), 2, sizeof(float)},
                                                  "two matrices of n x n x 4 bytes");
    return matrices + std::int64_t{2 * sizeof(float)} * panel_width * panel_width + parts_bytes(p);
  }

  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
    return check_references(p, seed);
  }

  void export_outputs(const Parameters& p, Instance& instance) const override {
    if (const std::string& path = p.text("out_file"); !path.empty()) {
      const HostMatrix lu = dynamic_cast<const LudInstance&>(instance).download_result();
      formats::write_matrix_file(path, lu.n, lu.elements);
    }
  }
};

const bool registered = register_app(std::make_unique<Lud>());

}  // namespace
}  // namespace amasia::lud
