// The device instance of pathfinder: walls made in place, poisoned outputs, exact verification of
// the last row. Which walls make every cell count in it: walls.hpp.
#include <map>
#include <optional>

#include "apps/common/device_instance.cuh"
#include "apps/pathfinder/cpu_reference.hpp"
#include "apps/pathfinder/input.hpp"
#include "apps/pathfinder/pathfinder.hpp"
#include "apps/pathfinder/walls.hpp"
#include "variants/device/launch.hpp"

namespace amasia::pathfinder {
namespace {

constexpr int block_threads = 256;

/// One block per run of columns, rows taken in grid strides: 64-bit positions, any extent. Walls
/// that were given are copied instead, and only their pad is filled in.
__global__ void __launch_bounds__(block_threads)
    fill_wall(Grid<int> wall, Walls walls, bool pad_only) {
  const std::int64_t column = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (column >= wall.pitch || (pad_only && column < wall.columns)) return;
  for (std::int64_t row = blockIdx.y; row < wall.rows; row += gridDim.y) {
    wall.at(row, column) = column < wall.columns ? walls.height(row, column) : pad_wall;
  }
}

// The reference where the CPU would take long. It shares nothing with the variants: it generates
// each wall itself, a block keeps one cost per thread, and there is a barrier on either side of
// each row.
constexpr int reference_rows = 32;  // per launch; as many columns at each end of a block spoil
constexpr int reference_columns = block_threads - 2 * reference_rows;

/// `steps` rows of costs from row first_row on, whose row above is `above`.
__global__ void __launch_bounds__(block_threads)
    reference(Walls walls, const int* above, int* below, std::int64_t first_row, int steps) {
  __shared__ int costs[block_threads];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t column =
      std::int64_t{blockIdx.x} * reference_columns - reference_rows + thread;
  const bool inside = column >= 0 && column < walls.cols;
  const bool has_left = column > 0 && thread > 0;
  const bool has_right = column < walls.cols - 1 && thread < block_threads - 1;
  costs[thread] = inside ? above[column] : 0;
  for (int i = 0; i < steps; ++i) {
    __syncthreads();
    int least = costs[thread];
    if (has_left) least = min(least, costs[thread - 1]);
    if (has_right) least = min(least, costs[thread + 1]);
    __syncthreads();
    if (inside) costs[thread] = least + walls.height(first_row + i, column);
  }
  const bool finished = thread >= reference_rows && thread < reference_rows + reference_columns;
  if (inside && finished) below[column] = costs[thread];
}

/// Row 0 of costs.
__global__ void __launch_bounds__(block_threads) first_costs(Walls walls, int* costs) {
  const std::int64_t column = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (column < walls.cols) costs[column] = walls.height(0, column);
}

// Up to this many cells the CPU is the reference of the timed input: seconds.
constexpr std::int64_t most_cells_on_cpu = 2'000'000'000;

class DeviceInstance : public InstanceOf<Problem>, public ResultSource {
 public:
  DeviceInstance(const Parameters& p, std::uint64_t seed)
      : input_(p, seed),
        rows_(p.integer("rows")),
        cols_(p.integer("cols")),
        seed_(seed),
        pitch_(padded_pitch<int>(cols_)),
        wall_(static_cast<std::size_t>(rows_ * pitch_)),
        result_(static_cast<std::size_t>(pitch_)),
        scratch_(static_cast<std::size_t>(pitch_)) {
    problem_.wall = {wall_.data(), rows_, cols_, pitch_};
    problem_.result = result_.data();
    problem_.scratch = scratch_.data();
    if (cols_ <= widest_exchange) {
      words_.emplace(static_cast<std::size_t>(2 * pitch_));
      clock_.emplace(2);
      AMASIA_CUDA(cudaMemset(clock_->data(), 0, clock_->bytes()));
      problem_.exchange = {words_->data(), pitch_, clock_->data()};
    }
    fill();
  }

  const Problem& problem() const override { return problem_; }

  void reset(Stream stream) override {
    result_.poison(stream);
    scratch_.poison(stream);
    // No run reads what an earlier one wrote: the epoch of these words comes after 2^32 others.
    if (words_) words_->poison(stream);
  }

  int challenges() const override { return challenges_of(rows_); }

  void pose(int challenge) override {
    if (challenge == challenge_) return;
    challenge_ = challenge;
    fill();
  }

  Verdict verify() override {
    const std::vector<int> got = last_row();  // fetched first: the reference may use scratch
    auto expected = expected_.find(challenge_);
    if (expected == expected_.end()) expected = expected_.emplace(challenge_, compute()).first;
    Verdict verdict = compare(got, expected->second);
    if (!on_cpu()) verdict.norm += ", reference computed on the device";
    return verdict;
  }

  std::vector<int> last_row() const override {
    std::vector<int> row(result_.size());
    result_.download(row.data());
    row.resize(static_cast<std::size_t>(cols_));
    return row;
  }
  std::uint64_t seed() const override { return seed_; }

 private:
  Walls walls() const {
    Walls walls = input_.walls();
    walls.challenge = challenge_;
    return walls;
  }
  bool from_file() const { return challenge_ == 0 && input_.walls().given != nullptr; }
  bool on_cpu() const {
    return challenge_ == 0 && (from_file() || rows_ * cols_ <= most_cells_on_cpu);
  }

  void fill() {
    LaunchShape shape;
    // 65535: the limit of a grid's second dimension.
    shape.grid = dim3(static_cast<unsigned>(ceil_div(pitch_, block_threads)),
                      static_cast<unsigned>(rows_ < 65535 ? rows_ : 65535));
    shape.block = dim3(block_threads);
    const Grid<int> wall{wall_.data(), rows_, cols_, pitch_};
    launch(fill_wall, shape, nullptr, wall, walls(), from_file());
    if (from_file()) upload_rows(walls().given, wall);
    AMASIA_CUDA(cudaDeviceSynchronize());
  }

  std::vector<int> compute() const {
    if (on_cpu()) return last_row_costs(walls());
    const DeviceArray<int> other(static_cast<std::size_t>(pitch_));
    int* from = scratch_.data();
    int* to = other.data();
    LaunchShape shape;
    shape.block = dim3(block_threads);
    shape.grid = dim3(static_cast<unsigned>(ceil_div(cols_, block_threads)));
    launch(first_costs, shape, nullptr, walls(), from);
    shape.grid = dim3(static_cast<unsigned>(ceil_div(cols_, reference_columns)));
    for (std::int64_t row = 1; row < rows_; row += reference_rows) {
      const std::int64_t left = rows_ - row;
      launch(reference, shape, nullptr, walls(), from, to, row,
             static_cast<int>(left < reference_rows ? left : reference_rows));
      std::swap(from, to);
    }
    std::vector<int> row(static_cast<std::size_t>(cols_));
    AMASIA_CUDA(cudaMemcpy(row.data(), from, row.size() * sizeof(int), cudaMemcpyDeviceToHost));
    return row;
  }

  InputWalls input_;
  std::int64_t rows_, cols_;
  std::uint64_t seed_;
  std::int64_t pitch_;
  int challenge_ = 0;
  DeviceArray<int> wall_, result_, scratch_;
  std::optional<DeviceArray<unsigned long long>> words_;
  std::optional<DeviceArray<unsigned>> clock_;
  Problem problem_;
  std::map<int, std::vector<int>> expected_;  // by challenge
};

const bool registered = register_instance<DeviceInstance>("pathfinder");

}  // namespace
}  // namespace amasia::pathfinder
