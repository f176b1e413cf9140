// The computation of cfd, written once, for every variant and the references.
//
// F(U) n needs no tensor. With m = momentum n and v = m / density it is
//
//   (m, v momentum + p n, v (energy + p))
//
// and the element's own half, F(U(i)) times the sum of n / 2, is added once for all faces.
//
// Every operation is rounded as it is written: a compiler that joins a product and a sum in one
// kernel and not in another would make variants differ. So all compute the same bits, whatever
// their layout and order of elements, and verification relies on it.
#pragma once

#include <cmath>

#include "apps/cfd/cfd.hpp"

namespace amasia::cfd {

#ifdef __CUDA_ARCH__
__device__ __forceinline__ float add(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ float multiply(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ float divide(float a, float b) { return __fdiv_rn(a, b); }
__device__ __forceinline__ float root(float a) { return __fsqrt_rn(a); }
#else
inline float add(float a, float b) { return a + b; }
inline float multiply(float a, float b) { return a * b; }
inline float divide(float a, float b) { return a / b; }
inline float root(float a) { return std::sqrt(a); }
#endif

AMASIA_HD inline float dot(const float* a, const float* b) {
  return fmaf(a[0], b[0], fmaf(a[1], b[1], multiply(a[2], b[2])));
}

/// The record of an element whose variables load(k) brings.
template <class Load>
AMASIA_HD Record complete(const Load& load) {
  Record r;
  for (int k = 0; k < variables; ++k) r.u[k] = load(k);
  const float* const momentum = r.u + 1;
  r.volume = divide(1.0f, r.u[0]);
  const float twice_kinetic = multiply(dot(momentum, momentum), r.volume);
  r.pressure = multiply(static_cast<float>(heat_ratio - 1), fmaf(-0.5f, twice_kinetic, r.u[4]));
  const float speed = root(multiply(twice_kinetic, r.volume));
  const float of_sound =
      root(multiply(static_cast<float>(heat_ratio), multiply(r.pressure, r.volume)));
  r.wave = add(speed, of_sound);
  return r;
}

AMASIA_HD inline Record record_at(const float* planes, std::int64_t pitch, std::int64_t i) {
  return complete([&](int k) { return planes[k * pitch + i]; });
}

AMASIA_HD inline Face face_at(const Problem& p, int f, std::int64_t i) {
  const std::int64_t at = f * p.pitch + i, axis = faces * p.pitch;
  return {{p.normals[at], p.normals[axis + at], p.normals[2 * axis + at]}, p.neighbours[at]};
}

/// The variables of an element, or what a flux is to each, into planes.
template <class Five>
AMASIA_HD void store_at(float* planes, std::int64_t pitch, std::int64_t i, const Five& of) {
  for (int k = 0; k < variables; ++k) planes[k * pitch + i] = static_cast<float>(of.u[k]);
}

struct Flux {
  float u[variables] = {};
};

/// Half of F(U) n. `half`: n / 2; `pushed`: what the pressure acts on.
AMASIA_HD inline void add_half(Flux& flux, const Record& r, const float (&half)[3],
                               const float (&pushed)[3]) {
  const float mass = dot(half, r.u + 1);
  const float speed = multiply(mass, r.volume);
  flux.u[0] = add(flux.u[0], mass);
  for (int k = 1; k < 4; ++k) {
    flux.u[k] = fmaf(speed, r.u[k], fmaf(r.pressure, pushed[k - 1], flux.u[k]));
  }
  flux.u[4] = fmaf(speed, add(r.u[4], r.pressure), flux.u[4]);
}

/// The artificial viscosity of a face for a wave of 1.
AMASIA_HD inline float viscosity_of(const Face& face) {
  return multiply(-0.1f, root(dot(face.normal, face.normal)));
}

/// What the faces of an element add up to, face by face in their order.
struct Sums {
  Flux flux;
  float half[3] = {};    // of the normals, wings left out
  float winged[3] = {};  // the normals of wings

  /// `behind`: the neighbour's record, or the far field's where there is none.
  AMASIA_HD void add_face(const Record& own, const Face& face, const Record& behind) {
    add_face(own, face, behind, face.neighbour >= 0 ? viscosity_of(face) : 0);
  }
  AMASIA_HD void add_face(const Record& own, const Face& face, const Record& behind,
                          float viscosity) {
    if (face.neighbour == wing) {
      for (int axis = 0; axis < 3; ++axis) winged[axis] = add(winged[axis], face.normal[axis]);
      return;
    }
    float of_face[3];
    for (int axis = 0; axis < 3; ++axis) {
      of_face[axis] = 0.5f * face.normal[axis];
      half[axis] = add(half[axis], of_face[axis]);
    }
    add_half(flux, behind, of_face, of_face);
    if (face.neighbour < 0) return;
    const float factor = multiply(viscosity, add(own.wave, behind.wave));
    for (int k = 0; k < variables; ++k) {
      flux.u[k] = fmaf(factor, add(own.u[k], -behind.u[k]), flux.u[k]);
    }
  }
  AMASIA_HD Flux finish(const Record& own) {
    for (int axis = 0; axis < 3; ++axis) winged[axis] = add(half[axis], winged[axis]);
    add_half(flux, own, half, winged);
    return flux;
  }
};

/// Rodinia's step factor: the time step over the size of the element. `root_of_area`: root(area).
AMASIA_HD inline float step_factor(float root_of_area, float wave) {
  return divide(0.5f, multiply(root_of_area, wave));
}

/// The variables after a stage. `old`: before the iteration; `step`: step_factor() of `old`.
AMASIA_HD inline Record advance(const Record& old, float step, int stage, const Flux& flux) {
  const float factor = multiply(step, stage == 0 ? 1 / 4.0f : stage == 1 ? 1 / 3.0f : 1 / 2.0f);
  return complete([&](int k) { return fmaf(factor, flux.u[k], old.u[k]); });
}

}  // namespace amasia::cfd
