// Proves that the verification of lud can fail (tests/gpu/mutants.hpp). The right kernel is the
// reference loop in fp32, one elimination step per launch; faults are in its updates. At a size
// where the loop takes too long, a right result is made by a variant and one tile of it is spoiled.
#include "apps/lud/blocked.hpp"
#include "apps/lud/lud.hpp"
#include "harness/variant.hpp"
#include "tests/gpu/mutants.hpp"

namespace amasia {
namespace {

class LudMutants : public Mutants {};

constexpr int tile = 16;  // that a fault pretends to have

__global__ void scale_column(Grid<float> m, int k) {
  const std::int64_t i = k + 1 + blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (i < m.rows) m.at(i, k) /= m.at(k, k);
}

__global__ void subtract_outer_product(Grid<float> m, int k, Fault fault) {
  const std::int64_t i = k + 1 + blockIdx.y;
  const std::int64_t j = k + 1 + blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  const std::int64_t last = m.columns - (fault == Fault::edge ? 2 : 1);
  if (j > last) return;
  // One tile misses the update by one panel of 16 columns, or uses a row of U before its last
  // update.
  if (fault == Fault::skipped_tile && k / tile == 1 && i / tile == 4 && j / tile == 3) return;
  if (fault == Fault::stale_halo && k % tile == tile - 1 && i == k + 1 && j / tile == 6) return;
  m.at(i, j) -= m.at(i, k) * m.at(k, j);
}

TEST_P(LudMutants, AreCaught) {
  const auto i = instance("lud", {{"n", "301"}});
  const Grid<float> m = dynamic_cast<InstanceOf<lud::Problem>&>(*i).problem().matrix;
  i->reset(nullptr);
  if (GetParam() == Fault::nothing) return expect_verdict(*i);
  for (int k = 0; k + 1 < m.rows; ++k) {
    const auto left = static_cast<unsigned>(m.rows - k - 1);
    scale_column<<<(left + 127) / 128, 128>>>(m, k);
    subtract_outer_product<<<dim3((left + 127) / 128, left), 128>>>(m, k, GetParam());
    AMASIA_CUDA(cudaGetLastError());
  }
  expect_verdict(*i);
}

INSTANTIATE_TEST_SUITE_P(Faults, LudMutants, every_fault, fault_name);

/// Leaves one update of a tile out, by adding the product of 128 columns of L and rows of U again;
/// no later step sees it, so this is the least that a lost tile can do.
__global__ void undo_update(Grid<float> m, int panel, int row, int column) {
  const int i = row + static_cast<int>(blockIdx.x), j = column + static_cast<int>(threadIdx.x);
  float sum = 0;
  for (int k = 0; k < lud::panel_width; ++k) sum += m.at(i, panel + k) * m.at(panel + k, j);
  m.at(i, j) += sum;
}

/// A right result by a blocked variant must pass, and the same without one update of `edge` x
/// `edge` elements near the end must not.
void lose_update(std::int64_t n, int edge, const Device& device) {
  const auto i = (*find_instance_factory("lud"))(
      Parameters(find_app("lud")->parameters(), {{"n", std::to_string(n)}}), 7);
  const Grid<float> m = dynamic_cast<InstanceOf<lud::Problem>&>(*i).problem().matrix;
  const Variant* variant = find_variant("lud/baseline");
  ASSERT_NE(variant, nullptr);
  i->reset(nullptr);
  AMASIA_CUDA(cudaDeviceSynchronize());
  const Launch run = variant->configs[1].prepare(*i, device);
  run(nullptr);
  AMASIA_CUDA(cudaDeviceSynchronize());
  EXPECT_TRUE(i->verify().passed);
  const int last = static_cast<int>(n) - lud::panel_width;
  undo_update<<<edge, edge>>>(m, last / 2 / lud::panel_width * lud::panel_width, last,
                              last - lud::panel_width);
  AMASIA_CUDA(cudaDeviceSynchronize());
  const Verdict v = i->verify();
  EXPECT_FALSE(v.passed);
  EXPECT_GT(v.mismatches, 0);
}

TEST(LudMutantsAtFullSize, OneLostTileOf16384Squared) {
  std::string reason;
  if (device_count(reason) == 0) GTEST_SKIP() << reason;
  const Device device = query_device(0);
  lose_update(device.memory_bytes > (std::size_t{4} << 30) ? 16384 : 4096, lud::panel_width,
              device);
}

/// At this size all tiles of the chain are small on a device of 32 SMs or more, and the least that
/// can be lost is a warp's square of one of them.
TEST(LudMutantsAtFullSize, OneLostSquareOfTheChain) {
  std::string reason;
  if (device_count(reason) == 0) GTEST_SKIP() << reason;
  lose_update(2047, lud::warp_edge, query_device(0));
}

}  // namespace
}  // namespace amasia
