// The device instance of nw: the reference matrix made from the sequences, poisoned scores, exact
// verification of every one of them.
#include <algorithm>
#include <vector>

#include "apps/nw/cpu_reference.hpp"
#include "apps/nw/geometry.hpp"
#include "apps/nw/instance.hpp"
#include "apps/nw/nw.hpp"
#include "apps/nw/recurrence_check.cuh"
#include "apps/nw/sequences.hpp"
#include "harness/registry.hpp"
#include "variants/device/cuda.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"

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
    fetch(first, count, rows.data());
    return rows;
  }

 private:
  void fetch(std::int64_t first, std::int64_t count, int* rows) const {
    const std::size_t bytes = cols_ * sizeof(int);
    AMASIA_CUDA(cudaMemcpy2D(rows, bytes, score_.data() + first * pitch_, pitch_ * sizeof(int),
                             bytes, count, cudaMemcpyDeviceToHost));
  }

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

const bool registered = register_instance_factory(
    "nw", [](const Parameters& p, std::uint64_t seed) -> std::unique_ptr<Instance> {
      return std::make_unique<DeviceInstance>(p, seed);
    });

}  // namespace
}  // namespace amasia::nw
