// nw as the harness sees it: parameters, sizes, work, and the alignment it writes.
#include <algorithm>
#include <fstream>
#include <limits>

#include "apps/common/parameters.hpp"
#include "apps/nw/cpu_reference.hpp"
#include "apps/nw/geometry.hpp"
#include "apps/nw/nw.hpp"
#include "apps/nw/schedules.hpp"
#include "apps/nw/scores.hpp"
#include "harness/registry.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::nw {
namespace {

// Row and column numbers are TMA coordinates and loop counters: 32-bit, with room for what lies
// beyond the edge of the last tile. Cells are counted in 64 bits.
constexpr std::int64_t largest_extent = std::numeric_limits<std::int32_t>::max() - 4096;

}  // namespace

const std::vector<ParameterSpec>& parameter_specs() {
  static const std::vector<ParameterSpec> specs{
      {"rows", ParameterSpec::Kind::integer, "letters of the sequence along the rows", "4096", 1,
       largest_extent},
      {"cols", ParameterSpec::Kind::integer, "letters of the sequence along the columns", "4096", 1,
       largest_extent},
      {"penalty", ParameterSpec::Kind::integer, "cost of a gap of one letter", "10", 0, 1000000},
      choice("input", "random: amino acids from the seed; rodinia: srand(7), letters 1 to 10",
             "random", {"random", "rodinia"}),
      {"rows_file", ParameterSpec::Kind::file,
       "text file with the letters of the rows, " + std::string(alphabet), ""},
      {"cols_file", ParameterSpec::Kind::file, "the same for the columns", ""},
      choice("traceback", "yes: find an optimal alignment after a verified run and check it", "no",
             {"no", "yes"}),
      {"path", ParameterSpec::Kind::file,
       "with traceback=yes: text file for the alignment, one 'row col score' per line", ""},
      {"out_file", ParameterSpec::Kind::file,
       "text file for the matrix of scores: line i has score(i, 0) ... score(i, cols), borders "
       "included",
       ""},
  };
  return specs;
}

// Rows of a stage that lie below the grid.
constexpr std::int64_t padding_rows = ColumnBands<1>::stage_rows;

void check_range(std::int64_t rows, std::int64_t cols, std::int64_t penalty) {
  // Extents and penalty are bounded by their tables, so this fits in 64 bits. A kernel also
  // computes cells beyond the edge, less than 4096 of them either way; they may be anything but, in
  // the rows of a last stage, what stands for no score (columns.cuh).
  const std::int64_t lowest =
      (rows + padding_rows + cols) * std::max<std::int64_t>(penalty, worst_mismatch);
  const std::int64_t highest = std::min(rows, cols) * best_match;
  if (std::max(lowest, highest) > std::numeric_limits<std::int32_t>::max()) {
    throw UsageError("scores of " + std::to_string(rows) + " x " + std::to_string(cols) +
                     " letters at penalty " + std::to_string(penalty) +
                     " may not fit in 32 bits; take a smaller penalty or shorter sequences");
  }
}

void check_outputs(const Parameters& p) {
  check_score_file(p.text("out_file"), p.integer("rows"), p.integer("cols"));
  if (p.text("traceback") == "yes") check_output_file("path", p.text("path"));
}

std::int64_t device_bytes(std::int64_t rows, std::int64_t cols) {
  const std::int64_t pitch = padded_pitch<int>(cols);
  const std::int64_t grids = checked_product({rows, pitch, 8}, "bytes of ref and score");
  const std::int64_t words =
      checked_product({handover_words(rows, cols, pitch), 8}, "bytes of the hand-over");
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
  std::vector<Schedule> schedules() const override { return all_schedules(); }

  std::vector<Parameters> sizes(Preset preset) const override {
    std::vector<std::pair<std::int64_t, std::int64_t>> extents;
    switch (preset) {
      case Preset::smoke:
        // Degenerate; primes; one below, at and above the original's tile of 16, the step of 4, the
        // tiles of 32 and 64 columns and the bands of 64 and 128 rows; more bands than columns and
        // the reverse.
        extents = {{1, 1},     {1, 257},    {257, 1},   {2, 3},     {15, 17},   {16, 16},
                   {33, 31},   {63, 64},    {64, 65},   {65, 63},   {127, 129}, {128, 128},
                   {129, 127}, {130, 1021}, {1021, 37}, {511, 509}, {257, 769}, {1151, 1153}};
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
      result.push_back(size_of(parameters(), {{"rows", rows}, {"cols", cols}}));
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
    check_outputs(p);
    return nw::device_bytes(p.integer("rows"), p.integer("cols"));
  }

  Verdict check_reference(const Parameters& p, std::uint64_t seed) const override {
    return check_references(p, seed);
  }

  void export_outputs(const Parameters& p, Instance& instance) const override {
    const std::string& matrix = p.text("out_file");
    if (matrix.empty() && p.text("traceback") == "no") return;
    const auto& source = dynamic_cast<const ScoreSource&>(instance);
    const int penalty = static_cast<int>(p.integer("penalty"));
    if (!matrix.empty()) {
      // Checked once more: a file never holds what another run has left behind.
      if (!instance.verify().passed) {
        throw std::runtime_error("out_file: not written, the scores on the device are not right");
      }
      write_scores(matrix, source, penalty);
    }
    if (p.text("traceback") == "no") return;
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
