// The device instance of pathfinder: the wall generated in place, poisoned outputs, exact
// verification of the last row.
#include <optional>

#include "apps/pathfinder/cpu_reference.hpp"
#include "apps/pathfinder/instance.hpp"
#include "apps/pathfinder/pathfinder.hpp"
#include "harness/registry.hpp"
#include "variants/device/cuda.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::pathfinder {
namespace {

constexpr int fill_threads = 256;

/// One block per run of columns, rows taken in grid strides: 64-bit positions, any extent.
__global__ void fill_wall(Grid<int> wall, std::uint64_t seed) {
  const std::int64_t column = std::int64_t{blockIdx.x} * fill_threads + threadIdx.x;
  if (column >= wall.pitch) return;
  for (std::int64_t row = blockIdx.y; row < wall.rows; row += gridDim.y) {
    wall.at(row, column) =
        column < wall.columns ? wall_height(seed, wall.columns, row, column) : pad_wall;
  }
}

class DeviceInstance : public InstanceOf<Problem>, public ResultSource {
 public:
  DeviceInstance(std::int64_t rows, std::int64_t cols, std::uint64_t seed)
      : seed_(seed),
        pitch_(padded_pitch<int>(cols)),
        wall_(static_cast<std::size_t>(rows * pitch_)),
        result_(static_cast<std::size_t>(pitch_)),
        scratch_(static_cast<std::size_t>(pitch_)) {
    problem_.wall = {wall_.data(), rows, cols, pitch_};
    problem_.result = result_.data();
    problem_.scratch = scratch_.data();
    if (cols <= widest_exchange) {
      words_.emplace(static_cast<std::size_t>(2 * pitch_));
      clock_.emplace(2);
      AMASIA_CUDA(cudaMemset(words_->data(), 0, words_->bytes()));
      AMASIA_CUDA(cudaMemset(clock_->data(), 0, clock_->bytes()));
      problem_.exchange = {words_->data(), pitch_, clock_->data()};
    }
    LaunchShape shape;
    // 65535: the limit of a grid's second dimension.
    shape.grid = dim3(static_cast<unsigned>(ceil_div(pitch_, fill_threads)),
                      static_cast<unsigned>(rows < 65535 ? rows : 65535));
    shape.block = dim3(fill_threads);
    launch(fill_wall, shape, nullptr, Grid<int>{wall_.data(), rows, cols, pitch_}, seed);
    AMASIA_CUDA(cudaDeviceSynchronize());
  }

  const Problem& problem() const override { return problem_; }

  void reset(Stream stream) override {
    result_.poison(stream);
    scratch_.poison(stream);
  }

  Verdict verify() override {
    if (expected_.empty()) {
      expected_ = last_row_costs(problem_.wall.rows, problem_.wall.columns, seed_);
    }
    return compare(last_row(), expected_);
  }

  std::vector<int> last_row() const override {
    std::vector<int> row(result_.size());
    result_.download(row.data());
    row.resize(static_cast<std::size_t>(problem_.wall.columns));
    return row;
  }
  std::uint64_t seed() const override { return seed_; }

 private:
  std::uint64_t seed_;
  std::int64_t pitch_;
  DeviceArray<int> wall_, result_, scratch_;
  std::optional<DeviceArray<unsigned long long>> words_;
  std::optional<DeviceArray<unsigned>> clock_;
  Problem problem_;
  std::vector<int> expected_;
};

const bool registered = register_instance_factory(
    "pathfinder", [](const Parameters& p, std::uint64_t seed) -> std::unique_ptr<Instance> {
      return std::make_unique<DeviceInstance>(p.integer("rows"), p.integer("cols"), seed);
    });

}  // namespace
}  // namespace amasia::pathfinder
