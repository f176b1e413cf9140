// Proves that the verification of nw can fail (tests/gpu/mutants.hpp); one anti-diagonal per
// launch.
#include "apps/nw/nw.hpp"
#include "tests/gpu/mutants.hpp"

namespace amasia {
namespace {

class NwMutants : public Mutants {};

constexpr int tile = 16;  // the tile that a fault pretends to have

__global__ void nw_diagonal(nw::Problem p, std::int64_t diagonal, Fault fault) {
  const std::int64_t r = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  const std::int64_t c = diagonal - r;
  if (r >= p.ref.rows || c < 0 || c >= p.ref.columns) return;
  if (fault == Fault::skipped_tile && r / tile == 2 && c / tile == 3) return;
  const auto at = [&](std::int64_t row, std::int64_t column) {
    if (row < 0) return nw::border(column + (fault == Fault::edge ? 2 : 1), p.penalty);
    if (column < 0) return nw::border(row + 1, p.penalty);
    // A tile's left neighbour from before the run: poison
    const bool halo = fault == Fault::stale_halo && column / tile != c / tile && r / tile == 1;
    return halo ? -1 : p.score.at(row, column);
  };
  const int diagonal_step = at(r - 1, c - 1) + p.ref.at(r, c);
  const int gap = max(at(r - 1, c), at(r, c - 1)) - p.penalty;
  p.score.at(r, c) = max(diagonal_step, gap);
}

TEST_P(NwMutants, AreCaught) {
  const auto i = instance("nw", {{"rows", "67"}, {"cols", "301"}});
  const auto& p = dynamic_cast<InstanceOf<nw::Problem>&>(*i).problem();
  i->reset(nullptr);
  if (GetParam() == Fault::nothing) return expect_verdict(*i);
  for (std::int64_t d = 0; d < p.ref.rows + p.ref.columns - 1; ++d) {
    nw_diagonal<<<static_cast<unsigned>((p.ref.rows + 127) / 128), 128>>>(p, d, GetParam());
    AMASIA_CUDA(cudaGetLastError());
  }
  expect_verdict(*i);
}

INSTANTIATE_TEST_SUITE_P(Faults, NwMutants, every_fault, fault_name);

}  // namespace
}  // namespace amasia
