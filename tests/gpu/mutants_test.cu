// Proves that verification can fail: for every app, a kernel that does nothing, one that is off by
// one at an edge, one that skips a tile and one with a stale halo are caught, and the same kernel
// without a fault passes.
#include <gtest/gtest.h>

#include <memory>

#include "apps/hotspot/hotspot.hpp"
#include "apps/pathfinder/pathfinder.hpp"
#include "harness/gpu/cuda.hpp"
#include "harness/registry.hpp"

namespace amasia {
namespace {

enum class Fault { none, nothing, edge, skipped_tile, stale_halo };

constexpr int tile = 64;  // the tile that a fault pretends to have

/// A run that is faulty in one way; false when the device is missing.
class Mutants : public testing::TestWithParam<Fault> {
 protected:
  void SetUp() override {
    std::string reason;
    if (device_count(reason) == 0) GTEST_SKIP() << reason;
  }

  std::unique_ptr<Instance> instance(const char* app, std::map<std::string, std::string> size) {
    return (*find_instance_factory(app))(Parameters(find_app(app)->parameters(), size), 7);
  }

  void expect_verdict(Instance& i) {
    AMASIA_CUDA(cudaDeviceSynchronize());
    const Verdict v = i.verify();
    EXPECT_EQ(v.passed, GetParam() == Fault::none) << v.norm << " " << v.error;
    EXPECT_EQ(v.first_mismatches.empty(), v.passed);
  }
};

// ---- pathfinder: one row per launch

__global__ void pathfinder_row(Grid<const int> wall, const int* above, const int* stale, int* below,
                               std::int64_t row, Fault fault) {
  const std::int64_t j = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (j >= wall.columns) return;
  if (fault == Fault::skipped_tile && row == wall.rows / 2 && j / tile == 1) return;
  // The halo of a tile from two rows ago: what a missing barrier or exchange would leave there.
  const int* left = fault == Fault::stale_halo && j % tile == 0 ? stale : above;
  if (fault == Fault::edge && j == wall.columns - 1) return;  // a loop that ends one too early
  int least = above[j];
  if (j > 0) least = min(least, left[j - 1]);
  if (j < wall.columns - 1) least = min(least, above[j + 1]);
  below[j] = wall.at(row, j) + least;
}

TEST_P(Mutants, OfPathfinderAreCaught) {
  const auto i = instance("pathfinder", {{"rows", "301"}, {"cols", "1000"}});
  const auto& p = dynamic_cast<InstanceOf<pathfinder::Problem>&>(*i).problem();
  i->reset(nullptr);
  if (GetParam() == Fault::nothing) return expect_verdict(*i);
  const auto columns = static_cast<std::size_t>(p.wall.columns);
  DeviceArray<int> costs[3] = {DeviceArray<int>(columns), DeviceArray<int>(columns),
                               DeviceArray<int>(columns)};
  for (const auto& c : costs) {
    AMASIA_CUDA(cudaMemcpy(c.data(), p.wall.data, c.bytes(), cudaMemcpyDeviceToDevice));
  }
  for (std::int64_t row = 1; row < p.wall.rows; ++row) {
    pathfinder_row<<<static_cast<unsigned>((columns + 255) / 256), 256>>>(
        p.wall, costs[(row - 1) % 3].data(), costs[(row + 1) % 3].data(), costs[row % 3].data(),
        row, GetParam());
    AMASIA_CUDA(cudaGetLastError());
  }
  AMASIA_CUDA(cudaMemcpy(p.result, costs[(p.wall.rows - 1) % 3].data(), costs[0].bytes(),
                         cudaMemcpyDeviceToDevice));
  expect_verdict(*i);
}

// ---- hotspot: one step per launch

__global__ void hotspot_step(Grid<const float> from, Grid<const float> power, Grid<float> to,
                             Grid<const float> initial, hotspot::Coefficients k, Fault fault) {
  const std::int64_t c = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  const std::int64_t r = blockIdx.y;
  if (c >= from.columns) return;
  const bool skipped = fault == Fault::skipped_tile && r / 16 == 1 && c / tile == 1;
  const float t = from.at(r, c);
  if (skipped) {
    to.at(r, c) = t;  // not computed: the old value, as a tile that nobody owned would leave it
    return;
  }
  const auto at = [&](std::int64_t row, std::int64_t column) {
    const bool halo = fault == Fault::stale_halo && column / tile != c / tile;
    const std::int64_t last_row = from.rows - (fault == Fault::edge ? 2 : 1);
    row = row < 0 ? 0 : row > last_row ? last_row : row;
    column = column < 0 ? 0 : column >= from.columns ? from.columns - 1 : column;
    return halo ? initial.at(row, column) : from.at(row, column);
  };
  to.at(r, c) = k.centre * t + k.vertical * (at(r - 1, c) + at(r + 1, c)) +
                k.horizontal * (at(r, c - 1) + at(r, c + 1)) +
                (k.power * power.at(r, c) + k.ambient);
}

TEST_P(Mutants, OfHotspotAreCaught) {
  const auto i = instance("hotspot", {{"rows", "67"}, {"cols", "301"}, {"steps", "6"}});
  const auto& p = dynamic_cast<InstanceOf<hotspot::Problem>&>(*i).problem();
  i->reset(nullptr);
  if (GetParam() == Fault::nothing) return expect_verdict(*i);
  const auto readable = [](const Grid<float>& g) {
    return Grid<const float>{g.data, g.rows, g.columns, g.pitch};
  };
  const dim3 blocks(static_cast<unsigned>((p.result.columns + 127) / 128),
                    static_cast<unsigned>(p.result.rows));
  Grid<const float> from = p.temperature;
  for (int step = 0; step < p.steps; ++step) {
    // The last step must write `result`: an even number of steps starts with `scratch`.
    const Grid<float>& to = (p.steps - step) % 2 == 1 ? p.result : p.scratch;
    hotspot_step<<<blocks, 128>>>(from, p.power, to, p.temperature, p.coefficients, GetParam());
    AMASIA_CUDA(cudaGetLastError());
    from = readable(to);
  }
  expect_verdict(*i);
}

std::string fault_name(const testing::TestParamInfo<Fault>& info) {
  constexpr const char* names[] = {"None", "Nothing", "Edge", "SkippedTile", "StaleHalo"};
  return names[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Faults, Mutants,
                         testing::Values(Fault::none, Fault::nothing, Fault::edge,
                                         Fault::skipped_tile, Fault::stale_halo),
                         fault_name);

}  // namespace
}  // namespace amasia
