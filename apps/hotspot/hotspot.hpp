// hotspot: the transient temperature of a chip, a 2-D five-point stencil with a source term
// (Rodinia's HotSpot, after Huang et al. 2006). One step over a rows x cols grid, edges clamped:
//
//   for r, c:  N, S, W, E = the neighbours' temperatures, the cell's own T beyond an edge
//     next(r,c) = T + step/Cap * (P(r,c) + (N + S - 2T)/Ry + (W + E - 2T)/Rx + (ambient - T)/Rz)
//   T = next, `steps` times
//
// Every multiplication by a constant is folded into five coefficients, so that a cell costs two
// additions and two fused multiply-adds (kernel.cuh) once its source term is known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/app.hpp"
#include "inputs/random.hpp"
#include "variants/geometry/tile.hpp"

namespace amasia::hotspot {

/// next = centre T + vertical (N + S) + horizontal (W + E) + (power P + ambient), all fp32.
/// Rodinia's literal 2.0 makes its kernel compute in fp64; here no operand is wider than fp32.
struct Coefficients {
  float centre = 0;
  float vertical = 0;
  float horizontal = 0;
  float power = 0;    // kelvin per watt and step
  float ambient = 0;  // kelvin per step
};

/// Do all four neighbours of a cell weigh the same? So with chip=scaled, and with chip=rodinia
/// where rows = cols. Only then may two of them be added before they are weighed.
AMASIA_HD constexpr bool isotropic(const Coefficients& k) { return k.vertical == k.horizontal; }

/// The same in fp64, for the references.
struct ExactCoefficients {
  double centre = 0, vertical = 0, horizontal = 0, power = 0, ambient = 0;
};

/// What a variant works on. Device pointers; all grids have the same extent and pitch.
/// `temperature` and `power` are read only; a run ends with the answer in `result` and may use
/// `scratch` freely.
struct Problem {
  Grid<const float> temperature;  // kelvin, (rows, cols)
  Grid<const float> power;        // watt per cell
  Grid<float> result;
  Grid<float> scratch;
  Coefficients coefficients;
  int steps = 0;
};

/// Size of the simulated chip. `rodinia`: 16 mm square whatever the grid, whose explicit time step
/// is unstable above about 1390 x 1390 cells. `scaled`: cells of 16 mm / 1024, so that the chip
/// grows with the grid and the physics of a cell is that of Rodinia's 1024 x 1024 input.
enum class Chip { scaled, rodinia };

ExactCoefficients exact_coefficients(std::int64_t rows, std::int64_t cols, Chip chip);
Coefficients rounded(const ExactCoefficients& exact);

Chip chip_of(const Parameters& p);
const std::vector<ParameterSpec>& parameter_specs();

/// Generated inputs, cell by cell. Temperatures lie in Rodinia's range [323, 341) K; powers in
/// [0, 0.02) W, high enough that a missing source term exceeds the verification bound in one step.
AMASIA_HD inline float generated_temperature(std::uint64_t seed, std::uint64_t cell) {
  return 323.0f + 18.0f * random_unit(seed, 0, cell);
}
AMASIA_HD inline float generated_power(std::uint64_t seed, std::uint64_t cell) {
  return 0.02f * random_unit(seed, 1, cell);
}

/// The second input of verification: temperatures and powers of both signs that differ by 10^5 from
/// cell to cell. No chip is like that, but the update is linear. Around a mean of zero a field
/// shrinks as it smooths, and its resolution with it, so that what one wrong cell left behind is
/// still within the resolution after many thousand steps.
AMASIA_HD inline float challenging_temperature(std::uint64_t seed, std::uint64_t cell) {
  return 2e5f * (random_unit(seed, 2, cell) - 0.5f);
}
AMASIA_HD inline float challenging_power(std::uint64_t seed, std::uint64_t cell) {
  return 2e4f * (random_unit(seed, 3, cell) - 0.5f);
}

/// Throws UsageError when temperatures can exceed what fp32 holds: the fixed chip is unstable on
/// large grids.
void refuse_overflow(const Parameters& p);

}  // namespace amasia::hotspot
