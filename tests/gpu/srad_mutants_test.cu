// Proves that the verification of srad can fail (tests/gpu/mutants.hpp); two launches per
// iteration, a thread per pixel.
//
// The faults of mutants.hpp repeat themselves in every tile and iteration. The others happen once:
// in one pixel of one iteration, or in the sums of one.
#include "apps/srad/iso.cuh"
#include "tests/gpu/mutants.hpp"

namespace amasia::srad_mutants_test {
namespace {

using SradMutants = OnDevice<>;

constexpr int pretended_tile = 64;

/// What happens once. kept: the pixel is not diffused. west: that neighbour is taken from the
/// iteration before. coefficient: the southern C is 0. beside: the
/// result of the pixel beside. sum: the pixel is missing in the sums.
enum class Once { nothing, kept, west, coefficient, beside, sum };

struct Arrays {
  Grid<const float> now, before, initial;
  Grid<float> coefficient, next;
};

__device__ srad::Gradient gradient(const Arrays& a, std::int64_t r, std::int64_t c, Fault fault,
                                   bool stale_west) {
  const auto at = [&](std::int64_t row, std::int64_t column) {
    const bool halo = fault == Fault::stale_halo && column / pretended_tile != c / pretended_tile;
    const std::int64_t last_row = a.now.rows - (fault == Fault::edge ? 2 : 1);
    row = row < 0 ? 0 : row > last_row ? last_row : row;
    column = column < 0 ? 0 : column >= a.now.columns ? a.now.columns - 1 : column;
    return halo ? a.initial.at(row, column) : a.now.at(row, column);
  };
  const float own = a.now.at(r, c);
  const float west = stale_west && c > 0 ? a.before.at(r, c - 1) : at(r, c - 1);
  return {at(r - 1, c) - own, at(r + 1, c) - own, west - own, at(r, c + 1) - own};
}

__global__ void mutant_coefficients(Arrays a, const srad::Speckle* k, Fault fault,
                                    Single<Once> once) {
  const std::int64_t c = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x, r = blockIdx.y;
  if (c >= a.now.columns) return;
  const bool stale = once.at(r, c) == Once::west;
  a.coefficient.at(r, c) = srad::diffusion(a.now.at(r, c), gradient(a, r, c, fault, stale), *k);
}

__global__ void mutant_update(Arrays a, float quarter_lambda, Fault fault, Single<Once> once) {
  const std::int64_t c = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x, r = blockIdx.y;
  if (c >= a.now.columns) return;
  const Once here = once.at(r, c);
  if ((fault == Fault::skipped_tile && r / 16 == 1 && c / pretended_tile == 1) ||
      here == Once::kept) {
    a.next.at(r, c) = a.now.at(r, c);  // as a tile that nobody owned would leave it
    return;
  }
  const auto diffused = [&](std::int64_t column) {
    const srad::Gradient d = gradient(a, r, column, fault, here == Once::west);
    const float own = a.coefficient.at(r, column);
    const float east = column < a.now.columns - 1 ? a.coefficient.at(r, column + 1) : 0;
    const float south = r < a.now.rows - 1 ? a.coefficient.at(r + 1, column) : 0;
    return srad::diffused(a.now.at(r, column), srad::inflow(d, own, east), d.south,
                          here == Once::coefficient ? 0 : south, quarter_lambda);
  };
  a.next.at(r, c) = diffused(here == Once::beside ? (c > 0 ? c - 1 : c + 1) : c);
}

__global__ void without_pixel(Grid<const float> image, srad::Sums* sums, Single<Once> once) {
  const long long q = srad::quantised(image.at(once.row, once.column));
  srad::add_to(sums, -q, -q * q);
}

/// A run that commits `fault` everywhere, or `once`.
void run(const srad::Problem& p, Fault fault, const Single<Once>& once = {}) {
  const dim3 blocks(static_cast<unsigned>((p.result.columns + 127) / 128),
                    static_cast<unsigned>(p.result.rows));
  DeviceArray<float> kept(static_cast<std::size_t>(p.image.rows * p.image.pitch));
  const Grid<const float> before{kept.data(), p.image.rows, p.image.columns, p.image.pitch};
  AMASIA_CUDA(cudaMemcpy(kept.data(), p.image.data, kept.bytes(), cudaMemcpyDeviceToDevice));
  const std::int64_t pixels = p.image.rows * p.image.columns;
  int i = 0;
  for (const srad::Iteration& it : srad::ping_pong(p)) {
    const Single<Once> now = i == once.step ? once : Single<Once>{};
    AMASIA_CUDA(cudaMemset(p.sums, 0, srad::slots * sizeof(srad::Sums)));
    srad::first_sums<128><<<blocks, 128>>>(it.source, p.sums);
    if (now.what == Once::sum) without_pixel<<<1, 1>>>(it.source, p.sums, now);
    srad::scale_of_sums<32><<<1, 32>>>(p.sums, pixels, p.speckle);
    const Arrays a{it.source, before, p.image, p.coefficient, it.destination};
    mutant_coefficients<<<blocks, 128>>>(a, p.speckle, fault, now);
    mutant_update<<<blocks, 128>>>(a, p.quarter_lambda, fault, now);
    AMASIA_CUDA(cudaMemcpy(kept.data(), it.source.data, kept.bytes(), cudaMemcpyDeviceToDevice));
    ++i;
  }
}

TEST_F(SradMutants, AreCaught) {
  const auto i = instance("srad", {{"rows", "67"}, {"cols", "301"}, {"iterations", "6"}});
  expect_caught(*i, [&](Fault fault) { run(problem_of<srad::Problem>(*i), fault); });
}

class SradSingleFault : public OnDevice<> {};

TEST_F(SradSingleFault, IsCaughtWhereverAndWheneverItHappens) {
  // A short run, and one whose diffusion has a hundred iterations to hide the fault.
  for (const Size& size : {Size{{"rows", "67"}, {"cols", "301"}, {"iterations", "6"}},
                           Size{{"rows", "131"}, {"cols", "127"}, {"iterations", "100"}}}) {
    const auto i = instance("srad", size);
    const auto& p = problem_of<srad::Problem>(*i);
    const auto run_with = [&](const Single<Once>& once) { run(p, Fault::none, once); };
    ASSERT_EQ(caught_by(*i, [&] { run_with({}); }), -1);
    for (Once what : {Once::kept, Once::west, Once::coefficient, Once::beside, Once::sum}) {
      std::vector<Single<Once>> all{
          {what, 0, 0, 1},
          {what, p.iterations - 1, p.result.rows - 2, p.result.columns - 1},
          {what, 1, 0, 5},
          {what, 2, 7, 1}};
      for (std::uint64_t n = 0; n < 12; ++n) {
        all.push_back({what, static_cast<int>(anywhere(0, n, p.iterations)),
                       anywhere(1, n, p.result.rows - 1),  // has a south
                       1 + anywhere(2, n, p.result.columns - 1)});
      }
      for (const Single<Once>& once : all) {
        if (what == Once::west && once.step == 0) continue;  // nothing was there before
        expect_caught_once(*i, once, run_with);
      }
    }
  }
}

}  // namespace
}  // namespace amasia::srad_mutants_test
