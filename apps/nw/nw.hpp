// nw: global alignment of two sequences with a linear gap penalty (Needleman-Wunsch, as in
// Rodinia).
//
//   score(i, 0) = -i * penalty
//   score(0, j) = -j * penalty
//   score(i, j) = max(score(i-1, j-1) + ref(i, j),
//                     score(i, j-1) - penalty,
//                     score(i-1, j) - penalty)     for i in 1 .. rows, j in 1 .. cols
//
// ref(i, j) is the entry of BLOSUM62 for letter i of the row sequence and letter j of the column
// sequence.
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
#include "variants/geometry/tile.hpp"

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

/// Where bands of one persistent launch leave their bottom row for the band below. A word holds a
/// score (low half) and the run it belongs to (high half): 8-byte accesses are single-copy atomic,
/// so a reader that sees the run's number has the score, and no flag or fence is needed.
struct Handover {
  unsigned long long* words = nullptr;  // (bands of the schedule with the most, pitch)
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

/// Throws UsageError, one line, where the matrix of scores is too large for out_file's text, or a
/// file that a parameter names cannot be written.
void check_outputs(const Parameters& p);

/// Bytes of device memory of one instance. Throws UsageError when they do not fit in 63 bits.
std::int64_t device_bytes(std::int64_t rows, std::int64_t cols);

}  // namespace amasia::nw
