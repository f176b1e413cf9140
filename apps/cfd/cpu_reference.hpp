// The host's side of cfd: the mesh, two references, how a result is judged by them; the instance on
// the device, without CUDA headers.
#pragma once

#include <vector>

#include "apps/cfd/cfd.hpp"

namespace amasia::cfd {

/// The first so many tetrahedra of a box of cubes of edge 1, whose corners are moved by up to 0.1
/// on each axis. Beyond the box lies a wing below (y < 0), elsewhere the far field. Components of
/// normals are then moved by up to 1 % of the length: closed elements would settle in the far
/// field. The area is the square of half the surface, with which a step is stable.
formats::Mesh generate_mesh(std::int64_t elements, Order order, std::uint64_t seed);
/// As the parameters say. Throws UsageError for a bad file.
formats::Mesh host_mesh(const Parameters& p, std::uint64_t seed);

/// Five planes of `elements`.
using HostVariables = std::vector<float>;

/// The instance behind the app's own exports: the harness sees InstanceOf<Problem> only.
class CfdInstance : public InstanceOf<Problem> {
 public:
  /// Of the timed input, from the first run that passed verification, if the parameters name an
  /// out_file. Throws std::runtime_error when no run has passed.
  virtual const HostVariables& right_result() const = 0;
};

/// The variables at the start: the far field, of which density, velocity and pressure vary from
/// element to element by up to `swing`. Rodinia starts with the far field itself, where an element
/// may take any other for its neighbour and nothing shows.
HostVariables host_initial(std::int64_t elements, std::uint64_t seed, double swing);
inline constexpr double usual_swing = 0.1, challenging_swing = 0.3;
/// The record of the far field, from its five variables rounded to fp32.
Record far_record();

/// Rodinia's formulas with the whole flux tensor, in fp64, rounded to fp32 at the end.
HostVariables reference(const formats::Mesh& mesh, const HostVariables& initial, int iterations);
/// The device's computation (kernel.cuh) on the host, in fp32.
HostVariables reference_fp32(const formats::Mesh& mesh, const HostVariables& initial,
                             int iterations);
/// Iterations after which fp32 is compared with fp64: the bound grows by an order of magnitude an
/// iteration. All have the same three stages, and the second starts from what the first left.
inline constexpr int checked_iterations = 2;

/// Largest accepted (max abs error) / (max abs reference). In a stage an element gets w r times
/// terms of its own wave, with w = 1/4, 1/3, 1/2 and r the largest (surface) / (2 sqrt(area)) of
/// the mesh, 1 if generated, times 1.7, by which a neighbour's wave may exceed the own. Each term
/// has at most 40 roundings of 2^-24 on its way, and passes an error of the variables on 4 times.
double error_bound(const formats::Mesh& mesh, int iterations);

/// Compares `got` (planes of `pitch`) with the reference. Any non-finite element is a mismatch.
Verdict compare(const float* got, std::int64_t pitch, const HostVariables& expected, double bound);
/// The two references with each other, which `verify --reference` reports.
Verdict check_references(const Parameters& p, std::uint64_t seed);

}  // namespace amasia::cfd
