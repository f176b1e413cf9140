// The CPU references of gemm, two of them, and how a result is judged by them.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/gemm/gemm.hpp"

namespace amasia::gemm {

/// One element of C as it should be: the sum of a b, and the root of the sum of (a b)^2, which is
/// how large a sum of so many terms of either sign typically is.
struct Sums {
  double value = 0, scale = 0;
};

/// C in fp64 (the reference), for small shapes.
std::vector<Sums> reference(const Parameters& p, std::uint64_t seed);

inline constexpr const char* error_norm = "max |C - AB| / sqrt(sum (ab)^2)";
inline constexpr const char* rms_norm = "RMS of |C - AB| / sqrt(sum (ab)^2)";

/// What is accepted of |C - AB|(i,j) / scale(i,j), at most and as the root mean square over C. The
/// inputs are what they are, so in every mode only the summation rounds, each time by a share of a
/// partial sum; terms of either sign make that grow as the root of k. With u = 2^-24:
///
/// - fp32: k independent roundings add up as sqrt(k) u. Recorded on an H200, cuBLAS included: 4.7
///   sqrt(k) u at most, over all elements, for k from 512 to 16384. Mode tf32x3 has the same bound.
/// - Tensor cores cut off what lies below fp32's last bits, always towards zero, so errors add up
///   as k u. Recorded: at most 0.13 k u in bf16, 0.28 k u in tf32.
/// - e4m3: tensor cores align the terms of an instruction and the sum so far to the largest of them
///   and keep about 14 bits of each (DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024; Khattak and
///   Mikaitis, "Accurate models of NVIDIA tensor cores", 2025), so that 2^-14 stands for u. Such
///   sums of 20,000 elements, made on the CPU, had at most 3.7 sqrt(k) 2^-14 for k up to 8192 and
///   4.9 at 16384, where cutting off towards zero begins to show. An H100 agreed in development:
///   0.0026 at k = 304, where they have 0.003 to 0.004 with 14 bits, 0.008 with 13.
///
/// 2.5 times that is accepted at most. Of the root mean square a fifth of it is: sums that were
/// rounded, or cut off in steps of 8 and of 4 terms, on the CPU had 0.30 sqrt(k) u, 0.028 k u and
/// 0.054 k u; in e4m3 0.38 sqrt(k) 2^-14.
double error_bound(Mode mode, std::int64_t k);
double rms_bound(Mode mode, std::int64_t k);

/// `verdict`, of the maximum, where that failed; else the one on the root mean square if it fails.
Verdict with_rms(Verdict verdict, double rms, Mode mode, std::int64_t k);

/// `got` is m x n, rows `pitch` apart.
Verdict compare(const float* got, std::int64_t pitch, const Parameters& p,
                const std::vector<Sums>& expected);

/// The verdict of comparing the two references with each other, which `verify --reference` reports.
Verdict check_references(const Parameters& p, std::uint64_t seed);

}  // namespace amasia::gemm
