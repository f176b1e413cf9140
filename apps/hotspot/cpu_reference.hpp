// The inputs of hotspot on the host, its CPU references, two of them, how a result is judged by
// them, and what the device instance hands to the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/hotspot/hotspot.hpp"

namespace amasia::hotspot {

/// Host copy of one grid, dense (pitch = cols).
struct HostGrid {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<float> cells;
};

/// The inputs of a problem on the host: generated from the seed, or read from the files that the
/// parameters name. Throws UsageError for a bad file.
HostGrid host_temperature(const Parameters& p, std::uint64_t seed);
HostGrid host_power(const Parameters& p, std::uint64_t seed);

/// The reference: Rodinia's formula in fp64, rounded to fp32 at the end. OpenMP over rows.
HostGrid reference(const HostGrid& temperature, const HostGrid& power, const ExactCoefficients& k,
                   int steps);

/// Largest accepted (max abs error) / (max abs reference). One fp32 step rounds three coefficients
/// and five results, each by at most 2^-24 of a value no larger than the largest temperature: 8
/// units per step, and they add up at worst. The unstable fixed chip amplifies an error as much as
/// the roughness of the input, but starts from less of the latter than of the temperatures
/// themselves: 4 times the allowance (measured, 5 steps at 4096 x 4096: 0.6 times).
double error_bound(int steps, Chip chip);

/// Compares `got` with the reference, cell by cell. Any non-finite element is a mismatch.
Verdict compare(const float* got, const HostGrid& expected, double bound);

/// One line of Verdict::first_mismatches.
std::string mismatch(std::int64_t row, std::int64_t column, float got, float expected);

/// A part of a grid that the CPU can advance alone: `inner_rows` x `inner_cols` cells, and
/// around them a halo of as many cells as there are steps, or up to the edge of the grid.
struct Window {
  std::int64_t row, column, rows, cols;                          // in the grid
  std::int64_t inner_row, inner_column, inner_rows, inner_cols;  // in the window
};

/// Window i of `count`: the first four in the corners of the grid, four at the middle of its edges,
/// the others anywhere.
Window window_of(int i, int count, std::int64_t rows, std::int64_t cols, std::int64_t edge,
                 int steps, std::uint64_t seed);

/// The inner cells of a window.
HostGrid cut(const HostGrid& whole, const Window& window);

/// The instance behind the app's own exports: the harness sees InstanceOf<Problem> only.
class HotspotInstance : public InstanceOf<Problem> {
 public:
  /// What the first run that passed verification computed of the timed input; all that pass compute
  /// the same bits. Kept only where the parameters name an out_file. Throws std::runtime_error when
  /// no run has passed.
  virtual const HostGrid& right_result() const = 0;
};

/// The verdict of comparing the two references with each other, which `verify --reference` reports.
Verdict check_references(const Parameters& p, std::uint64_t seed);

}  // namespace amasia::hotspot
