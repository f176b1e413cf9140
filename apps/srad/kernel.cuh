// The computation of srad: one pixel, one iteration. Written once, with its roundings, so that all
// variants agree bit for bit.
//
// With S = dN + dS + dW + dE, A = J + S / 4 and D = dN^2 + dS^2 + dW^2 + dE^2 the formula of
// srad.hpp is q = (D / 2 - S^2 / 16) / A^2, since J^2 cancels. Then
// C = q0 (1 + q0) / (q0^2 + q) = 2 q0 (1 + q0) A^2 / (2 q0^2 A^2 + D - S^2 / 8): one division where
// the formula has five. By Cauchy D - S^2 / 8 >= D / 2, so C > 0 and only 1 has to be clamped.
#pragma once

#include <cmath>

#include "apps/srad/srad.hpp"
#include "variants/host_device.hpp"

namespace amasia::srad {

AMASIA_HD inline Speckle speckle_of(double q0) {
  return {static_cast<float>(2 * q0 * (1 + q0)), static_cast<float>(2 * q0 * q0)};
}

/// Differences to the neighbours.
struct Gradient {
  float north, south, west, east;
};

AMASIA_HD inline float reciprocal(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;\n" : "=f"(y) : "f"(x));  // 1 ulp
  return y;
#else
  return 1 / x;
#endif
}

/// C of a pixel.
AMASIA_HD inline float diffusion(float pixel, const Gradient& d, const Speckle& k) {
  const float sum = (d.north + d.south) + (d.west + d.east);
  const float squares =
      fmaf(d.south, d.south, fmaf(d.north, d.north, fmaf(d.west, d.west, d.east * d.east)));
  const float around = fmaf(0.25f, sum, pixel);  // the mean of the neighbours
  const float around2 = around * around;
  const float roughness = fmaf(-0.125f * sum, sum, squares);
  const float c = (k.numerator * around2) * reciprocal(fmaf(k.denominator, around2, roughness));
  return fminf(c, 1.0f);
}

/// What flows in from north, west and east ...
AMASIA_HD inline float inflow(const Gradient& d, float own, float east) {
  return fmaf(east, d.east, own * (d.north + d.west));
}
/// ... and the pixel's next value, with what flows in from the south.
AMASIA_HD inline float diffused(float pixel, float inflow, float south_difference, float south,
                                float quarter_lambda) {
  return fmaf(quarter_lambda, fmaf(south, south_difference, inflow), pixel);
}

}  // namespace amasia::srad
