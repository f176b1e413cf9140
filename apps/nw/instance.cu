// The device instance of nw: the reference matrix made from the sequences, poisoned scores, exact
// verification of every one of them.
#include <algorithm>
#include <vector>

#include "apps/common/device_instance.cuh"
#include "apps/common/verification_report.cuh"
#include "apps/nw/cpu_reference.hpp"
#include "apps/nw/geometry.hpp"
#include "apps/nw/nw.hpp"
#include "apps/nw/scores.hpp"
#include "variants/device/launch.hpp"

namespace amasia::nw {
namespace {

constexpr int fill_threads = 256;

// Up to so many scores are compared with the CPU's as well, which takes milliseconds: two checks
// that have nothing in common.
constexpr std::int64_t most_scores_compared = std::int64_t{1} << 20;

/// One block per run of columns, rows taken in grid strides: 64-bit positions, any extent.
__global__ void fill_ref(Grid<int> ref, const signed char* rows, const signed char* cols,
                         Substitution table) {
  const std::int64_t column = std::int64_t{blockIdx.x} * fill_threads + threadIdx.x;
  if (column >= ref.pitch) return;
  const int letter = column < ref.columns ? cols[column] : -1;
  for (std::int64_t row = blockIdx.y; row < ref.rows; row += gridDim.y) {
    ref.at(row, column) = letter >= 0 ? table.score[rows[row]][letter] : pad_ref;
  }
}

// Verification of a whole matrix of scores on the device, exact and in one pass.
//
// The recurrence of nw.hpp determines all scores from the borders. If every stored score is what it
// makes of its three stored (or border) neighbours, then every one is right: by induction, along
// the rows from the first cell on. So all cells can be looked at in parallel, and the first wrong
// one of any chain of errors is found at its place, however consistent the rest is. Substitution
// scores are looked up from the letters, not read from `ref`, which is what the kernels read.
struct CheckedScores {
  Grid<int> score;
  const signed char* rows = nullptr;  // letters, on the device
  const signed char* cols = nullptr;
  int penalty = 0;
};

constexpr int check_threads = 256;
constexpr int check_rows = 64;  // that a block goes down, keeping what it read of the last

__global__ void check_recurrence(CheckedScores s, Substitution table, VerificationReport* report) {
  __shared__ int substitution[letters][letters];
  for (int i = threadIdx.x; i < letters * letters; i += check_threads) {
    substitution[i / letters][i % letters] = table.score[i / letters][i % letters];
  }
  __syncthreads();
  const std::int64_t c = std::int64_t{blockIdx.x} * check_threads + threadIdx.x;
  if (c >= s.score.columns) return;
  const int letter = s.cols[c];
  // 64 bits: what is wrong may be anything, and must not wrap around to what is right.
  const auto at = [&s](std::int64_t row, std::int64_t column) -> long long {
    if (row < 0) return border(column + 1, s.penalty);
    if (column < 0) return border(row + 1, s.penalty);
    return s.score.at(row, column);
  };
  const std::int64_t strips = ceil_div(s.score.rows, check_rows);
  for (std::int64_t strip = blockIdx.y; strip < strips; strip += gridDim.y) {
    const std::int64_t first = strip * check_rows;
    const std::int64_t end = first + check_rows < s.score.rows ? first + check_rows : s.score.rows;
    long long north_west = at(first - 1, c - 1), north = at(first - 1, c);
    for (std::int64_t r = first; r < end; ++r) {
      const long long west = at(r, c - 1), got = s.score.at(r, c);
      const long long diagonal = north_west + substitution[s.rows[r]][letter];
      const long long gap = (north > west ? north : west) - s.penalty;
      const long long expected = diagonal > gap ? diagonal : gap;
      if (got != expected) {
        const double difference =
            static_cast<double>(got > expected ? got - expected : expected - got);
        report->add(difference, 0, {r, c, static_cast<double>(got), static_cast<double>(expected)});
      }
      north_west = west;
      north = got;
    }
  }
}

/// Synchronous. A mismatch says what the stored neighbours ask for.
Verdict verdict_of(const CheckedScores& s) {
  const DeviceReport report;
  LaunchShape shape;
  // 65535: the limit of a grid's second dimension.
  const std::int64_t strips = ceil_div(s.score.rows, check_rows);
  shape.grid = dim3(static_cast<unsigned>(ceil_div(s.score.columns, check_threads)),
                    static_cast<unsigned>(std::min<std::int64_t>(strips, 65535)));
  shape.block = dim3(check_threads);
  launch(check_recurrence, shape, nullptr, s, blosum62, report.data());
  AMASIA_CUDA(cudaDeviceSynchronize());
  Verdict verdict;
  verdict.norm = "exact";
  verdict.checked = s.score.rows * s.score.columns;
  return report.complete(verdict, "got");
}

class DeviceInstance : public InstanceOf<Problem>, public ScoreSource {
 public:
  DeviceInstance(const Parameters& p, std::uint64_t seed)
      : sequences_(sequences_of(p, seed)),
        rows_(p.integer("rows")),
        cols_(p.integer("cols")),
        pitch_(padded_pitch<int>(cols_)),
        ref_(static_cast<std::size_t>(rows_ * pitch_)),
        score_(static_cast<std::size_t>(rows_ * pitch_)),
        words_(static_cast<std::size_t>(handover_words(rows_, cols_, pitch_))),
        clock_(3),
        row_letters_(sequences_.rows.size()),
        col_letters_(sequences_.cols.size()) {
    check_range(rows_, cols_, p.integer("penalty"));
    problem_.ref = {ref_.data(), rows_, cols_, pitch_};
    problem_.score = {score_.data(), rows_, cols_, pitch_};
    problem_.penalty = static_cast<int>(p.integer("penalty"));
    problem_.handover = {words_.data(), pitch_, clock_.data()};
    AMASIA_CUDA(cudaMemset(words_.data(), 0, words_.bytes()));
    AMASIA_CUDA(cudaMemset(clock_.data(), 0, clock_.bytes()));

    row_letters_.upload(sequences_.rows.data());
    col_letters_.upload(sequences_.cols.data());
    LaunchShape shape;
    // 65535: the limit of a grid's second dimension.
    shape.grid = dim3(static_cast<unsigned>(ceil_div(pitch_, fill_threads)),
                      static_cast<unsigned>(std::min<std::int64_t>(rows_, 65535)));
    shape.block = dim3(fill_threads);
    launch(fill_ref, shape, nullptr, Grid<int>{ref_.data(), rows_, cols_, pitch_},
           static_cast<const signed char*>(row_letters_.data()),
           static_cast<const signed char*>(col_letters_.data()), blosum62);
    AMASIA_CUDA(cudaDeviceSynchronize());
  }

  const Problem& problem() const override { return problem_; }

  /// The words, too: one that is read before this run has written it bears no run's number.
  void reset(Stream stream) override {
    score_.poison(stream);
    words_.poison(stream);
  }

  Verdict verify() override {
    Verdict verdict =
        verdict_of({problem_.score, row_letters_.data(), col_letters_.data(), problem_.penalty});
    if (rows_ <= most_scores_compared / cols_) {
      const Verdict by_cpu = compare_all();
      if (by_cpu.passed != verdict.passed) {
        verdict.passed = false;
        verdict.first_mismatches.insert(verdict.first_mismatches.begin(),
                                        "the recurrence and the CPU's scores disagree");
        verdict.first_mismatches.resize(std::min<std::size_t>(verdict.first_mismatches.size(), 5));
      }
    }
    return verdict;
  }

  std::int64_t rows() const override { return rows_; }
  std::int64_t cols() const override { return cols_; }
  const Sequences& sequences() const override { return sequences_; }
  std::vector<int> score_rows(std::int64_t first, std::int64_t count) const override {
    std::vector<int> rows(static_cast<std::size_t>(count * cols_));
    download_rows(Grid<int>{score_.data() + first * pitch_, count, cols_, pitch_}, rows.data());
    return rows;
  }

 private:
  Verdict compare_all() const {
    Verdict verdict;
    std::vector<int> expected = border_row(cols_, problem_.penalty);
    const std::vector<int> got = score_rows(0, rows_);
    for (std::int64_t r = 0; r < rows_; ++r) {
      advance_row(sequences_, r, problem_.penalty, expected);
      compare_row(got.data() + r * cols_, expected, r, verdict);
    }
    return verdict;
  }

  Sequences sequences_;
  std::int64_t rows_, cols_, pitch_;
  DeviceArray<int> ref_, score_;
  DeviceArray<unsigned long long> words_;
  DeviceArray<unsigned> clock_;
  DeviceArray<signed char> row_letters_, col_letters_;
  Problem problem_;
};

const bool registered = register_instance<DeviceInstance>("nw");

}  // namespace
}  // namespace amasia::nw
