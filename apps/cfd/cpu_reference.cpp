#include "apps/cfd/cpu_reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/cfd/kernel.cuh"
#include "apps/common/max_norm.hpp"

namespace amasia::cfd {
namespace {

using formats::Mesh;
using Vector = std::array<double, 3>;
using Variables = std::array<double, variables>;
using Tensor = std::array<Vector, variables>;  // the flux of each variable along x, y, z
struct State {
  Variables u;
};

/// Density, velocity and pressure: Mach 1.2 along x, and sound has speed 1.
constexpr Variables far_gas{1.4, 1.2, 0, 0, 1};

State state_of(const Variables& gas) {
  const auto& [density, x, y, z, pressure] = gas;
  return {{density, density * x, density * y, density * z,
           pressure / (heat_ratio - 1) + 0.5 * density * (x * x + y * y + z * z)}};
}

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

Variables flux_of(const Mesh& mesh, const std::vector<State>& now, std::int64_t i,
                  const State& far) {
  const Variables& own = now[i].u;
  const Tensor own_tensor = tensor_of(own);
  Variables flux{};
  for (std::int64_t face = faces * i; face < faces * (i + 1); ++face) {
    const std::int32_t b = mesh.neighbours[face];
    const float* const n = mesh.normals.data() + 3 * face;
    if (b == wing) {
      for (int axis = 0; axis < 3; ++axis) flux[1 + axis] += n[axis] * pressure_of(own);
      continue;
    }
    const Variables& other = (b >= 0 ? now[b] : far).u;
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
  return {{n[0], n[1], n[2]}, mesh.neighbours[at]};
}

/// All iterations on states of one kind. first(i): of element i at the start; after(old, now, i,
/// stage): behind a stage.
template <class First, class After>
HostVariables run(const HostVariables& initial, int iterations, const First& first,
                  const After& after) {
  const auto elements = static_cast<std::int64_t>(initial.size()) / variables;
  std::vector<decltype(first(0))> now, next(static_cast<std::size_t>(elements));
  for (std::int64_t i = 0; i < elements; ++i) now.push_back(first(i));
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const auto old = now;
    for (int stage = 0; stage < stages_of_iteration; ++stage) {
#pragma omp parallel for
      for (std::int64_t i = 0; i < elements; ++i) next[i] = after(old[i], now, i, stage);
      now.swap(next);
    }
  }
  HostVariables result(initial.size());
  for (std::int64_t i = 0; i < elements; ++i) store_at(result.data(), elements, i, now[i]);
  return result;
}

}  // namespace

HostVariables host_initial(std::int64_t elements, std::uint64_t seed, double swing) {
  HostVariables all(static_cast<std::size_t>(variables * elements));
#pragma omp parallel for
  for (std::int64_t i = 0; i < elements; ++i) {
    const auto varied = [&](int which) {
      const auto element = static_cast<std::uint64_t>(i);
      return 2 * swing * (static_cast<double>(random_unit(seed, 16 + which, element)) - 0.5);
    };
    Variables gas = far_gas;
    for (const int k : {0, 4}) gas[k] *= 1 + varied(k);
    for (const int k : {1, 2, 3}) gas[k] += varied(k);
    store_at(all.data(), elements, i, state_of(gas));
  }
  return all;
}

Record far_record() {
  const State far = state_of(far_gas);
  return complete([&](int k) { return static_cast<float>(far.u[k]); });
}

HostVariables reference(const Mesh& mesh, const HostVariables& initial, int iterations) {
  const std::int64_t elements = mesh.elements();
  const State far = state_of(far_gas);
  const auto first = [&](std::int64_t i) {
    State s;
    for (int k = 0; k < variables; ++k) s.u[k] = initial[k * elements + i];
    return s;
  };
  return run(initial, iterations, first,
             [&](const State& old, const std::vector<State>& now, std::int64_t i, int stage) {
               const double step = 0.5 / (std::sqrt(static_cast<double>(mesh.areas[i])) *
                                          (speed_of(old.u) + sound_of(old.u)));
               const Variables flux = flux_of(mesh, now, i, far);
               State s;
               for (int k = 0; k < variables; ++k)
                 s.u[k] = old.u[k] + step / (stages_of_iteration + 1 - stage) * flux[k];
               return s;
             });
}

HostVariables reference_fp32(const Mesh& mesh, const HostVariables& initial, int iterations) {
  const Record far = far_record();
  const auto first = [&](std::int64_t i) { return record_at(initial.data(), mesh.elements(), i); };
  return run(initial, iterations, first,
             [&](const Record& old, const std::vector<Record>& now, std::int64_t i, int stage) {
               Sums sums;
               for (int face = 0; face < faces; ++face) {
                 const Face f = face_of(mesh, i, face);
                 sums.add_face(now[i], f, f.neighbour >= 0 ? now[f.neighbour] : far);
               }
               return advance(old, step_factor(root(mesh.areas[i]), old.wave), stage,
                              sums.finish(now[i]));
             });
}

double error_bound(const Mesh& mesh, int iterations) {
  double stiffest = 0;
  for (std::int64_t i = 0; i < mesh.elements(); ++i) {
    double surface = 0;
    for (int face = 0; face < faces; ++face) {
      const Face f = face_of(mesh, i, face);
      surface += std::hypot(f.normal[0], f.normal[1], f.normal[2]);
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
