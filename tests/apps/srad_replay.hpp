// One iteration of srad with the roundings of the device, a pixel at a time, on the CPU.
#pragma once

#include "apps/srad/cpu_reference.hpp"
#include "apps/srad/kernel.cuh"
#include "tests/test.hpp"

namespace amasia::srad {

inline Image<float> generated(std::int64_t rows, std::int64_t columns, int challenge) {
  Image<float> image{rows, columns, {}};
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      image.pixels.push_back(generated_pixel(5, challenge, r, c, columns));
    }
  }
  return image;
}

inline Image<float> iterate_fp32(const Image<float>& image, const Speckle& k,
                                 float lambda_quarter) {
  const std::int64_t rows = image.rows, columns = image.columns;
  const auto at = [&](std::int64_t r, std::int64_t c) {
    return image.pixels[std::clamp<std::int64_t>(r, 0, rows - 1) * columns +
                        std::clamp<std::int64_t>(c, 0, columns - 1)];
  };
  const auto gradient = [&](std::int64_t r, std::int64_t c) {
    return Gradient{at(r - 1, c) - at(r, c), at(r + 1, c) - at(r, c), at(r, c - 1) - at(r, c),
                    at(r, c + 1) - at(r, c)};
  };
  const auto coefficient = [&](std::int64_t r, std::int64_t c) {
    r = std::min(r, rows - 1);
    c = std::min(c, columns - 1);
    return diffusion(at(r, c), gradient(r, c), k);
  };
  Image<float> next{rows, columns, {}};
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const Gradient d = gradient(r, c);
      next.pixels.push_back(diffused(at(r, c), inflow(d, coefficient(r, c), coefficient(r, c + 1)),
                                     d.south, coefficient(r + 1, c), lambda_quarter));
    }
  }
  return next;
}

}  // namespace amasia::srad
