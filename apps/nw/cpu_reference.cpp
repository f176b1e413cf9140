#include "apps/nw/cpu_reference.hpp"

#include <algorithm>
#include <limits>

#include "apps/common/exact.hpp"
#include "apps/nw/scores.hpp"

namespace amasia::nw {

std::vector<int> border_row(std::int64_t cols, int penalty) {
  std::vector<int> row(static_cast<std::size_t>(cols));
  for (std::int64_t c = 0; c < cols; ++c) row[c] = border(c + 1, penalty);
  return row;
}

void advance_row(const Sequences& s, std::int64_t r, int penalty, std::vector<int>& row) {
  const signed char* ref = blosum62.score[s.rows[r]];
  int north_west = border(r, penalty);
  int west = border(r + 1, penalty);
  for (std::size_t c = 0; c < row.size(); ++c) {
    const int north = row[c];
    west = std::max(north_west + ref[s.cols[c]], std::max(west, north) - penalty);
    row[c] = west;
    north_west = north;
  }
}

std::vector<std::int64_t> scores_by_relaxation(const Sequences& s, int penalty) {
  const auto rows = static_cast<std::int64_t>(s.rows.size());
  const auto cols = static_cast<std::int64_t>(s.cols.size());
  const std::int64_t pitch = cols + 1;
  std::vector<std::int64_t> score((rows + 1) * pitch, std::numeric_limits<std::int64_t>::min());
  score[0] = 0;
  for (std::int64_t j = 0; j <= cols; ++j) {
    for (std::int64_t i = 0; i <= rows; ++i) {
      const std::int64_t from = score[i * pitch + j];
      const auto offer = [&](std::int64_t r, std::int64_t c, std::int64_t gain) {
        if (r <= rows && c <= cols) {
          score[r * pitch + c] = std::max(score[r * pitch + c], from + gain);
        }
      };
      offer(i + 1, j, -penalty);
      offer(i, j + 1, -penalty);
      if (i < rows && j < cols) offer(i + 1, j + 1, s.ref(i, j));
    }
  }
  std::vector<std::int64_t> interior;
  interior.reserve(rows * cols);
  for (std::int64_t i = 1; i <= rows; ++i) {
    interior.insert(interior.end(), score.begin() + i * pitch + 1, score.begin() + (i + 1) * pitch);
  }
  return interior;
}

void compare_row(const int* got, const std::vector<int>& expected, std::int64_t row,
                 Verdict& verdict) {
  compare_exactly<int>(verdict, {got, expected.size()}, expected, [row](std::size_t c) {
    return "row " + std::to_string(row) + ", column " + std::to_string(c);
  });
}

Verdict check_references(const Parameters& p, std::uint64_t seed) {
  const std::int64_t rows = p.integer("rows"), cols = p.integer("cols");
  const int penalty = static_cast<int>(p.integer("penalty"));
  check_range(rows, cols, penalty);

  // The alignment is found in these scores, as it is in those of a device.
  struct Host : ScoreSource {
    Sequences letters;
    std::vector<int> score;
    std::int64_t rows() const override { return static_cast<std::int64_t>(letters.rows.size()); }
    std::int64_t cols() const override { return static_cast<std::int64_t>(letters.cols.size()); }
    std::vector<int> score_rows(std::int64_t first, std::int64_t count) const override {
      return {score.begin() + first * cols(), score.begin() + (first + count) * cols()};
    }
    const Sequences& sequences() const override { return letters; }
  } host;
  host.letters = sequences_of(p, seed);

  const std::vector<std::int64_t> second = scores_by_relaxation(host.letters, penalty);
  Verdict verdict;
  std::vector<int> row = border_row(cols, penalty);
  for (std::int64_t r = 0; r < rows; ++r) {
    advance_row(host.letters, r, penalty, row);
    host.score.insert(host.score.end(), row.begin(), row.end());
    std::vector<int> expected(static_cast<std::size_t>(cols));
    for (std::int64_t c = 0; c < cols; ++c) {
      expected[c] = static_cast<int>(second[r * cols + c]);
    }
    compare_row(row.data(), expected, r, verdict);
  }
  const Alignment path = trace_back(host, penalty);
  const std::int64_t sum = score_of(path, host.letters, penalty);
  if (sum != path.score || sum != second.back()) {
    verdict.passed = false;
    verdict.first_mismatches.push_back("alignment: its steps add up to " + std::to_string(sum) +
                                       ", the score is " + std::to_string(path.score));
  }
  return verdict;
}

}  // namespace amasia::nw
