// nw: global alignment of two sequences with a linear gap penalty (Needleman-Wunsch, as in
// Rodinia).
//
//   score(0, 0) = 0, score(i, 0) = -i * penalty, score(0, j) = -j * penalty
//   for i in 1 .. rows, for j in 1 .. cols
//     score(i, j) = max(score(i-1, j-1) + ref(i, j), score(i, j-1) - penalty, score(i-1, j) -
//     penalty)
//   ref(i, j) = BLOSUM62[letter i of the row sequence][letter j of the column sequence]
//
// As in Rodinia, `ref` is a matrix in memory, not looked up on the way: eight bytes move per cell,
// and a cell waits for three neighbours. Bound by memory if the wavefront is wide enough, else by
// it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/app.hpp"
#include "inputs/random.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/geometry/tile.cuh"

namespace amasia::nw {

/// The letters of BLOSUM62 in the order of its rows: 20 amino acids, then B, Z, X and stop.
inline constexpr std::string_view alphabet = "ARNDCQEGHILKMFPSTWYVBZX*";
inline constexpr int letters = 24;
inline constexpr int amino_acids = 20;

/// BLOSUM62 (Henikoff and Henikoff 1992), half-bit units.
struct Substitution {
  signed char score[letters][letters];
};
extern const Substitution blosum62;
inline constexpr int best_match = 11;     // its largest entry (W against W)
inline constexpr int worst_mismatch = 4;  // minus its smallest

/// Letter i of a generated sequence, an amino acid. Sequence 0 runs down the rows, 1 along the
/// columns.
AMASIA_HD constexpr int generated_letter(std::uint64_t seed, int sequence, std::int64_t i) {
  return static_cast<int>(random_below(seed, static_cast<std::uint64_t>(sequence),
                                       static_cast<std::uint64_t>(i), amino_acids));
}

/// What the pad of a row of `ref` holds: better than any match, so that a kernel that takes it for
/// data gets a wrong answer.
inline constexpr int pad_ref = 1000;

/// Rows of a band, the rows that one warp computes in one pass (geometry.hpp).
inline constexpr int band_rows = 128;

/// Where bands of one persistent launch leave their bottom row for the band below. A word holds a
/// score (low half) and the run it belongs to (high half): 8-byte accesses are single-copy atomic,
/// so a reader that sees the run's number has the score, and no flag or fence is needed.
struct Handover {
  unsigned long long* words = nullptr;  // (bands, pitch)
  std::int64_t pitch = 0;
  unsigned* clock = nullptr;  // [0] runs so far, [1] next band to take, [2] blocks done in this run
};

/// What a variant works on; device pointers. The grids hold the interior: element (r, c) is score
/// (r + 1, c + 1). The border is -i * penalty, worked out where it is needed. `ref` is read only.
/// The pad of `score` is not part of the answer.
struct Problem {
  Grid<const int> ref;
  Grid<int> score;
  int penalty = 0;
  Handover handover;
};

/// The score of a border cell, `distance` from the corner.
AMASIA_HD constexpr int border(std::int64_t distance, int penalty) {
  return -static_cast<int>(distance) * penalty;
}

/// Letters (0 ... 23) of both sequences.
struct Sequences {
  std::vector<signed char> rows;
  std::vector<signed char> cols;
  int ref(std::int64_t r, std::int64_t c) const { return blosum62.score[rows[r]][cols[c]]; }
};

/// As the parameters ask: generated, Rodinia's, or from files.
Sequences sequences_of(const Parameters& p, std::uint64_t seed);

/// Reads exactly `count` letters of the alphabet, upper or lower case; line breaks and CRLF are
/// skipped. Throws UsageError "path:line: what was expected" for any other character, too few or
/// too many letters, and "path: ..." for a file that cannot be read.
std::vector<signed char> read_sequence_file(const std::string& path, std::int64_t count);

/// glibc's rand() after srand(seed): an additive feedback generator over 31 words (its TYPE_3), so
/// that Rodinia's input is the same on every platform.
class GlibcRandom {
 public:
  explicit GlibcRandom(std::uint32_t seed);
  int next();

 private:
  std::uint32_t state_[31];
  int at_ = 0;
};

/// Rodinia's input: srand(7), rows first, every letter rand() % 10 + 1.
Sequences rodinia_sequences(std::int64_t rows, std::int64_t cols);

const std::vector<ParameterSpec>& parameter_specs();

/// Throws UsageError where a score might not fit in 32 bits.
void check_range(std::int64_t rows, std::int64_t cols, std::int64_t penalty);

/// Bytes of device memory of one instance. Throws UsageError when they do not fit in 63 bits.
std::int64_t device_bytes(std::int64_t rows, std::int64_t cols);

/// The next row of scores in place: `row` holds row r - 1 (r = 0: border) and becomes row r,
/// interior only. O(cols) memory for the reference of any size.
void advance_row(const Sequences& s, std::int64_t r, int penalty, std::vector<int>& row);

/// Row -1: the upper border, as advance_row() takes it.
std::vector<int> border_row(std::int64_t cols, int penalty);

/// All interior scores by another route: columns from left to right, every cell pushing what it is
/// worth to its three successors instead of pulling from three predecessors; 64 bits. For checking.
std::vector<std::int64_t> scores_by_relaxation(const Sequences& s, int penalty);

/// Adds one row to a verdict.
void compare_row(const int* got, const std::vector<int>& expected, std::int64_t row,
                 Verdict& verdict);

/// What the host can ask of the app's device instance, without CUDA headers.
class ScoreSource {
 public:
  virtual ~ScoreSource() = default;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t cols() const = 0;
  /// Interior rows first ... first + count - 1 of the last run, dense.
  virtual std::vector<int> score_rows(std::int64_t first, std::int64_t count) const = 0;
  virtual const Sequences& sequences() const = 0;
};

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
