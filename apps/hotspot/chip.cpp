// The five coefficients of a step, from the chip and its material.
#include "apps/hotspot/hotspot.hpp"

#include <cmath>
#include <string>

#include "harness/errors.hpp"

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

}  // namespace amasia::hotspot
