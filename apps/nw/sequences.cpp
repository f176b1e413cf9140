// BLOSUM62, and the sequences: Rodinia's generator, ours, files.
#include "apps/nw/nw.hpp"

#include "inputs/formats/sequences.hpp"

namespace amasia::nw {

// clang-format off
const Substitution blosum62{{
  // A   R   N   D   C   Q   E   G   H   I   L   K   M   F   P   S   T   W   Y   V   B   Z   X   *
  {  4, -1, -2, -2,  0, -1, -1,  0, -2, -1, -1, -1, -1, -2, -1,  1,  0, -3, -2,  0, -2, -1,  0, -4},
  { -1,  5,  0, -2, -3,  1,  0, -2,  0, -3, -2,  2, -1, -3, -2, -1, -1, -3, -2, -3, -1,  0, -1, -4},
  { -2,  0,  6,  1, -3,  0,  0,  0,  1, -3, -3,  0, -2, -3, -2,  1,  0, -4, -2, -3,  3,  0, -1, -4},
  { -2, -2,  1,  6, -3,  0,  2, -1, -1, -3, -4, -1, -3, -3, -1,  0, -1, -4, -3, -3,  4,  1, -1, -4},
  {  0, -3, -3, -3,  9, -3, -4, -3, -3, -1, -1, -3, -1, -2, -3, -1, -1, -2, -2, -1, -3, -3, -2, -4},
  { -1,  1,  0,  0, -3,  5,  2, -2,  0, -3, -2,  1,  0, -3, -1,  0, -1, -2, -1, -2,  0,  3, -1, -4},
  { -1,  0,  0,  2, -4,  2,  5, -2,  0, -3, -3,  1, -2, -3, -1,  0, -1, -3, -2, -2,  1,  4, -1, -4},
  {  0, -2,  0, -1, -3, -2, -2,  6, -2, -4, -4, -2, -3, -3, -2,  0, -2, -2, -3, -3, -1, -2, -1, -4},
  { -2,  0,  1, -1, -3,  0,  0, -2,  8, -3, -3, -1, -2, -1, -2, -1, -2, -2,  2, -3,  0,  0, -1, -4},
  { -1, -3, -3, -3, -1, -3, -3, -4, -3,  4,  2, -3,  1,  0, -3, -2, -1, -3, -1,  3, -3, -3, -1, -4},
  { -1, -2, -3, -4, -1, -2, -3, -4, -3,  2,  4, -2,  2,  0, -3, -2, -1, -2, -1,  1, -4, -3, -1, -4},
  { -1,  2,  0, -1, -3,  1,  1, -2, -1, -3, -2,  5, -1, -3, -1,  0, -1, -3, -2, -2,  0,  1, -1, -4},
  { -1, -1, -2, -3, -1,  0, -2, -3, -2,  1,  2, -1,  5,  0, -2, -1, -1, -1, -1,  1, -3, -1, -1, -4},
  { -2, -3, -3, -3, -2, -3, -3, -3, -1,  0,  0, -3,  0,  6, -4, -2, -2,  1,  3, -1, -3, -3, -1, -4},
  { -1, -2, -2, -1, -3, -1, -1, -2, -2, -3, -3, -1, -2, -4,  7, -1, -1, -4, -3, -2, -2, -1, -2, -4},
  {  1, -1,  1,  0, -1,  0,  0,  0, -1, -2, -2,  0, -1, -2, -1,  4,  1, -3, -2, -2,  0,  0,  0, -4},
  {  0, -1,  0, -1, -1, -1, -1, -2, -2, -1, -1, -1, -1, -2, -1,  1,  5, -2, -2,  0, -1, -1,  0, -4},
  { -3, -3, -4, -4, -2, -2, -3, -2, -2, -3, -2, -3, -1,  1, -4, -3, -2, 11,  2, -3, -4, -3, -2, -4},
  { -2, -2, -2, -3, -2, -1, -2, -3,  2, -1, -1, -2, -1,  3, -3, -2, -2,  2,  7, -1, -3, -2, -1, -4},
  {  0, -3, -3, -3, -1, -2, -2, -3, -3,  3,  1, -2,  1, -1, -2, -2,  0, -3, -1,  4, -3, -2, -1, -4},
  { -2, -1,  3,  4, -3,  0,  1, -1,  0, -3, -4,  0, -3, -3, -2,  0, -1, -4, -3, -3,  4,  1, -1, -4},
  { -1,  0,  0,  1, -3,  3,  4, -2,  0, -3, -3,  1, -1, -3, -1,  0, -1, -3, -2, -2,  1,  4, -1, -4},
  {  0, -1, -1, -1, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -2,  0,  0, -2, -1, -1, -1, -1, -1, -4},
  { -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4,  1},
}};
// clang-format on

GlibcRandom::GlibcRandom(std::uint32_t seed) {
  // Words 0 ... 30 by the minimal standard generator; then each new word is the sum of those 3 and
  // 31 before it. The first 310 sums are thrown away.
  constexpr std::int64_t modulus = 2147483647;
  std::int64_t word = seed == 0 ? 1 : static_cast<std::int32_t>(seed);
  for (std::uint32_t& state : state_) {
    state = static_cast<std::uint32_t>(word);
    word = 16807 * word % modulus;
    if (word < 0) word += modulus;
  }
  // Words 31 ... 33 repeat 0 ... 2: the sums start at word 34, which replaces word 3.
  at_ = 3;
  for (int i = 0; i < 310; ++i) next();
}

int GlibcRandom::next() {
  state_[at_] += state_[(at_ + 28) % 31];  // 3 before
  const std::uint32_t sum = state_[at_];
  at_ = (at_ + 1) % 31;
  return static_cast<int>(sum >> 1);
}

Sequences rodinia_sequences(std::int64_t rows, std::int64_t cols) {
  GlibcRandom random(7);
  Sequences s;
  s.rows.resize(static_cast<std::size_t>(rows));
  s.cols.resize(static_cast<std::size_t>(cols));
  for (signed char& letter : s.rows) letter = static_cast<signed char>(random.next() % 10 + 1);
  for (signed char& letter : s.cols) letter = static_cast<signed char>(random.next() % 10 + 1);
  return s;
}

Sequences sequences_of(const Parameters& p, std::uint64_t seed) {
  const std::int64_t rows = p.integer("rows"), cols = p.integer("cols");
  const std::string &rows_file = p.text("rows_file"), &cols_file = p.text("cols_file");
  Sequences s;
  if (p.text("input") == "rodinia") {
    s = rodinia_sequences(rows, cols);
  } else {
    const auto generate = [seed](int sequence, std::int64_t count) {
      std::vector<signed char> made(static_cast<std::size_t>(count));
      for (std::int64_t i = 0; i < count; ++i) {
        made[i] = static_cast<signed char>(generated_letter(seed, sequence, i));
      }
      return made;
    };
    if (rows_file.empty()) s.rows = generate(0, rows);
    if (cols_file.empty()) s.cols = generate(1, cols);
  }
  if (!rows_file.empty()) s.rows = formats::read_sequence_file(rows_file, alphabet, rows);
  if (!cols_file.empty()) s.cols = formats::read_sequence_file(cols_file, alphabet, cols);
  return s;
}

}  // namespace amasia::nw
