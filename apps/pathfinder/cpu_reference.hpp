// The CPU references of pathfinder, two of them, the way back through the grid, and how a result is
// judged by them.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/pathfinder/walls.hpp"

namespace amasia::pathfinder {

/// The last row of costs, (cols): row by row, OpenMP inside a row. rows, cols >= 1.
std::vector<int> last_row_costs(const Walls& walls);

/// The same by another route: shortest paths in a layered graph, every cell pushing its cost along
/// its three outgoing edges instead of pulling along the incoming ones. Serial, in 64 bits; for
/// checking the reference.
std::vector<int> last_row_costs_by_relaxation(const Walls& walls);

/// Exact comparison of two last rows.
Verdict compare(const std::vector<int>& got, const std::vector<int>& expected);

/// A cheapest path: column[i] is the column in row i, cost the sum of the walls on it. Ties go to
/// the leftmost column. Costs of every sqrt(rows)-th row are kept and the rows between computed
/// again on the way back: O(cols * sqrt(rows)) memory, twice the work of the reference.
struct Path {
  std::vector<std::int64_t> column;
  std::int64_t cost = 0;
};
Path cheapest_path(const Walls& walls);

/// The verdict of comparing the two references with each other, which `verify --reference` reports:
/// on the timed input, and on the first 3072 columns of every challenge. It counts the values of
/// the timed input.
Verdict check_references(const Parameters& p, std::uint64_t seed);

}  // namespace amasia::pathfinder
