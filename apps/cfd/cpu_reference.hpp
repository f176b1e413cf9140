// The CPU references of cfd, two of them, and how a result is judged by them.
#pragma once

#include <vector>

#include "apps/cfd/cfd.hpp"

namespace amasia::cfd {

/// Variables on the host: five planes of `elements`.
using HostVariables = std::vector<float>;

HostVariables host_initial(std::int64_t elements, std::uint64_t seed, double swing);
/// The record of the far field, from its five variables rounded to fp32.
Record far_record();

/// The reference: Rodinia's formulas with the whole flux tensor, in fp64, rounded to fp32 at the
/// end. OpenMP over elements.
HostVariables reference(const formats::Mesh& mesh, const HostVariables& initial, int iterations);

/// The device's computation (kernel.cuh) on the host, in fp32.
HostVariables reference_fp32(const formats::Mesh& mesh, const HostVariables& initial,
                             int iterations);

/// Iterations after which fp32 is compared with fp64. Errors of a bound that holds for any input
/// grow by an order of magnitude an iteration; all have the same three stages, and the second one
/// starts from what the first one left.
inline constexpr int checked_iterations = 2;

/// Largest accepted (max abs error) / (max abs reference). In a stage an element gets w r times
/// terms of its own wave, with w = 1/4, 1/3, 1/2 and r the largest (surface) / (2 sqrt(area)) of
/// the mesh, 1 if generated, times 1.7, by which a neighbour's wave may exceed the own. Each term
/// has at most 40 roundings of 2^-24 on its way, and passes an error of the variables on 4 times.
double error_bound(const formats::Mesh& mesh, int iterations);

/// Compares `got` (planes of `pitch`) with the reference. Any non-finite element is a mismatch.
Verdict compare(const float* got, std::int64_t pitch, const HostVariables& expected, double bound);

/// The verdict of comparing the two references with each other, which `verify --reference` reports.
Verdict check_references(const Parameters& p, std::uint64_t seed);

}  // namespace amasia::cfd
