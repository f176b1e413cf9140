// gemm as the harness sees it: parameters, sizes, work.
#include <array>
#include <iterator>
#include <limits>
#include <memory>

#include "apps/common/parameters.hpp"
#include "apps/gemm/cpu_reference.hpp"
#include "apps/gemm/gemm.hpp"
#include "apps/gemm/schedules.hpp"

namespace amasia::gemm {

const std::vector<ParameterSpec>& parameter_specs() {
  using Kind = ParameterSpec::Kind;
  // 2^20 keeps rows, columns and tiles within 32 bits, and a row of fp32 within 2^22 bytes.
  constexpr std::int64_t most = std::int64_t{1} << 20;
  static const std::vector<ParameterSpec> specs = {
      {"m", Kind::integer, "rows of A and C", "4096", 1, most},
      {"n", Kind::integer, "columns of B and C", "4096", 1, most},
      {"k", Kind::integer, "columns of A, rows of B", "4096", 1, most},
      choice(
          "mode",
          "inputs: 'fp32', or rounded for the tensor cores, 'tf32', 'bf16' or 'e4m3' (FP8); sums "
          "are fp32. 'tf32x3': fp32 inputs as two tf32 values each, three products, fp32's "
          "accuracy",
          "fp32", {std::begin(mode_names), std::end(mode_names)}),
      choice("layout", "'nn': B lies row by row, as A does; 'tn': B is stored transposed, n x k",
             "nn", {std::begin(layout_names), std::end(layout_names)})};
  return specs;
}

Mode mode_of(const Parameters& p) { return choice_of<Mode>(p.text("mode"), mode_names); }

Layout layout_of(const Parameters& p) {
  const auto layout = choice_of<Layout>(p.text("layout"), layout_names);
  if (mode_of(p) == Mode::e4m3 && layout == Layout::nn) {
    throw UsageError(
        "gemm: mode e4m3 has layout tn alone, because tensor cores take 8-bit operands with the "
        "terms of a sum side by side; add layout=tn");
  }
  return layout;
}

namespace {

struct Bytes {
  std::int64_t a, b, c, expected, parts;
};
Bytes bytes_of(const Parameters& p) {
  const std::int64_t m = p.integer("m"), n = p.integer("n"), k = p.integer("k");
  const bool transposed = layout_of(p) == Layout::tn;
  return {checked_product({m, pitch_bytes(mode_of(p), k)}, "A in bytes"),
          checked_product({transposed ? n : k, pitch_bytes(mode_of(p), transposed ? k : n)},
                          "B in bytes"),
          checked_product({m, padded_pitch<float>(n), 4}, "C in bytes"),
          checked_product({m, n, static_cast<std::int64_t>(sizeof(double) + sizeof(float))},
                          "expected values of C in bytes"),
          mode_of(p) == Mode::tf32x3
              ? checked_product({matrix::rows_of_parts(m) + matrix::rows_of_parts(n),
                                 pitch_bytes(Mode::tf32x3, k)},
                                "parts of A and B in bytes")
              : 0};
}

class Gemm final : public App {
 public:
  std::string_view name() const override { return "gemm"; }
  std::string_view summary() const override {
    return "matrix product C = A B in fp32, tf32, bf16, e4m3 or fp32 as three tf32 products";
  }
  const std::vector<ParameterSpec>& parameters() const override { return parameter_specs(); }

  std::vector<Schedule> schedules() const override { return all_schedules(); }

  std::vector<Parameters> sizes(Preset preset) const override {
    struct Shape {
      std::int64_t m, n, k;
    };
    struct Size {
      Shape shape;
      const char* mode;
      const char* layout;
    };
    std::vector<Size> sizes;
    switch (preset) {
      case Preset::smoke:
        // Degenerate. Around the 32-tile of iso; around the 128 x 256 tiles and the 32- and
        // 64-slices of the others. One, two and more slices than a ring has stages. More tiles than
        // a group that is walked together. Sums that blocks share, of all tiles and of those that
        // full waves of an H200 leave over.
        for (const Shape& s :
             {Shape{1, 1, 1}, Shape{1, 7, 3}, Shape{33, 65, 17}, Shape{129, 127, 131},
              Shape{128, 256, 32}, Shape{257, 300, 1}, Shape{64, 513, 200}, Shape{1153, 70, 97},
              Shape{300, 1, 64}, Shape{1, 600, 320}, Shape{130, 129, 350}, Shape{1, 38400, 192}}) {
          sizes.push_back({s, "fp32", "nn"});
        }
        // The last two of the tensor modes have several tiles for each of a GPU's blocks, which two
        // warpgroups take by turns, with fewer and more slices than a ring has stages.
        for (const auto& [mode, layout] : {std::pair{"tf32", "nn"},
                                           {"bf16", "nn"},
                                           {"tf32", "tn"},
                                           {"bf16", "tn"},
                                           {"e4m3", "tn"},
                                           {"tf32x3", "nn"},
                                           {"tf32x3", "tn"}}) {
          for (const Shape& s :
               {Shape{1, 1, 1}, Shape{33, 65, 17}, Shape{129, 127, 131}, Shape{128, 256, 64},
                Shape{257, 300, 1}, Shape{1153, 70, 97}, Shape{64, 513, 400}, Shape{3, 300, 2600},
                Shape{1, 38400, 192}, Shape{1, 34000, 450}}) {
            sizes.push_back({s, mode, layout});
          }
        }
        // cuBLASLt's condition for e4m3, and more slices than a ring has stages.
        sizes.push_back({{129, 304, 1300}, "e4m3", "tn"});
        break;
      case Preset::quick:
        sizes = {{{2048, 2048, 2048}, "fp32", "nn"}, {{4096, 4096, 4096}, "bf16", "nn"}};
        break;
      case Preset::paper:
        sizes = {{{4096, 4096, 4096}, "fp32", "nn"},   {{8192, 8192, 8192}, "fp32", "nn"},
                 {{8192, 8192, 8192}, "bf16", "nn"},   {{8192, 8192, 8192}, "tf32", "nn"},
                 {{8192, 8192, 8192}, "tf32x3", "nn"}, {{4096, 4096, 4096}, "e4m3", "tn"},
                 {{8192, 8192, 8192}, "e4m3", "tn"}};
        break;
      case Preset::sweep:
        for (std::int64_t n : {512, 1024, 2048, 3072, 4096, 8192}) {
          sizes.push_back({{n, n, n}, "fp32", "nn"});
        }
        sizes.push_back({{16384, 1024, 1024}, "fp32", "nn"});
        sizes.push_back({{1024, 1024, 16384}, "fp32", "nn"});
        for (const char* mode : {"tf32", "bf16", "tf32x3"}) {
          for (std::int64_t n : {512, 1024, 2048, 4096, 8192}) {
            sizes.push_back({{n, n, n}, mode, "nn"});
          }
          for (std::int64_t n : {4096, 8192}) sizes.push_back({{n, n, n}, mode, "tn"});
        }
        for (std::int64_t n : {1024, 2048, 4096, 8192}) {
          sizes.push_back({{n, n, n}, "e4m3", "tn"});
        }
        break;
    }
    std::vector<Parameters> all;
    for (const auto& [s, mode, layout] : sizes) {
      all.push_back(
          size_of(parameter_specs(),
                  {{"m", s.m}, {"n", s.n}, {"k", s.k}, {"mode", mode}, {"layout", layout}}));
    }
    return all;
  }

  Work work(const Parameters& p) const override {
    const auto m = static_cast<double>(p.integer("m")), n = static_cast<double>(p.integer("n")),
               k = static_cast<double>(p.integer("k"));
    constexpr std::array kinds{Work::Kind::fp32, Work::Kind::tf32, Work::Kind::bf16,
                               Work::Kind::e4m3, Work::Kind::tf32x3};
    Work w;
    w.operations = 2 * m * n * k;
    w.kind = kinds[static_cast<std::size_t>(mode_of(p))];
    w.bytes_read = (m * k + k * n) * element_bytes(mode_of(p));
    w.bytes_written = m * n * sizeof(float);
    return w;
  }

  std::int64_t device_bytes(const Parameters& p) const override {
    const Bytes bytes = bytes_of(p);
    std::int64_t sum = 0;
    for (std::int64_t x : {bytes.a, bytes.b, bytes.c, bytes.expected, bytes.parts}) {
      if (x > std::numeric_limits<std::int64_t>::max() - sum) {
        throw UsageError("gemm: A, B and C together exceed 2^63 bytes; take a smaller shape");
      }
      sum += x;
    }
    return sum;
  }

  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
    return check_references(p, seed);
  }
};

const bool registered = register_app(std::make_unique<Gemm>());

}  // namespace
}  // namespace amasia::gemm
