#include "apps/pathfinder/cpu_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "apps/common/exact.hpp"
#include "apps/pathfinder/input.hpp"

namespace amasia::pathfinder {
namespace {

/// Threads for rows of `cols` cells on a host that shows `processors`. A barrier follows every row
/// and must cost little of it, so a thread has at least 16,384 cells (80 us at 5 ns a cell,
/// measured on one host). Hosts often show more processors than a process may use at one time. A
/// barrier then waits milliseconds for threads that do not run: 10,000 rows of 10,000 took more
/// than two minutes with all of them, and take half a second on one core. So 16 at most.
constexpr int team_size(std::int64_t cols, unsigned processors) {
  constexpr std::int64_t cells_per_thread = 16384, most = 16;
  const std::int64_t limit = std::clamp<std::int64_t>(processors, 1, most);
  return static_cast<int>(std::clamp<std::int64_t>(cols / cells_per_thread, 1, limit));
}

/// next = costs of `row` from `previous`, the costs of the row above.
void advance(const Walls& walls, std::int64_t row, const std::vector<int>& previous,
             std::vector<int>& next) {
  const std::int64_t cols = walls.cols;
#pragma omp for schedule(static)
  for (std::int64_t j = 0; j < cols; ++j) {
    const int left = previous[j > 0 ? j - 1 : j];
    const int right = previous[j + 1 < cols ? j + 1 : j];
    next[j] = walls.height(row, j) + std::min(previous[j], std::min(left, right));
  }
}

/// Costs of rows first ... last, given the costs of row `first`, handed to `visit(row, costs)`.
template <class Visit>
void walk_rows(const Walls& walls, std::int64_t first, std::int64_t last, std::vector<int>& costs,
               Visit visit) {
  std::vector<int> other(costs.size());
  [[maybe_unused]] const int team = team_size(walls.cols, std::thread::hardware_concurrency());
#pragma omp parallel num_threads(team)
  {
    for (std::int64_t row = first + 1; row <= last; ++row) {
      advance(walls, row, costs, other);
#pragma omp single
      {
        costs.swap(other);
        visit(row, costs);
      }
    }
  }
}

std::vector<int> first_row(const Walls& walls) {
  std::vector<int> costs(static_cast<std::size_t>(walls.cols));
  for (std::int64_t j = 0; j < walls.cols; ++j) costs[j] = walls.height(0, j);
  return costs;
}

}  // namespace

std::vector<int> last_row_costs(const Walls& walls) {
  std::vector<int> costs = first_row(walls);
  walk_rows(walls, 0, walls.rows - 1, costs, [](std::int64_t, const std::vector<int>&) {});
  return costs;
}

std::vector<int> last_row_costs_by_relaxation(const Walls& walls) {
  constexpr std::int64_t unreached = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> here(static_cast<std::size_t>(walls.cols), 0);
  for (std::int64_t row = 0; row + 1 < walls.rows; ++row) {
    std::vector<std::int64_t> below(static_cast<std::size_t>(walls.cols), unreached);
    for (std::int64_t j = 0; j < walls.cols; ++j) {
      const std::int64_t left = here[j] + walls.height(row, j);
      const std::int64_t last = std::min(j + 1, walls.cols - 1);
      for (std::int64_t to = std::max<std::int64_t>(j - 1, 0); to <= last; ++to) {
        below[to] = std::min(below[to], left);  // no branch, which random walls would mispredict
      }
    }
    here.swap(below);
  }
  std::vector<int> costs(static_cast<std::size_t>(walls.cols));
  for (std::int64_t j = 0; j < walls.cols; ++j) {
    costs[j] = static_cast<int>(here[j] + walls.height(walls.rows - 1, j));
  }
  return costs;
}

Verdict compare(const std::vector<int>& got, const std::vector<int>& expected) {
  Verdict verdict;
  compare_exactly<int>(verdict, got, expected,
                       [](std::size_t j) { return "column " + std::to_string(j); });
  verdict.passed = verdict.passed && got.size() == expected.size();
  return verdict;
}

Path cheapest_path(const Walls& walls) {
  const std::int64_t rows = walls.rows, cols = walls.cols;
  const std::int64_t spacing =
      std::max<std::int64_t>(1, std::llround(std::sqrt(static_cast<double>(rows))));
  std::vector<std::vector<int>> kept;  // costs of rows 0, spacing, 2 * spacing, ...
  std::vector<int> costs = first_row(walls);
  kept.push_back(costs);
  walk_rows(walls, 0, rows - 1, costs, [&](std::int64_t row, const std::vector<int>& at) {
    if (row % spacing == 0) kept.push_back(at);
  });

  Path path;
  path.column.resize(static_cast<std::size_t>(rows));
  std::int64_t column = std::min_element(costs.begin(), costs.end()) - costs.begin();
  path.cost = costs[column];
  path.column[rows - 1] = column;
  std::int64_t last = rows - 1;  // the path is known from here down
  for (auto checkpoint = kept.size(); checkpoint-- > 0;) {
    const std::int64_t first = static_cast<std::int64_t>(checkpoint) * spacing;
    std::vector<std::vector<int>> block{kept[checkpoint]};  // costs of rows first ... last - 1
    std::vector<int> at = kept[checkpoint];
    walk_rows(walls, first, last - 1, at,
              [&](std::int64_t, const std::vector<int>& row) { block.push_back(row); });
    for (std::int64_t row = last - 1; row >= first; --row) {
      const std::vector<int>& above = block[row - first];
      std::int64_t best = std::max<std::int64_t>(column - 1, 0);
      for (std::int64_t j = best + 1; j <= std::min(column + 1, cols - 1); ++j) {
        if (above[j] < above[best]) best = j;
      }
      column = best;
      path.column[row] = column;
    }
    last = first;
  }
  return path;
}

/// Columns of a challenge on which the references are compared with each other: a corridor runs at
/// most half of long_run to either side, so most of them stay away from the edges. More columns
/// would repeat what these have, at 17 times the cost of the timed input.
constexpr std::int64_t widest_challenge = 4 * long_run;

Verdict check_references(const Parameters& p, std::uint64_t seed) {
  const InputWalls input(p, seed);
  Walls walls = input.walls();
  const std::vector<int> second = last_row_costs_by_relaxation(walls);
  Verdict verdict = compare(last_row_costs(walls), second);
  // A path whose own cells add up to the least cost closes the circle.
  const Path path = cheapest_path(walls);
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < walls.rows; ++i) sum += walls.height(i, path.column[i]);
  if (sum != path.cost || path.cost != *std::min_element(second.begin(), second.end())) {
    verdict.passed = false;
    verdict.first_mismatches.push_back("cheapest path: its cells add up to " + std::to_string(sum) +
                                       ", its cost is " + std::to_string(path.cost));
  }
  walls.cols = std::min(walls.cols, widest_challenge);
  const int challenges = challenges_of(walls.rows);
  for (walls.challenge = 1; walls.challenge <= challenges && verdict.passed; ++walls.challenge) {
    const Verdict of_challenge =
        compare(last_row_costs(walls), last_row_costs_by_relaxation(walls));
    if (!of_challenge.passed) verdict = of_challenge;
  }
  return verdict;
}

}  // namespace amasia::pathfinder
