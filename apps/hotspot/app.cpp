// hotspot as the harness sees it: parameters, sizes, work; and the coefficients of a step, from the
// chip and its material.
#include <cmath>
#include <memory>
#include <string>

#include "apps/common/parameters.hpp"
#include "apps/hotspot/cpu_reference.hpp"
#include "apps/hotspot/hotspot.hpp"
#include "apps/hotspot/schedules.hpp"
#include "harness/errors.hpp"
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
      choice(
          "chip",
          "'scaled': cells of 16 mm / 1024, stable at any size; 'rodinia': a 16 mm chip whatever "
          "the grid, unstable above about 1390 x 1390",
          "scaled", {"scaled", "rodinia"}),
      {"temp_file", Kind::file,
       "initial temperatures in Rodinia's text format (default: generated)", ""},
      {"power_file", Kind::file, "power per cell in Rodinia's text format (default: generated)",
       ""},
      {"out_file", Kind::file,
       "where to write the final temperatures of a run that was right (default: nowhere)", ""}};
  return specs;
}

Chip chip_of(const Parameters& p) {
  return p.text("chip") == "rodinia" ? Chip::rodinia : Chip::scaled;
}

namespace {

// Rodinia's chip and material (hotspot.h of Rodinia 3.1; Huang et al. 2006).
constexpr double chip_edge = 0.016;              // m
constexpr double chip_thickness = 0.0005;        // m
constexpr double capacitance_factor = 0.5;       // fitting factor of the lumped model
constexpr double specific_heat = 1.75e6;         // J / (m^3 K)
constexpr double conductivity = 100;             // W / (m K), silicon
constexpr double largest_power_density = 3.0e6;  // W / m^2
constexpr double precision = 0.001;              // K per step at that density: sets the time step
constexpr double ambient_temperature = 80;       // as in Rodinia, beside inputs in kelvin
constexpr double cells_of_rodinia = 1024;        // per side, of its standard input

}  // namespace

ExactCoefficients exact_coefficients(std::int64_t rows, std::int64_t cols, Chip chip) {
  const double cell_height =
      chip_edge / (chip == Chip::rodinia ? static_cast<double>(rows) : cells_of_rodinia);
  const double cell_width =
      chip_edge / (chip == Chip::rodinia ? static_cast<double>(cols) : cells_of_rodinia);
  const double capacitance =
      capacitance_factor * specific_heat * chip_thickness * cell_width * cell_height;
  const double rx = cell_width / (2 * conductivity * chip_thickness * cell_height);
  const double ry = cell_height / (2 * conductivity * chip_thickness * cell_width);
  const double rz = chip_thickness / (conductivity * cell_height * cell_width);
  const double steepest =
      largest_power_density / (capacitance_factor * chip_thickness * specific_heat);
  const double step = precision / steepest;
  const double rate = step / capacitance;
  return {1 - rate * (2 / ry + 2 / rx + 1 / rz), rate / ry, rate / rx, rate,
          rate * ambient_temperature / rz};
}

void refuse_overflow(const Parameters& p) {
  const ExactCoefficients k = exact_coefficients(p.integer("rows"), p.integer("cols"), chip_of(p));
  const double growth = std::abs(k.centre) + 2 * k.vertical + 2 * k.horizontal;  // at most, a step
  constexpr double most_doublings = 100;  // fp32 ends at 2^128, verification starts at 2^17
  if (growth > 1 && std::log2(growth) * static_cast<double>(p.integer("steps")) > most_doublings) {
    throw UsageError("chip=rodinia is unstable at rows=" + p.text("rows") +
                     ",cols=" + p.text("cols") + ": " + p.text("steps") +
                     " steps exceed fp32; take fewer steps, a smaller grid, or chip=scaled");
  }
}

Coefficients rounded(const ExactCoefficients& exact) {
  return {static_cast<float>(exact.centre), static_cast<float>(exact.vertical),
          static_cast<float>(exact.horizontal), static_cast<float>(exact.power),
          static_cast<float>(exact.ambient)};
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
    for (const auto& [rows, cols, steps, chip] : sizes) {
      all.push_back(size_of(parameter_specs(),
                            {{"rows", rows}, {"cols", cols}, {"steps", steps}, {"chip", chip}}));
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
