// Proves that the verification of hotspot can fail (tests/gpu/mutants.hpp); one step per launch.
//
// The faults of mutants.hpp repeat themselves in every tile and step. The others happen once: in
// one cell of one step, at places anywhere in the grid, its edges included.
#include <array>

#include "apps/hotspot/cpu_reference.hpp"
#include "apps/hotspot/hotspot.hpp"
#include "apps/hotspot/kernel.cuh"
#include "tests/gpu/mutants.hpp"

namespace amasia::hotspot_mutants_test {
namespace {

using HotspotMutants = OnDevice<>;

constexpr int tile = 64;  // the tile that a fault pretends to have

/// What happens once. kept_cell: the cell is not advanced. power: the neighbour's power is read.
/// halo: one neighbour is taken from the step before. swapped: the result of the cell beside.
enum class Once { nothing, kept_cell, power, halo, swapped };

__global__ void hotspot_step(Grid<const float> from, Grid<const float> power, Grid<float> to,
                             Grid<const float> before, Grid<const float> initial,
                             hotspot::Coefficients k, Fault fault, Single<Once> once) {
  const std::int64_t c = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  const std::int64_t r = blockIdx.y;
  if (c >= from.columns) return;
  const Once here = once.at(r, c);
  const float t = from.at(r, c);
  if ((fault == Fault::skipped_tile && r / 16 == 1 && c / tile == 1) || here == Once::kept_cell) {
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
  if (here == Once::power) watt = power.at(r, beside);
  if (here == Once::halo) west = before.at(r, c > 0 ? c - 1 : c);
  to.at(r, c) = here == Once::swapped ? advanced(r, beside, power.at(r, beside), at(r, beside - 1))
                                      : advanced(r, c, watt, west);
}

Grid<const float> readable(const Grid<float>& g) { return {g.data, g.rows, g.columns, g.pitch}; }

/// A run of one step per launch that commits `fault` everywhere, or `once`.
void run(const hotspot::Problem& p, Fault fault, const Single<Once>& once = {}) {
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
                                  step == once.step ? once : Single<Once>{});
    AMASIA_CUDA(cudaMemcpy(before.data(), from.data, before.bytes(), cudaMemcpyDeviceToDevice));
    from = readable(to);
  }
}

TEST_F(HotspotMutants, AreCaught) {
  const auto i = instance("hotspot", {{"rows", "67"}, {"cols", "301"}, {"steps", "6"}});
  expect_caught(*i, [&](Fault fault) { run(problem_of<hotspot::Problem>(*i), fault); });
}

/// The faults that happen once.
class HotspotSingleFault : public OnDevice<> {};

TEST_F(HotspotSingleFault, IsCaughtWhereverAndWheneverItHappens) {
  // A short run, and one whose smoothing has half a thousand steps to hide the fault.
  for (const Size& size : {Size{{"rows", "67"}, {"cols", "301"}, {"steps", "6"}},
                           Size{{"rows", "131"}, {"cols", "127"}, {"steps", "500"}}}) {
    const auto i = instance("hotspot", size);
    const auto& p = problem_of<hotspot::Problem>(*i);
    const auto run_with = [&](const Single<Once>& once) { run(p, Fault::none, once); };
    ASSERT_EQ(caught_by(*i, [&] { run_with({}); }), -1);
    for (Once what : {Once::kept_cell, Once::power, Once::halo, Once::swapped}) {
      std::vector<Single<Once>> all{{what, 0, 0, 0},
                                    {what, p.steps - 1, p.result.rows - 1, p.result.columns - 1},
                                    {what, 1, 0, 5},
                                    {what, 2, 7, 0}};
      for (std::uint64_t n = 0; n < 40; ++n) {
        all.push_back({what, static_cast<int>(anywhere(0, n, p.steps)),
                       anywhere(1, n, p.result.rows), anywhere(2, n, p.result.columns)});
      }
      int possible = 0;
      for (const Single<Once>& once : all) {
        if (what == Once::halo && (once.step == 0 || once.column == 0)) continue;  // none before
        ++possible;
        expect_caught_once(*i, once, run_with);
      }
      EXPECT_GE(possible, 20);
    }
  }
}

TEST_F(HotspotSingleFault, VerifiesAgainstBothInputsAndComesBack) {
  const auto i = instance("hotspot", {{"rows", "40"}, {"cols", "50"}, {"steps", "3"}});
  const auto right = [&] { run(problem_of<hotspot::Problem>(*i), Fault::none); };
  for (int input : {0, 1, 0, 1}) EXPECT_TRUE(passes(*i, input, right)) << input;
  i->pose(0);
  EXPECT_FALSE(i->verify().passed);  // the result of the other input
}

// What out_file holds is the result of a run that passed, whatever ran before or after it.
TEST_F(HotspotSingleFault, NoWrongResultIsExported) {
  const auto i = instance(
      "hotspot",
      {{"rows", "40"}, {"cols", "50"}, {"steps", "3"}, {"out_file", "named-but-not-written.txt"}});
  const auto& exported = dynamic_cast<const hotspot::HotspotInstance&>(*i);
  const auto& p = problem_of<hotspot::Problem>(*i);
  const auto wrong = [&] { run(p, Fault::none, {Once::kept_cell, 1, 17, 23}); };
  const auto right = [&] { run(p, Fault::none); };
  EXPECT_FALSE(passes(*i, 0, wrong));
  EXPECT_THROW((void)exported.right_result(), std::runtime_error);
  EXPECT_TRUE(passes(*i, 1, right));  // right, but of another input
  EXPECT_THROW((void)exported.right_result(), std::runtime_error);
  EXPECT_TRUE(passes(*i, 0, right));
  const std::vector<float> cells = exported.right_result().cells;
  EXPECT_EQ(cells.size(), 40u * 50u);
  EXPECT_FALSE(passes(*i, 0, wrong));
  EXPECT_EQ(exported.right_result().cells, cells);
}

}  // namespace
}  // namespace amasia::hotspot_mutants_test
