// The app as the harness sees it, and its CPU references.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "apps/hotspot/grid_file.hpp"
#include "apps/hotspot/hotspot.hpp"
#include "inputs/random.hpp"
#include "variants/geometry/tile.cuh"

namespace amasia::hotspot {
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

HostGrid read_or_generate(const Parameters& p, std::string_view file, auto&& generate) {
  HostGrid grid{p.integer("rows"), p.integer("cols"), {}};
  if (const std::string& path = p.text(file); !path.empty()) {
    grid.cells = read_grid_file(path, grid.rows, grid.cols);
    return grid;
  }
  grid.cells.resize(checked_product({grid.rows, grid.cols}, "rows x cols"));
#pragma omp parallel for
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(grid.cells.size()); ++i) {
    grid.cells[i] = generate(static_cast<std::uint64_t>(i));
  }
  return grid;
}

// The second reference, built the other way round: not cell by cell from its neighbours but edge by
// edge, as heat that flows from the warmer of two cells to the other. Heat leaves no cell through
// the edge of the chip because no edge is there to carry it, so clamping is implied rather than
// coded.
HostGrid reference_by_flux(const HostGrid& temperature, const HostGrid& power,
                           const ExactCoefficients& k, int steps) {
  const std::int64_t rows = temperature.rows, cols = temperature.cols;
  std::vector<double> now(temperature.cells.begin(), temperature.cells.end());
  const double to_ambient = 1 - k.centre - 2 * k.vertical - 2 * k.horizontal;  // step / (Cap Rz)
  std::vector<double> gain(now.size());
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      gain[i] = k.power * power.cells[i] + k.ambient - to_ambient * now[i];
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        const std::int64_t i = r * cols + c;
        if (c + 1 < cols) {
          const double flow = k.horizontal * (now[i] - now[i + 1]);
          gain[i] -= flow;
          gain[i + 1] += flow;
        }
        if (r + 1 < rows) {
          const double flow = k.vertical * (now[i] - now[i + cols]);
          gain[i] -= flow;
          gain[i + cols] += flow;
        }
      }
    }
    for (std::size_t i = 0; i < now.size(); ++i) now[i] += gain[i];
  }
  HostGrid result{rows, cols, {}};
  result.cells.assign(now.begin(), now.end());
  return result;
}

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
        // passes.
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
                 {33, 2049, 4},  {1021, 509, 5, "rodinia"}};
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
    // Per cell: the source term once (an FMA); per step one addition and four FMAs.
    w.operations = cells * (2 + 9 * steps);
    w.kind = Work::Kind::fp32;
    w.bytes_read = cells * 2 * sizeof(float);
    w.bytes_written = cells * sizeof(float);
    w.dependent_operations = steps;  // centre to centre, one FMA per step
    return w;
  }

  std::int64_t device_bytes(const Parameters& p) const override {
    // temperature, power, result, scratch, and one more grid for a reference computed on the
    // device.
    return checked_product({p.integer("rows"), pitch_of(p), 5, sizeof(float)},
                           "five grids of rows x cols x 4 bytes");
  }

  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
    const HostGrid temperature = host_temperature(p, seed), power = host_power(p, seed);
    const ExactCoefficients k =
        exact_coefficients(p.integer("rows"), p.integer("cols"), chip_of(p));
    const int steps = static_cast<int>(p.integer("steps"));
    const HostGrid expected = reference(temperature, power, k, steps);
    const HostGrid second = reference_by_flux(temperature, power, k, steps);
    // Both are fp64 and rounded once: a unit in the last place between them, whatever the steps.
    return compare(second.cells.data(), second.cols, expected, std::ldexp(1.0, -23));
  }

  void export_outputs(const Parameters& p, Instance& instance) const override {
    if (const std::string& path = p.text("out_file"); !path.empty()) {
      write_grid_file(path, dynamic_cast<const HotspotInstance&>(instance).download_result().cells);
    }
  }
};

const bool registered = register_app(std::make_unique<Hotspot>());

}  // namespace

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
       "where to write the final temperatures (default: nowhere)",
       "",
       1,
       1,
       {}}};
  return specs;
}

Chip chip_of(const Parameters& p) {
  return p.text("chip") == "rodinia" ? Chip::rodinia : Chip::scaled;
}

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

Coefficients rounded(const ExactCoefficients& k) {
  return {static_cast<float>(k.centre), static_cast<float>(k.vertical),
          static_cast<float>(k.horizontal), static_cast<float>(k.power),
          static_cast<float>(k.ambient)};
}

HostGrid host_temperature(const Parameters& p, std::uint64_t seed) {
  return read_or_generate(p, "temp_file",
                          [seed](std::uint64_t i) { return generated_temperature(seed, i); });
}

HostGrid host_power(const Parameters& p, std::uint64_t seed) {
  return read_or_generate(p, "power_file",
                          [seed](std::uint64_t i) { return generated_power(seed, i); });
}

HostGrid reference(const HostGrid& temperature, const HostGrid& power, const ExactCoefficients& k,
                   int steps) {
  const std::int64_t rows = temperature.rows, cols = temperature.cols;
  std::vector<double> now(temperature.cells.begin(), temperature.cells.end());
  std::vector<double> next(now.size());
  for (int step = 0; step < steps; ++step) {
#pragma omp parallel for
    for (std::int64_t r = 0; r < rows; ++r) {
      const double* own = now.data() + r * cols;
      const double* north = r > 0 ? own - cols : own;
      const double* south = r < rows - 1 ? own + cols : own;
      for (std::int64_t c = 0; c < cols; ++c) {
        const double west = own[c > 0 ? c - 1 : c], east = own[c < cols - 1 ? c + 1 : c];
        next[r * cols + c] = k.centre * own[c] + k.vertical * (north[c] + south[c]) +
                             k.horizontal * (west + east) + k.power * power.cells[r * cols + c] +
                             k.ambient;
      }
    }
    now.swap(next);
  }
  HostGrid result{rows, cols, {}};
  result.cells.assign(now.begin(), now.end());
  return result;
}

double error_bound(int steps, Chip chip) {
  return std::ldexp(8.0, -24) * steps * (chip == Chip::rodinia ? 4 : 1);
}

Verdict compare(const float* got, std::int64_t pitch, const HostGrid& expected, double bound) {
  double largest = 0, largest_error = 0;
  const std::int64_t rows = expected.rows, cols = expected.cols;
#pragma omp parallel for reduction(max : largest)
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(expected.cells[i])));
  }
  const double allowed = bound * largest;
  const auto wrong = [&](double value, double reference) {
    return !(std::abs(value - reference) <= allowed);  // NaN and infinity are wrong, too
  };
  std::int64_t mismatches = 0;
#pragma omp parallel for reduction(max : largest_error) reduction(+ : mismatches)
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) {
      const double value = got[r * pitch + c], reference = expected.cells[r * cols + c];
      const double error = std::isfinite(value) ? std::abs(value - reference)
                                                : std::numeric_limits<double>::infinity();
      largest_error = std::max(largest_error, error);
      mismatches += wrong(value, reference);
    }
  }
  Verdict verdict;
  verdict.norm = "max abs error / max abs reference";
  verdict.error = largest > 0 ? largest_error / largest : largest_error;
  verdict.bound = bound;
  verdict.checked = rows * cols;
  verdict.mismatches = mismatches;
  verdict.passed = mismatches == 0;
  for (std::int64_t r = 0; r < rows && mismatches > 0 && verdict.first_mismatches.size() < 5; ++r) {
    for (std::int64_t c = 0; c < cols && verdict.first_mismatches.size() < 5; ++c) {
      const float value = got[r * pitch + c], reference = expected.cells[r * cols + c];
      if (wrong(value, reference)) {
        verdict.first_mismatches.push_back(
            fmt::format("({}, {}): got {:.9g}, expected {:.9g}", r, c, value, reference));
      }
    }
  }
  return verdict;
}

}  // namespace amasia::hotspot
