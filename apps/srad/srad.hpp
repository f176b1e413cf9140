// srad: speckle-reducing anisotropic diffusion (Yu and Acton 2002; Rodinia's SRAD, Che et al. 2009)
// of an image J, fp32. `iterations` times, with neighbours clamped at the edges:
//
//   q0 = variance of J / (mean of J)^2, over the whole image
//   for r, c:  dN, dS, dW, dE = J of the neighbour - J
//     G = (dN^2 + dS^2 + dW^2 + dE^2) / J^2;  L = (dN + dS + dW + dE) / J
//     q = (G / 2 - L^2 / 16) / (1 + L / 4)^2
//     C = 1 / (1 + (q - q0) / (q0 (1 + q0))), clamped to [0, 1]
//   for r, c:  J += lambda / 4 * (C dN + C(south) dS + C dW + C(east) dE)
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "harness/app.hpp"
#include "inputs/random.hpp"
#include "variants/geometry/tile.hpp"

namespace amasia::srad {

/// Sums over the pixels of an image in units of `quantum`, so that any order of addition gives the
/// same bits. Several slots for each iteration: 30,000 blocks would wait for one address.
struct alignas(16) Sums {
  long long values = 0;   // of (J - centre) / quantum, rounded to integers
  long long squares = 0;  // of their squares
};
inline constexpr int slots = 32;  // a lane each

/// Images lie in [1, 2.72], as Rodinia's exp(I) of I in [0, 1], and diffusion does not leave the
/// range of its input. Around this centre a pixel has 16 bits and a sign.
inline constexpr float centre = 1.875f, quantum = 1.0f / 65536;
/// 2^31 squares of 16 bits are within 63 bits.
inline constexpr std::int64_t most_pixels = std::int64_t{1} << 31;

/// A pixel in quanta from the centre. At 1.5 * 2^23 a unit in the last place is 1, so the addition
/// rounds to an integer.
AMASIA_HD inline int quantised(float pixel) {
  constexpr float magic = 12582912.0f;
  const float shifted = fmaf(pixel, 1 / quantum, magic - centre / quantum);
#ifdef __CUDA_ARCH__
  return __float_as_int(shifted) - 0x4b400000;  // the bits of `magic`
#else
  return static_cast<int>(shifted) - static_cast<int>(magic);
#endif
}

/// The least q0: a deviation of half a quantum from the mean. An image of one value has no other.
inline constexpr double least_q0 = 1.0 / 17179869184;  // 2^-34

/// (standard deviation / mean)^2 of an image.
AMASIA_HD inline double speckle_scale(long long values, long long squares, std::int64_t pixels) {
  const double n = static_cast<double>(pixels);
  const double offset = static_cast<double>(values) / n;
  const double variance = fma(-offset, offset, static_cast<double>(squares) / n);
  const double mean = fma(offset, double{quantum}, double{centre});
  const double q0 = variance * (double{quantum} * double{quantum}) / (mean * mean);
  return q0 > least_q0 ? q0 : least_q0;
}

/// What one iteration needs of its q0.
struct Speckle {
  float numerator = 0;    // 2 q0 (1 + q0)
  float denominator = 0;  // 2 q0^2
};

/// What a variant works on. Device pointers; all grids have the same extent and pitch. `image` is
/// read only; a run ends with the answer in `result` and may use the others freely.
struct Problem {
  Grid<const float> image;
  Grid<float> result, scratch;
  Grid<float> coefficient, north, south, west, east;  // what iso's first kernel leaves its second
  Sums* sums = nullptr;                               // `slots` for each iteration, and once more
  Speckle* speckle = nullptr;                         // one
  float quarter_lambda = 0;
  int iterations = 0;
};

/// Input `challenge` of verification. 0, the timed one: noise. 1: squares of two brightnesses with
/// speckle, so that C has all its values: 1 inside, near 0 at the edges.
AMASIA_HD inline float generated_pixel(std::uint64_t seed, int challenge, std::int64_t row,
                                       std::int64_t column, std::int64_t columns) {
  const float noise = random_unit(seed, static_cast<std::uint64_t>(challenge),
                                  static_cast<std::uint64_t>(row * columns + column));
  if (challenge == 0) return fmaf(1.71875f, noise, 1.0f);
  const bool bright = ((row / 24 + column / 24) & 1) != 0;
  return (bright ? 2.25f : 1.25f) * fmaf(0.25f, noise, 0.875f);
}

const std::vector<ParameterSpec>& parameter_specs();
/// lambda / 4.
double quarter_lambda(const Parameters& p);
/// Throws UsageError for an image whose sums could overflow.
void refuse_overflow(const Parameters& p);

}  // namespace amasia::srad
