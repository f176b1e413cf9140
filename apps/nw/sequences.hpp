// The sequences that nw aligns: generated, Rodinia's, or from files.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/nw/nw.hpp"

namespace amasia::nw {

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

}  // namespace amasia::nw
