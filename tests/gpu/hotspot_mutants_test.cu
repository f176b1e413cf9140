// Proves that the verification of hotspot can fail (tests/gpu/mutants.hpp); one step per launch.
#include "apps/hotspot/hotspot.hpp"
#include "tests/gpu/mutants.hpp"

namespace amasia {
namespace {

class HotspotMutants : public Mutants {};

constexpr int tile = 64;  // the tile that a fault pretends to have

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

TEST_P(HotspotMutants, AreCaught) {
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

INSTANTIATE_TEST_SUITE_P(Faults, HotspotMutants, every_fault, fault_name);

}  // namespace
}  // namespace amasia
