// Proves that the verification of pathfinder can fail (tests/gpu/mutants.hpp); one row per launch.
#include "apps/pathfinder/pathfinder.hpp"
#include "tests/gpu/mutants.hpp"

namespace amasia {
namespace {

class PathfinderMutants : public Mutants {};

constexpr int tile = 64;  // the tile that a fault pretends to have

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

TEST_P(PathfinderMutants, AreCaught) {
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

INSTANTIATE_TEST_SUITE_P(Faults, PathfinderMutants, every_fault, fault_name);

}  // namespace
}  // namespace amasia
