#include "apps/nw/scores.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "inputs/errors.hpp"
#include "inputs/formats/text_writer.hpp"

namespace amasia::nw {
namespace {

// Scores are fetched from the device in blocks of about this many.
constexpr std::int64_t fetched_scores = std::int64_t{1} << 24;

}  // namespace

Alignment trace_back(const ScoreSource& source, int penalty) {
  const Sequences& s = source.sequences();
  const std::int64_t rows = source.rows(), cols = source.cols();
  const std::int64_t block_rows = std::max<std::int64_t>(2, fetched_scores / cols);
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

void check_output_file(const std::string& parameter, const std::string& path) {
  if (path.empty()) return;
  namespace fs = std::filesystem;
  std::error_code ignored;
  const std::string what = "parameter " + parameter + ": '" + path + "' ";
  if (fs::is_directory(path, ignored)) throw UsageError(what + "is a folder");
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, ignored)) {
    throw UsageError(what + "lies in a folder that does not exist");
  }
  const bool exists = fs::exists(path, ignored);
  if (::access(exists ? path.c_str() : folder.c_str(), W_OK) != 0) {
    throw UsageError(what + "cannot be written");
  }
}

void check_score_file(const std::string& path, std::int64_t rows, std::int64_t cols) {
  if (path.empty()) return;
  if (rows + 1 > most_scores_written / (cols + 1)) {
    throw UsageError("parameter out_file: " + std::to_string(rows) + " x " + std::to_string(cols) +
                     " scores are too many for a text file, at most " +
                     std::to_string(most_scores_written) + " are written");
  }
  check_output_file("out_file", path);
}

void write_scores(const std::string& path, const ScoreSource& source, int penalty) {
  const std::int64_t rows = source.rows(), cols = source.cols();
  check_score_file(path, rows, cols);
  formats::TextWriter file(path);
  const auto behind = [cols](std::int64_t column) { return column == cols ? '\n' : ' '; };
  for (std::int64_t j = 0; j <= cols; ++j) file.number(std::int64_t{border(j, penalty)}, behind(j));
  const std::int64_t block = std::max<std::int64_t>(1, fetched_scores / cols);
  for (std::int64_t first = 0; first < rows; first += block) {
    const std::int64_t count = std::min(block, rows - first);
    const std::vector<int> scores = source.score_rows(first, count);
    for (std::int64_t r = 0; r < count; ++r) {
      file.number(std::int64_t{border(first + r + 1, penalty)}, behind(0));
      for (std::int64_t c = 0; c < cols; ++c) {
        file.number(std::int64_t{scores[r * cols + c]}, behind(c + 1));
      }
    }
  }
  file.finish();
}

}  // namespace amasia::nw
