// Proves that the verification of hotspot can fail (tests/gpu/mutants.hpp); one step per launch.
//
// The faults of mutants.hpp repeat themselves in every tile and step. The others happen once: in
// one cell of one step, at places anywhere in the grid, its edges included.
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "apps/hotspot/hotspot.hpp"
#include "apps/hotspot/instance.hpp"
#include "apps/hotspot/kernel.cuh"
#include "inputs/random.hpp"
#include "tests/gpu/mutants.hpp"

namespace amasia::hotspot_mutants_test {
namespace {

class HotspotMutants : public Mutants {};

constexpr int tile = 64;  // the tile that a fault pretends to have

/// What happens once. kept_cell: the cell is not advanced. power: the neighbour's power is read.
/// halo: one neighbour is taken from the step before. swapped: the result of the cell beside.
enum class Once { nothing, kept_cell, power, halo, swapped };

struct Single {
  Once what = Once::nothing;
  int step = 0;
  std::int64_t row = 0, column = 0;
};

__global__ void hotspot_step(Grid<const float> from, Grid<const float> power, Grid<float> to,
                             Grid<const float> before, Grid<const float> initial,
                             hotspot::Coefficients k, Fault fault, Single once) {
  const std::int64_t c = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  const std::int64_t r = blockIdx.y;
  if (c >= from.columns) return;
  const bool here = once.what != Once::nothing && r == once.row && c == once.column;
  const float t = from.at(r, c);
  if ((fault == Fault::skipped_tile && r / 16 == 1 && c / tile == 1) ||
      (here && once.what == Once::kept_cell)) {
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
  const auto advanced = [&](std::int64_t row, std::int64_t column, float watt, float west) {
    const float east = at(row, column + 1);
    const bool even = hotspot::is_even(row, column);
    return hotspot::advance<true>(at(row, column), at(row - 1, column), at(row + 1, column),
                                  even ? west : east, even ? east : west,
                                  hotspot::source_term(watt, k), k);
  };
  const std::int64_t beside = c > 0 ? c - 1 : c + 1;
  float watt = power.at(r, c), west = at(r, c - 1);
  if (here && once.what == Once::power) watt = power.at(r, beside);
  if (here && once.what == Once::halo) west = before.at(r, c > 0 ? c - 1 : c);
  to.at(r, c) = here && once.what == Once::swapped
                    ? advanced(r, beside, power.at(r, beside), at(r, beside - 1))
                    : advanced(r, c, watt, west);
}

Grid<const float> readable(const Grid<float>& g) { return {g.data, g.rows, g.columns, g.pitch}; }

/// A run of one step per launch that commits `fault` everywhere, or `once`.
void run(const hotspot::Problem& p, Fault fault, Single once = {}) {
  const dim3 blocks(static_cast<unsigned>((p.result.columns + 127) / 128),
                    static_cast<unsigned>(p.result.rows));
  Grid<const float> from = p.temperature;
  DeviceArray<float> before(static_cast<std::size_t>(from.rows * from.pitch));
  const Grid<const float> stale{before.data(), from.rows, from.columns, from.pitch};
  AMASIA_CUDA(cudaMemcpy(before.data(), from.data, before.bytes(), cudaMemcpyDeviceToDevice));
  for (int step = 0; step < p.steps; ++step) {
    // The last step must write `result`: an even number of steps starts with `scratch`.
    const Grid<float>& to = (p.steps - step) % 2 == 1 ? p.result : p.scratch;
    hotspot_step<<<blocks, 128>>>(from, p.power, to, stale, p.temperature, p.coefficients, fault,
                                  step == once.step ? once : Single{});
    AMASIA_CUDA(cudaGetLastError());
    AMASIA_CUDA(cudaMemcpy(before.data(), from.data, before.bytes(), cudaMemcpyDeviceToDevice));
    from = readable(to);
  }
  AMASIA_CUDA(cudaDeviceSynchronize());
}

TEST_P(HotspotMutants, AreCaught) {
  const auto i = instance("hotspot", {{"rows", "67"}, {"cols", "301"}, {"steps", "6"}});
  const auto& p = dynamic_cast<InstanceOf<hotspot::Problem>&>(*i).problem();
  i->reset(nullptr);
  if (GetParam() != Fault::nothing) run(p, GetParam());
  expect_verdict(*i);
}

INSTANTIATE_TEST_SUITE_P(Faults, HotspotMutants, every_fault, fault_name);

/// The faults that happen once.
class HotspotSingleFault : public Mutants {
 protected:
  /// Whether a run on this input that commits `once` passes.
  static bool verify_posed(Instance& i, const hotspot::Problem& p, int input, const Single& once) {
    i.pose(input);
    i.reset(nullptr);
    run(p, Fault::none, once);
    return i.verify().passed;
  }
  /// On how many of the inputs verification finds the result wrong.
  static int caught(Instance& i, const hotspot::Problem& p, const Single& once) {
    int wrong = 0;
    for (int input = 0; input <= i.challenges(); ++input) wrong += !verify_posed(i, p, input, once);
    return wrong;
  }
};

TEST_P(HotspotSingleFault, IsCaughtWhereverAndWheneverItHappens) {
  // A short run, and one whose smoothing has half a thousand steps to hide the fault.
  for (const std::array<const char*, 3> size :
       {std::array{"67", "301", "6"}, std::array{"131", "127", "500"}}) {
    const auto i = instance("hotspot", {{"rows", size[0]}, {"cols", size[1]}, {"steps", size[2]}});
    const auto& p = dynamic_cast<InstanceOf<hotspot::Problem>&>(*i).problem();
    ASSERT_EQ(caught(*i, p, {}), 0);
    std::vector<std::array<std::int64_t, 3>> places{
        // step, row, column
        {0, 0, 0},
        {p.steps - 1, p.result.rows - 1, p.result.columns - 1},
        {1, 0, 5},
        {2, 7, 0}};
    for (std::uint64_t n = 0; n < 40; ++n) {
      const auto below = [n](std::uint64_t stream, std::int64_t bound) {
        return std::int64_t{random_below(5, stream, n, static_cast<std::uint32_t>(bound))};
      };
      places.push_back({below(0, p.steps), below(1, p.result.rows), below(2, p.result.columns)});
    }
    for (Once what : {Once::kept_cell, Once::power, Once::halo, Once::swapped}) {
      int found = 0, possible = 0;
      for (const auto& [step, row, column] : places) {
        if (what == Once::halo && (step == 0 || column == 0)) continue;  // nothing was there before
        ++possible;
        const Single once{what, static_cast<int>(step), row, column};
        const bool seen = caught(*i, p, once) > 0;
        found += seen;
        EXPECT_TRUE(seen) << "fault " << static_cast<int>(what) << " in step " << step << " at ("
                          << row << ", " << column << ") of " << size[0] << " x " << size[1];
      }
      EXPECT_GE(possible, 20);
      EXPECT_EQ(found, possible);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Once, HotspotSingleFault, testing::Values(Fault::none), fault_name);

TEST_P(HotspotSingleFault, VerifiesAgainstBothInputsAndComesBack) {
  const auto i = instance("hotspot", {{"rows", "40"}, {"cols", "50"}, {"steps", "3"}});
  const auto& p = dynamic_cast<InstanceOf<hotspot::Problem>&>(*i).problem();
  for (int input : {0, 1, 0, 1}) EXPECT_EQ(verify_posed(*i, p, input, {}), true) << input;
  i->pose(0);
  EXPECT_FALSE(i->verify().passed);  // the result of the other input
}

// What out_file holds is the result of a run that passed, whatever ran before or after it.
TEST_P(HotspotSingleFault, NoWrongResultIsExported) {
  const auto i = instance(
      "hotspot",
      {{"rows", "40"}, {"cols", "50"}, {"steps", "3"}, {"out_file", "named-but-not-written.txt"}});
  const auto& exported = dynamic_cast<const hotspot::HotspotInstance&>(*i);
  const auto& p = dynamic_cast<InstanceOf<hotspot::Problem>&>(*i).problem();
  const Single wrong{Once::kept_cell, 1, 17, 23};
  EXPECT_FALSE(verify_posed(*i, p, 0, wrong));
  EXPECT_THROW((void)exported.right_result(), std::runtime_error);
  EXPECT_TRUE(verify_posed(*i, p, 1, {}));  // right, but of another input
  EXPECT_THROW((void)exported.right_result(), std::runtime_error);
  EXPECT_TRUE(verify_posed(*i, p, 0, {}));
  const std::vector<float> cells = exported.right_result().cells;
  EXPECT_EQ(cells.size(), 40u * 50u);
  EXPECT_FALSE(verify_posed(*i, p, 0, wrong));
  EXPECT_EQ(exported.right_result().cells, cells);
}

}  // namespace
}  // namespace amasia::hotspot_mutants_test
