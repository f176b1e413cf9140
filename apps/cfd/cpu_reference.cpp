#include "apps/cfd/cpu_reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/cfd/kernel.cuh"
#include "apps/cfd/mesh.hpp"
#include "apps/common/max_norm.hpp"

namespace amasia::cfd {
namespace {

using formats::Mesh;
using Vector = std::array<double, 3>;
using Variables = std::array<double, variables>;
using Tensor = std::array<Vector, variables>;  // the flux of each variable along x, y, z

Vector velocity_of(const Variables& u) { return {u[1] / u[0], u[2] / u[0], u[3] / u[0]}; }
double speed_of(const Variables& u) {
  const Vector v = velocity_of(u);
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}
double pressure_of(const Variables& u) {
  const double speed = speed_of(u);
  return (heat_ratio - 1) * (u[4] - 0.5 * u[0] * speed * speed);
}
double sound_of(const Variables& u) { return std::sqrt(heat_ratio * pressure_of(u) / u[0]); }

Tensor tensor_of(const Variables& u) {
  const Vector v = velocity_of(u);
  const double pressure = pressure_of(u);
  Tensor t;
  for (int along = 0; along < 3; ++along) {
    t[0][along] = u[1 + along];
    for (int axis = 0; axis < 3; ++axis) {
      t[1 + axis][along] = v[along] * u[1 + axis] + (axis == along ? pressure : 0);
    }
    t[4][along] = v[along] * (u[4] + pressure);
  }
  return t;
}

Variables flux_of(const Mesh& mesh, const std::vector<Variables>& now, std::int64_t i,
                  const Variables& far) {
  const Variables& own = now[i];
  const Tensor own_tensor = tensor_of(own);
  Variables flux{};
  for (std::int64_t face = faces * i; face < faces * (i + 1); ++face) {
    const std::int32_t b = mesh.neighbours[face];
    const float* const n = mesh.normals.data() + 3 * face;
    if (b == wing) {
      for (int axis = 0; axis < 3; ++axis) flux[1 + axis] += n[axis] * pressure_of(own);
      continue;
    }
    const Variables& other = b >= 0 ? now[b] : far;
    const Tensor tensor = tensor_of(other);
    for (int k = 0; k < variables; ++k) {
      for (int along = 0; along < 3; ++along) {
        flux[k] += 0.5 * n[along] * (tensor[k][along] + own_tensor[k][along]);
      }
    }
    if (b < 0) continue;
    const double length = std::hypot(n[0], n[1], n[2]);
    const double factor =
        -0.2 * 0.5 * length * (speed_of(own) + speed_of(other) + sound_of(own) + sound_of(other));
    for (int k = 0; k < variables; ++k) flux[k] += factor * (own[k] - other[k]);
  }
  return flux;
}

Face face_of(const Mesh& mesh, std::int64_t i, int face) {
  const std::int64_t at = faces * i + face;
  const float* const n = mesh.normals.data() + 3 * at;
  return {n[0], n[1], n[2], mesh.neighbours[at]};
}

}  // namespace

HostVariables host_initial(std::int64_t elements, std::uint64_t seed, double swing) {
  HostVariables all(static_cast<std::size_t>(variables * elements));
#pragma omp parallel for
  for (std::int64_t i = 0; i < elements; ++i) {
    for (int k = 0; k < variables; ++k) {
      all[k * elements + i] = initial_value(seed, static_cast<std::uint64_t>(i), k, swing);
    }
  }
  return all;
}

Record far_record() {
  double u[variables];
  variables_of(far_gas, u);
  const auto rounded = [&u](int k) { return static_cast<float>(u[k]); };
  return complete(rounded(0), rounded(1), rounded(2), rounded(3), rounded(4));
}

HostVariables reference(const Mesh& mesh, const HostVariables& initial, int iterations) {
  const std::int64_t elements = mesh.elements();
  Variables far{};
  double u[variables];
  variables_of(far_gas, u);
  for (int k = 0; k < variables; ++k) far[k] = u[k];
  std::vector<Variables> now(static_cast<std::size_t>(elements)), next(now.size());
  for (std::int64_t i = 0; i < elements; ++i) {
    for (int k = 0; k < variables; ++k) now[i][k] = initial[k * elements + i];
  }
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const std::vector<Variables> old = now;
    for (int stage = 0; stage < stages_of_iteration; ++stage) {
#pragma omp parallel for
      for (std::int64_t i = 0; i < elements; ++i) {
        const double step = 0.5 / (std::sqrt(static_cast<double>(mesh.areas[i])) *
                                   (speed_of(old[i]) + sound_of(old[i])));
        const Variables flux = flux_of(mesh, now, i, far);
        for (int k = 0; k < variables; ++k) {
          next[i][k] = old[i][k] + step / (stages_of_iteration + 1 - stage) * flux[k];
        }
      }
      now.swap(next);
    }
  }
  HostVariables result(initial.size());
  for (std::int64_t i = 0; i < elements; ++i) {
    for (int k = 0; k < variables; ++k) result[k * elements + i] = static_cast<float>(now[i][k]);
  }
  return result;
}

HostVariables reference_fp32(const Mesh& mesh, const HostVariables& initial, int iterations) {
  const std::int64_t elements = mesh.elements();
  const Record far = far_record();
  std::vector<Record> now(static_cast<std::size_t>(elements)), next(now.size());
  for (std::int64_t i = 0; i < elements; ++i) {
    now[i] = record_at(initial.data(), elements, i);
  }
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const std::vector<Record> old = now;
    for (int stage = 0; stage < stages_of_iteration; ++stage) {
#pragma omp parallel for
      for (std::int64_t i = 0; i < elements; ++i) {
        Sums sums;
        for (int face = 0; face < faces; ++face) {
          const Face f = face_of(mesh, i, face);
          sums.add_face(now[i], f, f.neighbour >= 0 ? now[f.neighbour] : far);
        }
        next[i] = advance(old[i], step_factor(root(mesh.areas[i]), old[i].wave), stage,
                          sums.finish(now[i]));
      }
      now.swap(next);
    }
  }
  HostVariables result(initial.size());
  for (std::int64_t i = 0; i < elements; ++i) {
    store_at(result.data(), elements, i, now[i]);
  }
  return result;
}

double error_bound(const Mesh& mesh, int iterations) {
  double stiffest = 0;
  for (std::int64_t i = 0; i < mesh.elements(); ++i) {
    double surface = 0;
    for (int face = 0; face < faces; ++face) {
      const Face f = face_of(mesh, i, face);
      surface += std::hypot(f.x, f.y, f.z);
    }
    stiffest = std::max(stiffest, surface / (2 * std::sqrt(mesh.areas[i])));
  }
  const double r = 1.7 * stiffest, unit = std::ldexp(1.0, -24);
  double error = unit;  // the rounded result
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const double old = error;
    for (int stage = 0; stage < stages_of_iteration; ++stage) {
      error = old + r / (stages_of_iteration + 1 - stage) * (4 * error + 40 * unit);
    }
  }
  return error;
}

Verdict compare(const float* got, std::int64_t pitch, const HostVariables& expected, double bound) {
  const auto elements = static_cast<std::int64_t>(expected.size()) / variables;
  return compare_in_max_norm(
      variables * elements, elements,
      [=](std::int64_t i) { return got[i / elements * pitch + i % elements]; },
      [&](std::int64_t i) { return expected[i]; }, bound);
}

Verdict check_references(const Parameters& p, std::uint64_t seed) {
  const Mesh mesh = host_mesh(p, seed);
  const HostVariables initial = host_initial(mesh.elements(), seed, usual_swing);
  const int iterations =
      static_cast<int>(std::min<std::int64_t>(p.integer("iterations"), checked_iterations));
  return compare(reference_fp32(mesh, initial, iterations).data(), mesh.elements(),
                 reference(mesh, initial, iterations), error_bound(mesh, iterations));
}

}  // namespace amasia::cfd
