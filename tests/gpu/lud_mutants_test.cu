// Proves that the verification of lud can fail (tests/gpu/mutants.hpp). The right kernel is the
// reference loop in fp32, one elimination step per launch; faults are in its updates. At a size
// where the loop takes too long, a right result is made by a variant and one tile of it is spoiled.
#include "apps/lud/blocked.hpp"
#include "apps/lud/lud.hpp"
#include "tests/gpu/mutants.hpp"

namespace amasia::lud_mutants_test {
namespace {

using LudMutants = OnDevice<>;

Grid<float> matrix_of(Instance& i) { return problem_of<lud::Problem>(i).matrix; }

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

/// Steps `begin` to `end`, all by default.
void eliminate(const Grid<float>& m, Fault fault, int begin = 0, int end = 1 << 30) {
  for (int k = begin; k + 1 < m.rows && k < end; ++k) {
    const auto left = static_cast<unsigned>(m.rows - k - 1);
    scale_column<<<(left + 127) / 128, 128>>>(m, k);
    subtract_outer_product<<<dim3((left + 127) / 128, left), 128>>>(m, k, fault);
  }
  synchronize();
}

TEST_F(LudMutants, AreCaught) {
  const auto i = instance("lud", {{"n", "301"}});
  expect_caught(*i, [&](Fault fault) { eliminate(matrix_of(*i), fault); });
}

/// Which of the two triangles of a diagonal sub-block is inverted instead of solved with.
enum class Inverted { neither, lower, upper };

using LudUnstableMutants = OnDevice<>;

/// n x n floats of a matrix in device memory, and back.
std::vector<float> elements_of(const Grid<float>& m) {
  std::vector<float> host(static_cast<std::size_t>(m.rows * m.columns));
  AMASIA_CUDA(cudaMemcpy2D(host.data(), m.columns * sizeof(float), m.data, m.pitch * sizeof(float),
                           m.columns * sizeof(float), m.rows, cudaMemcpyDeviceToHost));
  return host;
}
void store(const Grid<float>& m, const std::vector<float>& host) {
  AMASIA_CUDA(cudaMemcpy2D(m.data, m.pitch * sizeof(float), host.data(), m.columns * sizeof(float),
                           m.columns * sizeof(float), m.rows, cudaMemcpyHostToDevice));
}

/// The inverse of a triangle of `edge` lines by substitution, in fp32; T(i, j) for j <= i.
template <class Triangle>
std::vector<float> inverse_of(int edge, Triangle&& t) {
  std::vector<float> x(static_cast<std::size_t>(edge * edge));
  for (int c = 0; c < edge; ++c) {
    for (int i = c; i < edge; ++i) {
      float sum = i == c ? 1.0f : 0.0f;
      for (int k = c; k < i; ++k) sum = std::fma(-t(i, k), x[k * edge + c], sum);
      x[i * edge + c] = sum / t(i, i);
    }
  }
  return x;
}

/// A right result, except for a panel of 32 rows of U, or columns of L, that is a product with the
/// inverse of the triangle on the diagonal. Every element is right to within that triangle's
/// condition, which the timed matrix hides and the challenge shows.
TEST_F(LudUnstableMutants, AreCaughtByTheChallenge) {
  constexpr int n = 301, edge = lud::solve_edge;
  const auto i = instance("lud", {{"n", std::to_string(n)}});
  const Grid<float> m = matrix_of(*i);
  ASSERT_EQ(i->challenges(), 1);
  for (int challenge : {0, 1}) {
    i->pose(challenge);
    i->reset(nullptr);
    AMASIA_CUDA(cudaDeviceSynchronize());
    const std::vector<float> a = elements_of(m);
    eliminate(m, Fault::none);
    const std::vector<float> right = elements_of(m);
    for (const Inverted inverted : {Inverted::neither, Inverted::lower, Inverted::upper}) {
      std::vector<float> lu = right;
      const auto at = [&](int i, int j) -> float& { return lu[i * n + j]; };
      if (inverted == Inverted::lower) {  // U(0:32, 32:) = L^-1 A: the ill-conditioned L is first
        const std::vector<float> x =
            inverse_of(edge, [&](int i, int k) { return i == k ? 1.0f : at(i, k); });
        for (int i = 0; i < edge; ++i) {
          for (int j = edge; j < n; ++j) {
            float sum = 0;
            for (int k = 0; k <= i; ++k) sum = std::fma(x[i * edge + k], a[k * n + j], sum);
            at(i, j) = sum;
          }
        }
      } else if (inverted == Inverted::upper) {  // L(64:, 32:64) = B U^-1: the second U
        const std::vector<float> x =
            inverse_of(edge, [&](int i, int k) { return at(edge + k, edge + i); });
        for (int i = 2 * edge; i < n; ++i) {
          float b[edge];
          for (int j = 0; j < edge; ++j) {
            b[j] = a[i * n + edge + j];
            for (int k = 0; k < edge; ++k) b[j] = std::fma(-at(i, k), at(k, edge + j), b[j]);
          }
          for (int j = 0; j < edge; ++j) {
            float sum = 0;
            for (int k = 0; k <= j; ++k) sum = std::fma(x[j * edge + k], b[k], sum);
            at(i, edge + j) = sum;
          }
        }
      }
      store(m, lu);
      const Verdict v = i->verify();
      EXPECT_EQ(v.passed, challenge == 0 || inverted == Inverted::neither)
          << static_cast<int>(inverted) << " " << v.norm << v.error;
      EXPECT_EQ(v.first_mismatches.empty(), v.passed);
    }
  }
  i->pose(0);
}

constexpr int width = lud::panel_width;

/// A tile of the trailing matrix has lost its product with the panel at `first`; it loses the
/// product with that panel as it was before its rows of U were solved instead.
__global__ void read_unsolved_panel(Grid<float> m, int first, int row, int column) {
  const int i = row + static_cast<int>(blockIdx.x), j = column + static_cast<int>(threadIdx.x);
  float too_little = 0;  // unsolved rows of U less solved ones
  for (int k = 0; k < width; ++k) {
    float sum = 0;
    for (int q = 0; q < k; ++q) sum += m.at(first + k, first + q) * m.at(first + q, j);
    too_little += m.at(i, first + k) * sum;
  }
  m.at(i, j) -= too_little;
}

/// 32 columns of the panel at `first` once more: from the matrix before the step by substitution
/// with the L that lies in the scratch.
__global__ void solve_with_scratch(Grid<float> m, Grid<float> lower, int first, int column) {
  __shared__ float x[width][lud::warp_edge];
  const int lane = static_cast<int>(threadIdx.x), j = column + lane;
  for (int i = 0; i < width; ++i) {
    float b = m.at(first + i, j);
    for (int k = 0; k < i; ++k) b += m.at(first + i, first + k) * m.at(first + k, j);
    for (int k = 0; k < i; ++k) b -= lower.at(i, k) * x[k][lane];
    x[i][lane] = b;
  }
  for (int i = 0; i < width; ++i) m.at(first + i, j) = x[i][lane];
}

/// Who reads an operand before the launch that writes it.
class LudEarlyReaders : public OnDevice<testing::TestWithParam<int>> {
 protected:
  std::unique_ptr<Instance> problem() const {
    return instance("lud", {{"n", std::to_string(GetParam())}});
  }
  /// The last step whose panels an update reads.
  static int last_panel() { return (GetParam() - 1) / width * width - width; }
};

TEST_P(LudEarlyReaders, OfAPanelAreCaught) {
  const auto i = problem();
  const Grid<float> m = matrix_of(*i);
  const int first = last_panel(), next = first + width;
  for (bool early : {false, true}) {
    i->reset(nullptr);
    eliminate(m, Fault::none, 0, next);
    if (early) {
      read_unsolved_panel<<<lud::warp_edge, lud::warp_edge>>>(
          m, first, next, static_cast<int>(m.columns) - lud::warp_edge);
    }
    eliminate(m, Fault::none, next);
    EXPECT_EQ(i->verify().passed, !early);
  }
}

/// The scratch blocks have the last run's last triangles: right ones, for who reads them too early
/// in the last step of the next run. reset() poisons them.
TEST_P(LudEarlyReaders, OfTheScratchAreCaught) {
  const auto i = problem();
  const lud::Problem& p = problem_of<lud::Problem>(*i);
  const Config& blocked = find_variant("lud/baseline")->configs[1];
  const auto read_early = [&] {
    solve_with_scratch<<<1, lud::warp_edge>>>(p.matrix, p.lower, last_panel(),
                                              static_cast<int>(p.matrix.columns) - lud::warp_edge);
    AMASIA_CUDA(cudaDeviceSynchronize());
    return i->verify().passed;
  };
  ASSERT_TRUE(verdict_of(blocked, *i, device).passed);
  EXPECT_TRUE(read_early());  // what a run leaves would pass
  i->reset(nullptr);
  for (const Grid<float>& scratch : {p.lower, p.upper}) {
    for (float x : elements_of(scratch)) ASSERT_TRUE(std::isnan(x));
  }
  eliminate(p.matrix, Fault::none);
  EXPECT_FALSE(read_early());
}

INSTANTIATE_TEST_SUITE_P(Orders, LudEarlyReaders, testing::Values(301, 2047),
                         testing::PrintToStringParamName());

/// Leaves one update of a tile out, by adding the product of 128 columns of L and rows of U again;
/// no later step sees it, so this is the least that a lost tile can do.
__global__ void undo_update(Grid<float> m, int panel, int row, int column) {
  const int i = row + static_cast<int>(blockIdx.x), j = column + static_cast<int>(threadIdx.x);
  float sum = 0;
  for (int k = 0; k < width; ++k) sum += m.at(i, panel + k) * m.at(panel + k, j);
  m.at(i, j) += sum;
}

class LudMutantsAtFullSize : public OnDevice<> {
 protected:
  /// A right result by a blocked variant must pass, and the same without one update of `edge` x
  /// `edge` elements near the end must not.
  void lose_update(std::int64_t n, int edge) {
    const auto i = instance("lud", {{"n", std::to_string(n)}});
    EXPECT_TRUE(verdict_of(find_variant("lud/baseline")->configs[1], *i, device).passed);
    const int last = static_cast<int>(n) - lud::panel_width;
    undo_update<<<edge, edge>>>(matrix_of(*i), last / 2 / lud::panel_width * lud::panel_width, last,
                                last - lud::panel_width);
    AMASIA_CUDA(cudaDeviceSynchronize());
    const Verdict v = i->verify();
    EXPECT_FALSE(v.passed);
    EXPECT_GT(v.mismatches, 0);
  }
};

TEST_F(LudMutantsAtFullSize, OneLostTileOf16384Squared) {
  lose_update(device.memory_bytes > (std::size_t{4} << 30) ? 16384 : 4096, lud::panel_width);
}

/// At this size all tiles of the chain are small on a device of 32 SMs or more, and the least that
/// can be lost is a warp's square of one of them.
TEST_F(LudMutantsAtFullSize, OneLostSquareOfTheChain) { lose_update(2047, lud::warp_edge); }

}  // namespace
}  // namespace amasia::lud_mutants_test
