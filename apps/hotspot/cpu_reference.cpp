#include "apps/hotspot/cpu_reference.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "apps/common/max_norm.hpp"
#include "inputs/formats/grid.hpp"

namespace amasia::hotspot {
namespace {

HostGrid read_or_generate(const Parameters& p, std::string_view file, auto&& generate) {
  HostGrid grid{p.integer("rows"), p.integer("cols"), {}};
  if (const std::string& path = p.text(file); !path.empty()) {
    grid.cells = formats::read_grid_file(path, grid.rows, grid.cols);
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
  return {rows, cols, {now.begin(), now.end()}};
}

}  // namespace

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
  return {rows, cols, {now.begin(), now.end()}};
}

double error_bound(int steps, Chip chip) {
  return std::ldexp(8.0, -24) * steps * (chip == Chip::rodinia ? 4 : 1);
}

Verdict compare(const float* got, const HostGrid& expected, double bound) {
  return compare_in_max_norm(
      expected.rows * expected.cols, expected.cols, [&](std::int64_t i) { return got[i]; },
      [&](std::int64_t i) { return expected.cells[i]; }, bound);
}

std::string mismatch(std::int64_t row, std::int64_t column, float got, float expected) {
  return fmt::format("({}, {}): got {:.9g}, expected {:.9g}", row, column, got, expected);
}

Window window_of(int i, int count, std::int64_t rows, std::int64_t cols, std::int64_t edge,
                 int steps, std::uint64_t seed) {
  // Places along a side in thousandths of it: corners, middles of edges, then anywhere.
  constexpr int places[][2] = {{0, 0},   {0, 1000},   {1000, 0}, {1000, 1000},
                               {0, 500}, {1000, 500}, {500, 0},  {500, 1000}};
  const auto place = [&](int axis) {
    constexpr int named = static_cast<int>(std::size(places));
    return i < named ? places[i][axis]
                     : static_cast<int>(random_below(seed, 4, 2 * (i + count) + axis, 1001));
  };
  const auto along = [&](std::int64_t extent, int axis, std::int64_t& first, std::int64_t& size,
                         std::int64_t& inner, std::int64_t& inner_size) {
    inner_size = std::min(edge, extent);
    const std::int64_t begin = (extent - inner_size) / 1000 * place(axis) +
                               (extent - inner_size) % 1000 * place(axis) / 1000;
    first = std::max<std::int64_t>(0, begin - steps);
    size = std::min(extent, begin + inner_size + steps) - first;
    inner = begin - first;
  };
  Window w{};
  along(rows, 0, w.row, w.rows, w.inner_row, w.inner_rows);
  along(cols, 1, w.column, w.cols, w.inner_column, w.inner_cols);
  return w;
}

HostGrid cut(const HostGrid& whole, const Window& window) {
  HostGrid part{window.inner_rows, window.inner_cols, {}};
  for (std::int64_t r = 0; r < part.rows; ++r) {
    const auto row =
        whole.cells.begin() + (window.inner_row + r) * whole.cols + window.inner_column;
    part.cells.insert(part.cells.end(), row, row + part.cols);
  }
  return part;
}

Verdict check_references(const Parameters& p, std::uint64_t seed) {
  const HostGrid temperature = host_temperature(p, seed), power = host_power(p, seed);
  const ExactCoefficients k = exact_coefficients(p.integer("rows"), p.integer("cols"), chip_of(p));
  const int steps = static_cast<int>(p.integer("steps"));
  const HostGrid expected = reference(temperature, power, k, steps);
  const HostGrid second = reference_by_flux(temperature, power, k, steps);
  // Both are fp64 and rounded once: a unit in the last place between them, whatever the steps.
  return compare(second.cells.data(), expected, std::ldexp(1.0, -23));
}

}  // namespace amasia::hotspot
