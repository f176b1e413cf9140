// The way back: an optimal alignment out of a matrix of scores.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/nw/instance.hpp"
#include "apps/nw/sequences.hpp"

namespace amasia::nw {

/// An optimal alignment: cells from (rows, cols) back to (0, 0), numbered as in the formula above.
struct Alignment {
  struct Cell {
    std::int64_t row, col;
    friend bool operator==(const Cell& a, const Cell& b) {
      return a.row == b.row && a.col == b.col;
    }
  };
  std::vector<Cell> cells;
  std::int64_t score = 0;
};

/// Walks back through the scores; ties go to the diagonal, then up. Throws std::runtime_error where
/// no predecessor explains a score.
Alignment trace_back(const ScoreSource& source, int penalty);

/// The score of an alignment, from its cells and the sequences alone. Throws std::runtime_error
/// when it is no path of single steps from (rows, cols) to (0, 0).
std::int64_t score_of(const Alignment& alignment, const Sequences& s, int penalty);

}  // namespace amasia::nw
