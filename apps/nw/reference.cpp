// The CPU side of nw: parameters, sizes, work, two references and the way back.
#include <algorithm>
#include <fstream>
#include <limits>

#include "apps/nw/nw.hpp"
#include "harness/registry.hpp"

namespace amasia::nw {
namespace {

// Row and column numbers are TMA coordinates and loop counters: 32-bit, with room for what lies
// beyond the edge of the last tile. Cells are counted in 64 bits.
constexpr std::int64_t largest_extent = std::numeric_limits<std::int32_t>::max() - 4096;

// Scores are fetched for the way back in blocks of about this many.
constexpr std::int64_t fetched_cells = std::int64_t{1} << 24;

}  // namespace

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
  verdict.norm = "exact";
  verdict.checked += static_cast<std::int64_t>(expected.size());
  if (!std::equal(expected.begin(), expected.end(), got)) {
    for (std::size_t c = 0; c < expected.size(); ++c) {
      if (got[c] == expected[c]) continue;
      ++verdict.mismatches;
      if (verdict.first_mismatches.size() < 5) {
        std::string text = "(row ";
        text += std::to_string(row) + ", column " + std::to_string(c) + "): got ";
        text += std::to_string(got[c]) + ", expected " + std::to_string(expected[c]);
        verdict.first_mismatches.push_back(std::move(text));
      }
    }
  }
  verdict.error = static_cast<double>(verdict.mismatches);
  verdict.passed = verdict.mismatches == 0;
}

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

const std::vector<ParameterSpec>& parameter_specs() {
  static const std::vector<ParameterSpec> specs{
      {"rows", ParameterSpec::Kind::integer, "letters of the sequence along the rows", "4096", 1,
       largest_extent},
      {"cols", ParameterSpec::Kind::integer, "letters of the sequence along the columns", "4096", 1,
       largest_extent},
      {"penalty", ParameterSpec::Kind::integer, "cost of a gap of one letter", "10", 0, 1000000},
      {"input",
       ParameterSpec::Kind::choice,
       "random: amino acids from the seed; rodinia: srand(7), letters 1 to 10",
       "random",
       0,
       0,
       {"random", "rodinia"}},
      {"rows_file", ParameterSpec::Kind::file,
       "text file with the letters of the rows, " + std::string(alphabet), ""},
      {"cols_file", ParameterSpec::Kind::file, "the same for the columns", ""},
      {"traceback",
       ParameterSpec::Kind::choice,
       "yes: find an optimal alignment after a verified run and check it",
       "no",
       0,
       0,
       {"no", "yes"}},
      {"path", ParameterSpec::Kind::file,
       "with traceback=yes: text file for the alignment, one 'row col score' per line", ""},
  };
  return specs;
}

void check_range(std::int64_t rows, std::int64_t cols, std::int64_t penalty) {
  // Extents and penalty are bounded by their tables, so this fits in 64 bits. A kernel also
  // computes cells beyond the edge, less than 4096 of them either way; they may be anything.
  const std::int64_t lowest = (rows + cols) * std::max<std::int64_t>(penalty, worst_mismatch);
  const std::int64_t highest = std::min(rows, cols) * best_match;
  if (std::max(lowest, highest) > std::numeric_limits<std::int32_t>::max()) {
    throw UsageError("scores of " + std::to_string(rows) + " x " + std::to_string(cols) +
                     " letters at penalty " + std::to_string(penalty) +
                     " may not fit in 32 bits; take a smaller penalty or shorter sequences");
  }
}

std::int64_t device_bytes(std::int64_t rows, std::int64_t cols) {
  const std::int64_t pitch = padded_pitch<int>(cols);
  const std::int64_t grids = checked_product({rows, pitch, 2 * 4}, "bytes of ref and score");
  const std::int64_t words =
      checked_product({ceil_div(rows, band_rows), pitch, 8}, "bytes of the hand-over");
  const std::int64_t rest = rows + cols + 4096;  // sequences, table, clock
  if (grids > INT64_MAX - words - rest) {
    throw UsageError("ref, score and hand-over do not fit in 63 bits of bytes");
  }
  return grids + words + rest;
}

namespace {

class NeedlemanWunsch : public App {
 public:
  std::string_view name() const override { return "nw"; }
  std::string_view summary() const override {
    return "alignment of two sequences (Needleman-Wunsch dynamic programming, int32)";
  }
  const std::vector<ParameterSpec>& parameters() const override { return parameter_specs(); }

  std::vector<Parameters> sizes(Preset preset) const override {
    std::vector<std::pair<std::int64_t, std::int64_t>> extents;
    switch (preset) {
      case Preset::smoke:
        // Degenerate; primes; one below, at and above the original's tile of 16, the step of 4, the
        // tile of 32 columns and the band of 128 rows; more bands than columns and the reverse.
        extents = {{1, 1},     {1, 257},   {257, 1},   {2, 3},      {15, 17},   {16, 16},
                   {33, 31},   {63, 64},   {127, 129}, {128, 128},  {129, 127}, {130, 1021},
                   {1021, 37}, {511, 509}, {257, 769}, {1151, 1153}};
        break;
      case Preset::quick:
        extents = {{8192, 8192}};
        break;
      case Preset::paper:
        extents = {{16384, 16384}, {4096, 4096}};
        break;
      case Preset::sweep:
        for (const std::int64_t side : {256, 1000, 2048, 6000, 11000, 32768}) {
          extents.emplace_back(side, side);
        }
        break;
    }
    std::vector<Parameters> result;
    for (const auto& [rows, cols] : extents) {
      result.emplace_back(parameters(),
                          std::map<std::string, std::string>{{"rows", std::to_string(rows)},
                                                             {"cols", std::to_string(cols)}});
    }
    return result;
  }

  Work work(const Parameters& p) const override {
    const double rows = static_cast<double>(p.integer("rows"));
    const double cols = static_cast<double>(p.integer("cols"));
    Work w;
    w.kind = Work::Kind::int32;
    w.operations = 4 * rows * cols;  // two additions (max(W, N) - penalty is one), two maxima
    w.bytes_read = 4 * rows * cols;
    w.bytes_written = 4 * rows * cols;
    // Along a border and then the other each cell adds max(neighbour - penalty, the rest): one
    // operation with DPX, two without; the least is one.
    w.dependent_operations = rows + cols - 1;
    return w;
  }

  std::int64_t device_bytes(const Parameters& p) const override {
    check_range(p.integer("rows"), p.integer("cols"), p.integer("penalty"));
    return nw::device_bytes(p.integer("rows"), p.integer("cols"));
  }

  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
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

  void export_outputs(const Parameters& p, Instance& instance) const override {
    if (p.text("traceback") == "no") return;
    const auto& source = dynamic_cast<const ScoreSource&>(instance);
    const int penalty = static_cast<int>(p.integer("penalty"));
    const Alignment path = trace_back(source, penalty);
    const std::int64_t sum = score_of(path, source.sequences(), penalty);
    if (sum != path.score) {
      throw std::runtime_error("the alignment's steps add up to " + std::to_string(sum) +
                               ", but its score on the device is " + std::to_string(path.score));
    }
    const std::string& file = p.text("path");
    if (file.empty()) return;
    std::ofstream out(file);
    out << "# optimal alignment, score " << path.score
        << "; row col score, from the end to the beginning\n";
    std::int64_t left = path.score;
    for (std::size_t k = 0; k < path.cells.size(); ++k) {
      const auto [row, col] = path.cells[k];
      if (k > 0) {
        const bool both = path.cells[k - 1].row != row && path.cells[k - 1].col != col;
        left -= both ? source.sequences().ref(row, col) : -penalty;
      }
      out << row << ' ' << col << ' ' << left << '\n';
    }
    out.flush();
    if (!out) throw UsageError("parameter path: cannot write '" + file + "'");
  }
};

const bool registered = register_app(std::make_unique<NeedlemanWunsch>());

}  // namespace
}  // namespace amasia::nw
