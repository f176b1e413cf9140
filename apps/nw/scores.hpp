// The scores of a run as the host gets them, and what is made of them: an optimal alignment, a text
// file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/nw/nw.hpp"

namespace amasia::nw {

/// The scores of the last run, and what they are scores of.
class ScoreSource {
 public:
  virtual ~ScoreSource() = default;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t cols() const = 0;
  /// Interior rows first ... first + count - 1 of the last run, dense.
  virtual std::vector<int> score_rows(std::int64_t first, std::int64_t count) const = 0;
  virtual const Sequences& sequences() const = 0;
};

/// An optimal alignment: cells from (rows, cols) back to (0, 0), numbered as in nw.hpp.
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

/// 16384 x 16384 scores are 2 GB of text and take half a minute; beyond a few more a file is of no
/// use to anybody.
inline constexpr std::int64_t most_scores_written = 300'000'000;

/// Throws UsageError, one line, where write_scores() would refuse this many or could not create the
/// file. Creates nothing.
void check_score_file(const std::string& path, std::int64_t rows, std::int64_t cols);

/// Throws UsageError, one line, where a file of this name cannot be created. `parameter` names it.
void check_output_file(const std::string& parameter, const std::string& path);

/// Writes the matrix as text, for comparing with other programs: rows + 1 lines of cols + 1
/// integers, separated by one blank each. Line i (from 0) has score(i, 0), score(i, 1), ...,
/// score(i, cols) of the recurrence in nw.hpp, borders included. Throws UsageError when the file
/// cannot be written completely.
void write_scores(const std::string& path, const ScoreSource& source, int penalty);

}  // namespace amasia::nw
