// hotspot as the harness sees it: parameters, sizes, work.
#include <memory>

#include "apps/hotspot/cpu_reference.hpp"
#include "apps/hotspot/hotspot.hpp"
#include "apps/hotspot/instance.hpp"
#include "apps/hotspot/schedules.hpp"
#include "inputs/formats/grid.hpp"
#include "variants/geometry/tile.hpp"

namespace amasia::hotspot {

const std::vector<ParameterSpec>& parameter_specs() {
  using Kind = ParameterSpec::Kind;
  // 2^30 rows or columns keep row and column arithmetic within 32 bits on the device; 2^20 steps
  // keep the list of launches of a run reasonable.
  static const std::vector<ParameterSpec> specs = {
      {"rows", Kind::integer, "grid rows", "8192", 1, std::int64_t{1} << 30, {}},
      {"cols", Kind::integer, "grid columns", "8192", 1, std::int64_t{1} << 30, {}},
      {"steps", Kind::integer, "time steps", "5", 1, std::int64_t{1} << 20, {}},
      {"chip",
       Kind::choice,
       "'scaled': cells of 16 mm / 1024, stable at any size; 'rodinia': a 16 mm chip whatever the "
       "grid, "
       "unstable above about 1390 x 1390",
       "scaled",
       1,
       1,
       {"scaled", "rodinia"}},
      {"temp_file",
       Kind::file,
       "initial temperatures in Rodinia's text format (default: generated)",
       "",
       1,
       1,
       {}},
      {"power_file",
       Kind::file,
       "power per cell in Rodinia's text format (default: generated)",
       "",
       1,
       1,
       {}},
      {"out_file",
       Kind::file,
       "where to write the final temperatures of a run that was right (default: nowhere)",
       "",
       1,
       1,
       {}}};
  return specs;
}

Chip chip_of(const Parameters& p) {
  return p.text("chip") == "rodinia" ? Chip::rodinia : Chip::scaled;
}

namespace {

std::int64_t pitch_of(const Parameters& p) {
  // padded_pitch adds up to 31 columns: refuse what would overflow before it does.
  checked_product({p.integer("cols"), 32}, "cols");
  return padded_pitch<float>(p.integer("cols"));
}

class Hotspot final : public App {
 public:
  std::string_view name() const override { return "hotspot"; }
  std::string_view summary() const override {
    return "transient temperature of a chip: 2-D five-point stencil with a source term, fp32";
  }
  const std::vector<ParameterSpec>& parameters() const override { return parameter_specs(); }
  std::vector<Schedule> schedules() const override {
    return {std::begin(hotspot::schedules), std::end(hotspot::schedules)};
  }

  std::vector<Parameters> sizes(Preset preset) const override {
    struct Size {
      std::int64_t rows, cols;
      int steps;
      const char* chip = "scaled";
    };
    std::vector<Size> sizes;
    switch (preset) {
      case Preset::smoke:
        // Degenerate; around the 12-cell core and 16-cell tile of iso; around the 128-column
        // windows (112 or 104 useful) and the row-blocks of the strips; odd numbers of steps and of
        // passes; rows without padding, whose end is the next row's beginning.
        sizes = {{1, 1, 1},      {1, 1, 7},
                 {1, 37, 2},     {41, 1, 3},
                 {2, 2, 5},      {3, 5, 6},
                 {12, 12, 2},    {13, 11, 4},
                 {16, 16, 1},    {17, 24, 5},
                 {31, 127, 5},   {64, 104, 7},
                 {65, 105, 12},  {97, 113, 6},
                 {30, 128, 10},  {127, 131, 5},
                 {60, 449, 13},  {257, 1021, 5},
                 {503, 417, 20}, {1024, 1024, 3},
                 {33, 2049, 4},  {1021, 509, 5, "rodinia"},
                 {301, 512, 33}};
        break;
      case Preset::quick:
        sizes = {{1024, 1024, 60}, {4096, 4096, 5}, {8192, 8192, 5}};
        break;
      case Preset::paper:
        sizes = {{8192, 8192, 5}, {8192, 8192, 20}, {8192, 8192, 60}};
        break;
      case Preset::sweep:
        for (std::int64_t n : {64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192,
                               12288, 16384, 24576, 32768}) {
          sizes.push_back({n, n, 20});
        }
        break;
    }
    std::vector<Parameters> all;
    for (const Size& s : sizes) {
      all.emplace_back(parameter_specs(),
                       std::map<std::string, std::string>{{"rows", std::to_string(s.rows)},
                                                          {"cols", std::to_string(s.cols)},
                                                          {"steps", std::to_string(s.steps)},
                                                          {"chip", s.chip}});
    }
    return all;
  }

  Work work(const Parameters& p) const override {
    const double cells =
        static_cast<double>(p.integer("rows")) * static_cast<double>(p.integer("cols"));
    const double steps = static_cast<double>(p.integer("steps"));
    Work w;
    // Per cell: the source term once (an FMA); per step two additions and two FMAs, or three where
    // the neighbours weigh differently (kernel.cuh).
    const Coefficients k =
        rounded(exact_coefficients(p.integer("rows"), p.integer("cols"), chip_of(p)));
    w.operations = cells * (2 + (isotropic(k) ? 6 : 8) * steps);
    w.kind = Work::Kind::fp32;
    w.bytes_read = cells * 2 * sizeof(float);
    w.bytes_written = cells * sizeof(float);
    w.dependent_operations = steps;  // centre to centre, one FMA per step
    return w;
  }

  std::int64_t device_bytes(const Parameters& p) const override {
    refuse_overflow(p);
    // temperature, power, result, scratch, and what the result must be.
    return checked_product({p.integer("rows"), pitch_of(p), 5, sizeof(float)},
                           "five grids of rows x cols x 4 bytes");
  }

  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
    return check_references(p, seed);
  }

  void export_outputs(const Parameters& p, Instance& instance) const override {
    if (const std::string& path = p.text("out_file"); !path.empty()) {
      const auto& source = dynamic_cast<const HotspotInstance&>(instance);
      formats::write_grid_file(path, source.right_result().cells);
    }
  }
};

const bool registered = register_app(std::make_unique<Hotspot>());

}  // namespace
}  // namespace amasia::hotspot
