// The CPU references of gemm, two of them, and how a result is judged by them.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/gemm/gemm.hpp"

namespace amasia::gemm {

/// One element of C as it should be: the sum of a b, and of |a b|.
struct Sums {
  double value = 0, magnitude = 0;
};

/// C in fp64 (the reference), for small shapes.
std::vector<Sums> reference(const Parameters& p, std::uint64_t seed);

/// Largest accepted |C - AB|(i,j) / (|A| |B|)(i,j). The inputs are what they are, so in every mode
/// only the summation rounds: k times, each by at most u of a partial sum. Independent roundings
/// add up as sqrt(k) u (Higham and Mary 2019); 4 deviations of these, and 8 u for small k, are
/// allowed. u = 2^-24 for FMA. Tensor cores align the terms of one instruction and cut off what
/// lies below fp32's last bits: u = 2^-22, and as cutting off is biased, k / 8 of them add up, one
/// instruction taking at least 8 terms.
double error_bound(Mode mode, std::int64_t k);

/// `got` is m x n, rows `pitch` apart.
Verdict compare(const float* got, std::int64_t pitch, const Parameters& p,
                const std::vector<Sums>& expected);

/// The verdict of comparing the two references with each other, which `verify --reference` reports.
Verdict check_references(const Parameters& p, std::uint64_t seed);

}  // namespace amasia::gemm
