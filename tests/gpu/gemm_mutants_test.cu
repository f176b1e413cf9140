// Proves that the verification of gemm can fail (tests/gpu/mutants.hpp). The right kernel is a
// plain dot product per element; faults are in its terms. At full size a right result is made by a
// variant and one slice of one tile's sums is taken out again.
#include "apps/gemm/cpu_reference.hpp"
#include "apps/gemm/gemm.hpp"
#include "tests/gpu/mutants.hpp"

namespace amasia::gemm_mutants_test {
namespace {

using GemmMutants = OnDevice<>;

constexpr int tile = 32;  // that a fault pretends to have

__global__ void dot_products(gemm::Problem p, Fault fault) {
  const std::int64_t i = blockIdx.y, j = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (j >= p.n) return;
  if (fault == Fault::skipped_tile && i / tile == 2 && j / tile == 3) return;
  const auto* a = reinterpret_cast<const float*>(p.a.data + i * p.a.pitch);
  float sum = 0;
  for (std::int64_t q = 0; q < p.k; ++q) {
    // The last term is left out at the right edge; one tile takes a slice of B from one row too
    // early.
    if (fault == Fault::edge && q == p.k - 1 && j == p.n - 1) continue;
    const bool stale =
        fault == Fault::stale_halo && i / tile == 1 && j / tile == 1 && q / tile == 4;
    const auto* b = reinterpret_cast<const float*>(p.b.data + (stale ? q - 1 : q) * p.b.pitch);
    sum += a[q] * b[j];
  }
  p.c.at(i, j) = p.alpha * sum;
}

TEST_F(GemmMutants, AreCaught) {
  const auto i = instance("gemm", {{"m", "131"}, {"n", "257"}, {"k", "301"}});
  const gemm::Problem p = problem_of<gemm::Problem>(*i);
  expect_caught(*i, [&](Fault fault) { dot_products<<<dim3(3, 131), 128>>>(p, fault); });
}

/// Subtracts the terms [first, first + 8) of one element of fp32 inputs.
__global__ void lose_slice(gemm::Problem p, std::int64_t row, std::int64_t column,
                           std::int64_t first) {
  const auto* a = reinterpret_cast<const float*>(p.a.data + row * p.a.pitch);
  float sum = 0;
  for (std::int64_t q = first; q < first + 8; ++q) {
    sum += a[q] * reinterpret_cast<const float*>(p.b.data + q * p.b.pitch)[column];
  }
  p.c.at(row, column) -= sum;
}

using GemmMutantsAtFullSize = OnDevice<>;

TEST_F(GemmMutantsAtFullSize, EightLostTermsOfOneElementOf8192Squared) {
  const std::int64_t n = device.memory_bytes > (std::size_t{8} << 30) ? 8192 : 2048;
  const std::string text = std::to_string(n);
  const auto i = instance("gemm", {{"m", text}, {"n", text}, {"k", text}});
  const Config* config = config_of(*find_variant("gemm/baseline"), "128x128");
  ASSERT_NE(config, nullptr);
  EXPECT_TRUE(verdict_of(*config, *i, device).passed);
  lose_slice<<<1, 1>>>(problem_of<gemm::Problem>(*i), n - 1, n - 2, n / 2);
  AMASIA_CUDA(cudaDeviceSynchronize());
  const Verdict v = i->verify();
  EXPECT_FALSE(v.passed);
  EXPECT_EQ(v.mismatches, 1);
}

/// What terms [first, first + count) of element (row, column) add to it, and how large such a sum
/// typically is.
gemm::Sums part(const Parameters& p, std::uint64_t seed, std::int64_t row, std::int64_t column,
                std::int64_t first, int count) {
  gemm::Sums sum;
  for (std::int64_t q = first; q < first + count; ++q) {
    const double a = gemm::input_element(seed, 0, gemm::mode_of(p), p.integer("k"), row, q),
                 b = gemm::input_element(seed, 1, gemm::mode_of(p), p.integer("n"), q, column);
    sum.value += a * b;
    sum.scale += a * b * a * b;
  }
  sum.scale = std::sqrt(sum.scale);
  return sum;
}

// The sums of e4m3 have 14 bits, so that its bound is the widest: at 4096 terms a lost
// multiplication of wgmma, 32 terms, has to be refused all the same. Of the last row's elements the
// first one whose terms there are no smaller than typical.
TEST_F(GemmMutantsAtFullSize, ALostMultiplicationOfE4m3) {
  if (device.compute_capability != 90) GTEST_SKIP() << "e4m3 is multiplied by wgmma";
  const Size size{{"mode", "e4m3"}, {"layout", "tn"}};
  const Parameters p(find_app("gemm")->parameters(), size);
  const auto i = instance("gemm", size);
  const gemm::Problem& problem = problem_of<gemm::Problem>(*i);
  const Config* config = config_of(*find_variant("gemm/tma"), "e4m3-wgmma-128x256");
  ASSERT_NE(config, nullptr);
  EXPECT_TRUE(verdict_of(*config, *i, device).passed);
  const std::int64_t row = problem.m - 1, first = problem.k / 2;
  std::int64_t column = 0;
  while (std::abs(part(p, 7, row, column, first, 32).value) <
         part(p, 7, row, column, first, 32).scale) {
    ++column;
  }
  float* const c = &problem.c.at(row, column);
  float got = 0;
  AMASIA_CUDA(cudaMemcpy(&got, c, sizeof got, cudaMemcpyDeviceToHost));
  got -= static_cast<float>(part(p, 7, row, column, first, 32).value);
  AMASIA_CUDA(cudaMemcpy(c, &got, sizeof got, cudaMemcpyHostToDevice));
  const Verdict v = i->verify();
  EXPECT_FALSE(v.passed);
  EXPECT_EQ(v.mismatches, 1);
}

enum class How { three_products, without_lo_hi, lower_mode };

/// C without any error of a sum. Its terms are the three products of mode tf32x3, two of them, or
/// those of a lower mode: inputs of tf32 rounded to bf16, others to tf32.
__global__ void sums_of_products(gemm::Problem p, How how) {
  const std::int64_t i = blockIdx.y, j = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (j >= p.n) return;
  const auto lower = [&](float x) {
    return p.mode == gemm::Mode::tf32 ? gemm::from_bf16(gemm::round_to_bf16(x))
                                      : gemm::round_to_tf32(x);
  };
  const auto* a = reinterpret_cast<const float*>(p.a.data + i * p.a.pitch);
  double sum = 0;
  for (std::int64_t q = 0; q < p.k; ++q) {
    const auto* b = reinterpret_cast<const float*>(p.b.data + q * p.b.pitch);
    if (how == How::lower_mode) {
      sum += static_cast<double>(lower(a[q])) * lower(b[j]);
      continue;
    }
    const matrix::Parts x = matrix::split(a[q]), y = matrix::split(b[j]);
    sum += static_cast<double>(x.hi) * y.hi + static_cast<double>(x.hi) * y.lo;
    if (how == How::three_products) sum += static_cast<double>(x.lo) * y.hi;
  }
  p.c.at(i, j) = static_cast<float>(sum);
}

TEST_F(GemmMutantsAtFullSize, AForgottenProductAndALowerMode) {
  const struct {
    const char* mode;
    How how;
    bool right;
  } cases[] = {{"tf32x3", How::three_products, true},
               {"tf32x3", How::without_lo_hi, false},
               {"tf32x3", How::lower_mode, false},
               {"tf32", How::lower_mode, false},
               {"fp32", How::lower_mode, false}};
  for (const auto& [mode, how, right] : cases) {
    for (const char* k : {"1", "33", "1111", "8192"}) {
      const auto i = instance("gemm", {{"m", "300"}, {"n", "500"}, {"k", k}, {"mode", mode}});
      i->reset(nullptr);
      sums_of_products<<<dim3(4, 300), 128>>>(problem_of<gemm::Problem>(*i), how);
      synchronize();
      EXPECT_EQ(i->verify().passed, right) << mode << " " << k << " " << static_cast<int>(how);
    }
  }
}

}  // namespace
}  // namespace amasia::gemm_mutants_test
