// cfd: the compressible Euler equations on an unstructured mesh of elements with four faces, by
// finite volumes (Rodinia's euler3d, after Corrigan et al. 2009). U = (density, momentum, density x
// energy), five numbers of an element. An iteration:
//
//   old = U;  for i:  step(i) = 1/2 / (sqrt(area(i)) (|v(i)| + c(i)))
//   for stage = 0, 1, 2:
//     for i:  flux(i) = sum over faces with normal n of
//               neighbour b:  (F(U(i)) + F(U(b))) n / 2 - 0.2 |n| w (U(i) - U(b)) / 2
//               far field:    (F(U(i)) + F(U(far))) n / 2
//               wing:         (0, p(i) n, 0)
//     for i:  U(i) = old(i) + step(i) / (4 - stage) flux(i)
//
// F is the flux of the Euler equations, w = |v(i)| + c(i) + |v(b)| + c(b), c = sqrt(1.4 p /
// density).
#pragma once

#include <cstdint>

#include "harness/app.hpp"
#include "inputs/formats/mesh.hpp"
#include "inputs/random.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/host_device.hpp"

namespace amasia::cfd {

inline constexpr int faces = formats::Mesh::faces;
inline constexpr int variables = 5;  // density, three momenta, density x energy
inline constexpr int stages_of_iteration = 3;
inline constexpr std::int32_t wing = formats::Mesh::wing, far_field = formats::Mesh::far_field;

/// What an element is to its neighbours, one sector of device memory: the five variables and what
/// follows from them alone.
struct alignas(32) Record {
  float u[variables];
  float pressure, wave, volume;  // wave: |v| + c; volume: 1 / density
};

struct alignas(16) Face {
  float normal[3];
  std::int32_t neighbour;
};

/// Arrays have `pitch` elements a plane, a multiple of every tile.
struct Problem {
  // Inputs, as Rodinia lays them out; the padding is NaN, and -1 as a number.
  const float* areas;              // (pitch)
  const std::int32_t* neighbours;  // (4, pitch)
  const float* normals;            // (3, 4, pitch): x of all faces, then y, z
  const float* initial;            // (5, pitch)
  float* result;                   // (5, pitch)
  float* scratch;                  // scratch_floats(pitch), aligned to 256 bytes
  std::int64_t elements, pitch;
  int iterations;
  Record far;
};

/// Every tile's number of elements divides it: 192 of the original, 128 and 256.
inline constexpr std::int64_t tile_multiple = 768;
constexpr std::int64_t pitch_of(std::int64_t elements) { return round_up(elements, tile_multiple); }
/// Three planes of records, four of faces, one of roots (Packed); the original needs less.
constexpr std::int64_t scratch_floats_per_element = 3 * 8 + 4 * 4 + 1;

/// Of generated elements. `front`: row by row of cubes, as a reordering for bandwidth gives.
enum class Order { front, scattered };

const std::vector<ParameterSpec>& parameter_specs();

inline constexpr double heat_ratio = 1.4;

}  // namespace amasia::cfd
