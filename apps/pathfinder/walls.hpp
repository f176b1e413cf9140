// The inputs of pathfinder: the walls that are timed, and those that are posed beside them because
// every single cell counts on them.
//
// Minima hide errors: on random walls hardly one cell in 400 lies on a cheapest path. A challenge
// is a grid of corridors. A cell on a corridor is open (1 ... open_wall), every other cell is a
// barrier higher than all open cells of a corridor together. So the cheapest way to a corridor's
// end is the corridor, each of its cells adds to the result, and each step down counts as the one
// of the three neighbours that it comes from.
//
// Corridors lie 3 columns apart and move sideways together; from one cell of a corridor no cell of
// another one can be reached. The challenges are:
//   1 ... 9    Corridors that swing by one column. Row by row, three patterns come from the left,
//              from above and from the right in turn, and each starts in columns 0, 1 or 2 of
//              three. So every cell is open, and entered from each neighbour, in exactly one of the
//              nine.
//   10 ... 17  Corridors that run far to the right and far to the left, so that costs cross from
//              strip to strip. What an exchange missed gets into the strip and stays there. Runs
//              have two lengths, each in four positions, so any row is inside some run.
#pragma once

#include <cstdint>

#include "apps/pathfinder/pathfinder.hpp"
#include "inputs/random.hpp"

namespace amasia::pathfinder {

inline constexpr int swings = 9, runs_per_length = 4;
/// Rows of a run. Exchanges inside a group are up to 112 rows apart, those between groups up to
/// 360.
inline constexpr std::int64_t short_run = 96, long_run = 768;

/// The generated height of cell (row, column): element row * cols + column of random stream 0.
AMASIA_HD constexpr int wall_height(std::uint64_t seed, std::int64_t cols, std::int64_t row,
                                    std::int64_t column) {
  return static_cast<int>(
      random_below(seed, 0, static_cast<std::uint64_t>(row * cols + column), highest_wall + 1));
}

/// How far to the side corridors of a challenge are in `row`.
AMASIA_HD constexpr std::int64_t displacement(int challenge, std::int64_t row) {
  if (challenge <= swings) {
    // Row by row, the moves of the three patterns are a permutation of left, down and right.
    constexpr int patterns[3][6] = {{0, 1, 0, 0, 0, 1}, {0, -1, 0, 1, 0, 0}, {0, 0, 0, -1, 0, -1}};
    return patterns[(challenge - 1) / 3][row % 6];
  }
  const int run = challenge - 1 - swings;
  const std::int64_t length = run < runs_per_length ? short_run : long_run;
  const std::int64_t at = (row + run % runs_per_length * (length / 2)) % (2 * length);
  return (at < length ? at : 2 * length - at) - length / 2;
}

/// Does a corridor of the challenge go through the cell? Corridors start at column `phase` modulo
/// 3, those of long runs also beyond the grid; one that is outside waits at the edge. So no row is
/// without corridors, and no path need cross more than a few barriers.
AMASIA_HD constexpr bool is_open(int challenge, std::int64_t cols, std::int64_t row,
                                 std::int64_t column) {
  const std::int64_t phase = (challenge - 1) % 3 % (cols < 3 ? cols : 3);
  const std::int64_t moved = displacement(challenge, row);
  const std::int64_t start = column - moved;
  if (challenge > swings) {
    return column == 0 || column == cols - 1 || (start - phase) % 3 == 0;
  }
  if (start >= 0 && start < cols && start % 3 == phase) return true;
  if (column == 0 && moved < 0) return phase < -moved;
  if (column == cols - 1 && moved > 0) {
    return cols - 1 - (cols - 1 - phase) % 3 >= cols - moved;  // the last corridor
  }
  return false;
}

/// The highest open wall of a challenge; 0 when there are so many rows that a corridor would not be
/// cheaper than a barrier.
AMASIA_HD constexpr int open_wall(std::int64_t rows) {
  const std::int64_t most = (outside_wall - 1) / rows;
  return static_cast<int>(most < 4095 ? most : 4095);
}

/// The walls of an input, wherever they are computed: generated from a seed, read from a file
/// (row-major, without a pad), or a challenge.
struct Walls {
  std::int64_t rows = 0, cols = 0;
  std::uint64_t seed = 0;
  int challenge = 0;  // 0: the timed input
  const int* given = nullptr;

  AMASIA_HD int height(std::int64_t row, std::int64_t column) const {
    const std::int64_t cell = row * cols + column;
    if (challenge == 0) {
      return given != nullptr ? given[cell] : wall_height(seed, cols, row, column);
    }
    if (!is_open(challenge, cols, row, column)) return outside_wall;
    return 1 + static_cast<int>(random_below(seed, static_cast<std::uint64_t>(challenge),
                                             static_cast<std::uint64_t>(cell),
                                             static_cast<std::uint32_t>(open_wall(rows))));
  }
};

/// How many challenges a grid has.
constexpr int challenges_of(std::int64_t rows) {
  return open_wall(rows) > 0 ? swings + 2 * runs_per_length : 0;
}

}  // namespace amasia::pathfinder
