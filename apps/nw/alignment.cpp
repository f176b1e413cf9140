#include "apps/nw/alignment.hpp"

#include <algorithm>
#include <stdexcept>

namespace amasia::nw {
namespace {

// Scores are fetched for the way back in blocks of about this many.
constexpr std::int64_t fetched_cells = std::int64_t{1} << 24;

}  // namespace

Alignment trace_back(const ScoreSource& source, int penalty) {
  const Sequences& s = source.sequences();
  const std::int64_t rows = source.rows(), cols = source.cols();
  const std::int64_t block_rows = std::max<std::int64_t>(2, fetched_cells / cols);
  std::int64_t first = rows;  // of the fetched rows; none yet
  std::vector<int> fetched;
  const auto score = [&](std::int64_t i, std::int64_t j) -> std::int64_t {
    if (i == 0) return border(j, penalty);
    if (j == 0) return border(i, penalty);
    return fetched[(i - 1 - first) * cols + j - 1];
  };
  Alignment path;
  std::int64_t i = rows, j = cols;
  while (true) {
    // Row i and the one above it are needed: formula row i is interior row i - 1.
    const std::int64_t above = std::max<std::int64_t>(i - 2, 0);
    if (i > 0 && above < first) {
      const std::int64_t end = i;  // interior rows are fetched up to here
      first = std::max<std::int64_t>(0, end - block_rows);
      fetched = source.score_rows(first, end - first);
    }
    if (path.cells.empty()) path.score = score(i, j);
    path.cells.push_back({i, j});
    if (i == 0 && j == 0) return path;
    const std::int64_t here = score(i, j);
    if (i > 0 && j > 0 && here == score(i - 1, j - 1) + s.ref(i - 1, j - 1)) {
      --i, --j;
    } else if (i > 0 && here == score(i - 1, j) - penalty) {
      --i;
    } else if (j > 0 && here == score(i, j - 1) - penalty) {
      --j;
    } else {
      throw std::runtime_error("traceback: no predecessor explains the score of cell (" +
                               std::to_string(i) + ", " + std::to_string(j) + ")");
    }
  }
}

std::int64_t score_of(const Alignment& alignment, const Sequences& s, int penalty) {
  const auto& cells = alignment.cells;
  const Alignment::Cell begin{static_cast<std::int64_t>(s.rows.size()),
                              static_cast<std::int64_t>(s.cols.size())};
  if (cells.empty() || !(cells.front() == begin) || !(cells.back() == Alignment::Cell{0, 0})) {
    throw std::runtime_error("alignment: does not lead from the last cell to the first");
  }
  std::int64_t score = 0;
  for (std::size_t k = 1; k < cells.size(); ++k) {
    const std::int64_t down = cells[k - 1].row - cells[k].row;
    const std::int64_t right = cells[k - 1].col - cells[k].col;
    if (down < 0 || down > 1 || right < 0 || right > 1 || down + right == 0) {
      throw std::runtime_error("alignment: cell " + std::to_string(k) + " is no step");
    }
    score += down + right == 2 ? s.ref(cells[k].row, cells[k].col) : -penalty;
  }
  return score;
}

}  // namespace amasia::nw
