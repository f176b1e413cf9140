// The computation on particles that are in shared memory, once for each schedule, and the end of a
// block. A computation takes the tiles of its home box's list one by one (`add`), or by groups of
// eight (`add_group`), and writes the home box's forces (`finish`).
#pragma once

#include "apps/lavamd/lavamd.hpp"
#include "apps/lavamd/schedules.hpp"
#include "variants/ptx/mma.cuh"

namespace amasia::lavamd {

/// A box in shared memory; behind its last particle zeros, which weigh nothing.
struct Tile {
  alignas(16) Vector positions[most_particles];
  alignas(16) double charges[most_particles];
};

/// sums[i] of home particle i: over all j of its list w, w x, w y, w z (not used by iso).
using Sums = double[most_particles][4];

/// iso. A thread has a home particle; the formula as it is written.
struct OneParticle {
  static constexpr const char* schedule = iso_name;
  static constexpr int blocks_per_sm = 1;  // Rodinia gives no bound
  Vector own{}, force{};
  int particles;
  bool active;

  __device__ OneParticle(const Problem& p, int home)
      : particles(p.particles), active(static_cast<int>(threadIdx.x) < p.particles) {
    if (active) own = p.positions[std::int64_t{home} * p.pitch + threadIdx.x];
  }
  __device__ void add(const Tile& tile, int) {
    if (!active) return;
    for (int j = 0; j < particles; ++j) {
      const Vector other = tile.positions[j];
      const double r2 = own.v + other.v - (own.x * other.x + own.y * other.y + own.z * other.z);
      const double vij = exp(-exponent_scale * r2);
      const double fs = 2 * vij, charge = tile.charges[j];
      force.v += charge * vij;
      force.x += charge * (fs * (own.x - other.x));
      force.y += charge * (fs * (own.y - other.y));
      force.z += charge * (fs * (own.z - other.z));
    }
  }
  __device__ void finish(const Problem& p, int home, Sums&) const {
    if (active) p.forces[std::int64_t{home} * p.pitch + threadIdx.x] = force;
  }
};

/// Exponents are of 2: -scale (v(i) + v(j) - x(i) . x(j)). What depends on i alone is a factor of
/// the result (finish_sums).
inline constexpr double binary_scale = exponent_scale * 1.4426950408889634;

/// 2^x for |x| < 1000, by the lanes of a whole warp: x = k / 32 + f, the table 2^(k / 32) lies in
/// the lanes' registers, 2^f is a polynomial (|f ln 2| < 0.011: it truncates 2.2e-15).
struct Exponential {
  double entry;  // 2^(lane / 32)

  __device__ explicit Exponential(int lane) : entry(exp2(lane * (1.0 / 32))) {}
  __device__ __forceinline__ double operator()(double x) const {
    constexpr double magic = 0x1.8p47;  // whose last bit is 1/32
    const double shifted = x + magic;
    const int k = __double2loint(shifted);
    const double f = x - (shifted - magic);
    const int low = __shfl_sync(~0u, __double2loint(entry), k);  // the lane modulo 32
    const int high = __shfl_sync(~0u, __double2hiint(entry), k) + ((k >> 5) << 20);
    double power = 0x1.5d87fe78a673p-10;  // ln(2)^n / n!, n = 5 ... 1
    power = fma(power, f, 0x1.3b2ab6fba4e77p-7);
    power = fma(power, f, 0x1.c6b08d704a0bfp-5);
    power = fma(power, f, 0x1.ebfbdff82c58ep-3);
    power = fma(power, f, 0x1.62e42fefa39efp-1);
    const double scale = __hiloint2double(high, low);
    return fma(power * f, scale, scale);
  }
};

/// Both schedules by groups: this warp's groups of a tile.
template <class Compute>
__device__ __forceinline__ void add_groups(Compute& compute, const Tile& tile, int n, int groups) {
  for (int g = first_group(n, groups, static_cast<int>(threadIdx.x) / 32); g < groups; g += warps) {
    compute.add_group(tile.positions + g * group, tile.charges + g * group);
  }
}

/// Adds up the warps' sums in turn; `store(first)` adds those of the calling warp, or is the first.
template <class Store>
__device__ __forceinline__ void finish_sums(const Problem& p, int home, Sums& sums, Store store) {
  for (int w = 0; w < warps; ++w) {
    if (static_cast<int>(threadIdx.x) / 32 == w) store(w == 0);
    __syncthreads();
  }
  const int i = static_cast<int>(threadIdx.x);
  if (i >= p.particles) return;
  const std::int64_t at = std::int64_t{home} * p.pitch + i;
  const Vector own = p.positions[at];
  const double factor = exp2(-binary_scale * own.v), (&s)[4] = sums[i];
  p.forces[at] = {factor * s[0], 2 * factor * (own.x * s[0] - s[1]),
                  2 * factor * (own.y * s[0] - s[2]), 2 * factor * (own.z * s[0] - s[3])};
}

/// tensor. For eight home particles and a group, distances are A (8 x 4: -scale, scale x, y, z)
/// times B (4 x 8: v, x, y, z), and sums are weights (8 x 8) times (8 x 4: q, q x, q y, q z). An
/// accumulator is an operand of the next product as it is, if column 2 t + e is particle t of
/// product e.
struct TensorGroups {
  static constexpr const char* schedule = tensor_name;
  static constexpr int blocks_per_sm = 4;
  int lane, groups;
  Exponential power_of_two;
  double rows[most_groups];
  double sum[most_groups][2] = {};

  __device__ TensorGroups(const Problem& p, int home)
      : lane(static_cast<int>(threadIdx.x) % 32),
        groups(groups_of(p.particles)),
        power_of_two(lane) {
    const auto* components =
        reinterpret_cast<const double*>(p.positions + std::int64_t{home} * p.pitch);
#pragma unroll
    for (int m = 0; m < most_groups; ++m) {
      const bool inside = m * group + lane / 4 < p.particles;
      const double own = inside ? components[m * group * 4 + lane] : 0;
      rows[m] = lane % 4 == 0 ? -binary_scale : binary_scale * own;
    }
  }
  __device__ void add(const Tile& tile, int n) { add_groups(*this, tile, n, groups); }
  __device__ void add_group(const Vector* positions, const double* charges) {
    const auto* components = reinterpret_cast<const double*>(positions);
    const double others = components[lane];
    double weighed[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int j = lane % 4 * 2 + e, component = lane / 4 % 4;  // columns 4 ... 7 are not used
      weighed[e] = charges[j] * (component == 0 ? 1.0 : components[4 * j + component]);
    }
    constexpr double nothing[2] = {0, 0};
#pragma unroll
    for (int m = 0; m < most_groups; ++m) {
      double exponent[2];
      mma::m8n8k4(exponent, rows[m], others, nothing);
      mma::m8n8k4(sum[m], power_of_two(exponent[0]), weighed[0], sum[m]);
      mma::m8n8k4(sum[m], power_of_two(exponent[1]), weighed[1], sum[m]);
    }
  }
  __device__ void finish(const Problem& p, int home, Sums& sums) const {
    finish_sums(p, home, sums, [&](bool first) {
      if (lane % 4 >= 2) return;
#pragma unroll
      for (int m = 0; m < most_groups; ++m) {
        double* const to = sums[m * group + lane / 4] + lane % 4 * 2;
        to[0] = sum[m][0] + (first ? 0 : to[0]);
        to[1] = sum[m][1] + (first ? 0 : to[1]);
      }
    });
  }
};

/// vector. A lane has home particles l, l + 16, ..., l = lane % 16, and every second of a group.
struct VectorGroups {
  static constexpr const char* schedule = vector_name;
  static constexpr int blocks_per_sm = 3;
  static constexpr int own_particles = 7;  // of 16 lanes: 112, at least most_particles
  static_assert(16 * own_particles >= most_particles);
  int lane, groups;
  Exponential power_of_two;
  double x[own_particles], y[own_particles], z[own_particles];
  double sum[own_particles][4] = {};

  __device__ VectorGroups(const Problem& p, int home)
      : lane(static_cast<int>(threadIdx.x) % 32),
        groups(groups_of(p.particles)),
        power_of_two(lane) {
#pragma unroll
    for (int m = 0; m < own_particles; ++m) {
      const int i = lane % 16 + 16 * m;
      Vector own{};
      if (i < p.particles) own = p.positions[std::int64_t{home} * p.pitch + i];
      x[m] = binary_scale * own.x;
      y[m] = binary_scale * own.y;
      z[m] = binary_scale * own.z;
    }
  }
  __device__ void add(const Tile& tile, int n) { add_groups(*this, tile, n, groups); }
  __device__ void add_group(const Vector* positions, const double* charges) {
#pragma unroll 1
    for (int j = lane / 16; j < group; j += 2) {
      const Vector other = positions[j];
      const double v = -binary_scale * other.v, charge = charges[j];
#pragma unroll
      for (int m = 0; m < own_particles; ++m) {
        const double exponent = fma(x[m], other.x, fma(y[m], other.y, fma(z[m], other.z, v)));
        const double weight = charge * power_of_two(exponent);
        sum[m][0] += weight;
        sum[m][1] = fma(weight, other.x, sum[m][1]);
        sum[m][2] = fma(weight, other.y, sum[m][2]);
        sum[m][3] = fma(weight, other.z, sum[m][3]);
      }
    }
  }
  __device__ void finish(const Problem& p, int home, Sums& sums) const {
    finish_sums(p, home, sums, [&](bool first) {
#pragma unroll
      for (int m = 0; m < own_particles; ++m) {
        const int i = lane % 16 + 16 * m;
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const double both = sum[m][c] + __shfl_xor_sync(~0u, sum[m][c], 16);
          if (lane < 16 && i < most_particles) sums[i][c] = both + (first ? 0 : sums[i][c]);
        }
      }
    });
  }
};

}  // namespace amasia::lavamd
