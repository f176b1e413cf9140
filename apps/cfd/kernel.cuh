// The computation of cfd, written once: every variant, the reference on the device and the CPU
// tests call these functions.
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

/// x a + y b + z c.
AMASIA_HD inline float dot(float x, float y, float z, float a, float b, float c) {
  return fmaf(x, a, fmaf(y, b, multiply(z, c)));
}

/// The record of an element by its five variables.
AMASIA_HD inline Record complete(float density, float momentum_x, float momentum_y,
                                 float momentum_z, float energy) {
  Record r;
  r.density = density;
  r.momentum_x = momentum_x;
  r.momentum_y = momentum_y;
  r.momentum_z = momentum_z;
  r.energy = energy;
  r.volume = divide(1.0f, density);
  const float twice_kinetic = multiply(
      dot(momentum_x, momentum_y, momentum_z, momentum_x, momentum_y, momentum_z), r.volume);
  r.pressure = multiply(static_cast<float>(heat_ratio - 1), fmaf(-0.5f, twice_kinetic, energy));
  const float speed = root(multiply(twice_kinetic, r.volume));
  const float of_sound =
      root(multiply(static_cast<float>(heat_ratio), multiply(r.pressure, r.volume)));
  r.wave = add(speed, of_sound);
  return r;
}

/// An element's record from its variables in planes.
AMASIA_HD inline Record record_at(const float* planes, std::int64_t pitch, std::int64_t i) {
  return complete(planes[i], planes[pitch + i], planes[2 * pitch + i], planes[3 * pitch + i],
                  planes[4 * pitch + i]);
}

/// The five of a Record or a Flux into planes.
template <class Five>
AMASIA_HD void store_at(float* planes, std::int64_t pitch, std::int64_t i, const Five& of) {
  planes[i] = of.density;
  planes[pitch + i] = of.momentum_x;
  planes[2 * pitch + i] = of.momentum_y;
  planes[3 * pitch + i] = of.momentum_z;
  planes[4 * pitch + i] = of.energy;
}

struct Flux {
  float density = 0, momentum_x = 0, momentum_y = 0, momentum_z = 0, energy = 0;
};

/// Half of F(U) n: x, y, z is n / 2, px, py, pz what the pressure acts on.
AMASIA_HD inline void add_half(Flux& flux, const Record& u, float x, float y, float z, float px,
                               float py, float pz) {
  const float mass = dot(x, y, z, u.momentum_x, u.momentum_y, u.momentum_z);
  const float speed = multiply(mass, u.volume);
  flux.density = add(flux.density, mass);
  flux.momentum_x = fmaf(speed, u.momentum_x, fmaf(u.pressure, px, flux.momentum_x));
  flux.momentum_y = fmaf(speed, u.momentum_y, fmaf(u.pressure, py, flux.momentum_y));
  flux.momentum_z = fmaf(speed, u.momentum_z, fmaf(u.pressure, pz, flux.momentum_z));
  flux.energy = fmaf(speed, add(u.energy, u.pressure), flux.energy);
}

/// The artificial viscosity of a face for a wave of 1.
AMASIA_HD inline float viscosity_of(const Face& face) {
  return multiply(-0.1f, root(dot(face.x, face.y, face.z, face.x, face.y, face.z)));
}

/// What the faces of an element add up to, face by face in their order.
struct Sums {
  Flux flux;
  float x = 0, y = 0, z = 0;                 // half of the normals, wings left out
  float wing_x = 0, wing_y = 0, wing_z = 0;  // the normals of wings

  /// `behind`: the neighbour's record, or the far field's where there is none.
  AMASIA_HD void add_face(const Record& own, const Face& face, const Record& behind) {
    add_face(own, face, behind, [&] { return viscosity_of(face); });
  }
  /// viscosity(): viscosity_of() the face, which is asked for where there is a neighbour.
  template <class Viscosity>
  AMASIA_HD void add_face(const Record& own, const Face& face, const Record& behind,
                          const Viscosity& viscosity) {
    if (face.neighbour == wing) {
      wing_x = add(wing_x, face.x);
      wing_y = add(wing_y, face.y);
      wing_z = add(wing_z, face.z);
      return;
    }
    const float hx = 0.5f * face.x, hy = 0.5f * face.y, hz = 0.5f * face.z;
    x = add(x, hx);
    y = add(y, hy);
    z = add(z, hz);
    add_half(flux, behind, hx, hy, hz, hx, hy, hz);
    if (face.neighbour < 0) return;
    const float k = multiply(viscosity(), add(own.wave, behind.wave));
    flux.density = fmaf(k, add(own.density, -behind.density), flux.density);
    flux.momentum_x = fmaf(k, add(own.momentum_x, -behind.momentum_x), flux.momentum_x);
    flux.momentum_y = fmaf(k, add(own.momentum_y, -behind.momentum_y), flux.momentum_y);
    flux.momentum_z = fmaf(k, add(own.momentum_z, -behind.momentum_z), flux.momentum_z);
    flux.energy = fmaf(k, add(own.energy, -behind.energy), flux.energy);
  }
  /// The flux of all faces.
  AMASIA_HD Flux finish(const Record& own) {
    add_half(flux, own, x, y, z, add(x, wing_x), add(y, wing_y), add(z, wing_z));
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
  return complete(
      fmaf(factor, flux.density, old.density), fmaf(factor, flux.momentum_x, old.momentum_x),
      fmaf(factor, flux.momentum_y, old.momentum_y), fmaf(factor, flux.momentum_z, old.momentum_z),
      fmaf(factor, flux.energy, old.energy));
}

}  // namespace amasia::cfd
