// The device code of strips, run on the CPU (tests/emulated/block.hpp): what warps make of the rows
// of their windows equals, bit for bit, what the formula makes of each pixel alone.
#include "tests/emulated/block.hpp"

namespace amasia::emulated {
inline float shuffle_by(float value, int lanes) {
  const int lane = thread % warp, from = lane + lanes;
  return shuffle(0, value, from < 0 || from >= warp ? lane : from);
}
}  // namespace amasia::emulated
#define __shfl_up_sync(mask, value, n) amasia::emulated::shuffle_by(value, -(n))
#define __shfl_down_sync(mask, value, n) amasia::emulated::shuffle_by(value, n)

// Above all device code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "apps/srad/kernel.cuh"
#include "apps/srad/strip.hpp"
#include "apps/srad/walker.cuh"

namespace amasia::srad {
namespace {

constexpr float nothing = std::numeric_limits<float>::quiet_NaN();  // never to be read as data
constexpr float quarter = 0.125f;

struct Padded {
  int rows, columns, pitch;
  std::vector<float> pixels;
  Padded(int r, int c)
      : rows(r),
        columns(c),
        pitch((c + 31) / 32 * 32),
        pixels(static_cast<std::size_t>(r) * pitch, nothing) {}
  float& at(int r, int c) { return pixels[static_cast<std::size_t>(r) * pitch + c]; }
};

Padded plain(Padded& image, const Speckle& k) {
  const auto at = [&](int r, int c) {
    return image.at(std::clamp(r, 0, image.rows - 1), std::clamp(c, 0, image.columns - 1));
  };
  const auto gradient = [&](int r, int c) {
    const float own = at(r, c);
    return Gradient{at(r - 1, c) - own, at(r + 1, c) - own, at(r, c - 1) - own, at(r, c + 1) - own};
  };
  const auto coefficient = [&](int r, int c) {
    r = std::min(r, image.rows - 1);
    c = std::min(c, image.columns - 1);
    return diffusion(at(r, c), gradient(r, c), k);
  };
  Padded next(image.rows, image.columns);
  for (int r = 0; r < image.rows; ++r) {
    for (int c = 0; c < image.columns; ++c) {
      const Gradient d = gradient(r, c);
      next.at(r, c) = diffused(at(r, c), inflow(d, coefficient(r, c), coefficient(r, c + 1)),
                               d.south, coefficient(r + 1, c), quarter);
    }
  }
  return next;
}

template <bool UPWARDS>
Padded by_strips(Padded& image, const Speckle& k, const Division& division) {
  Padded next(image.rows, image.columns);
  const auto place_of = [&](int warp, int lane) {
    return Place(warp / strip_warps, warp % strip_warps * 32 + lane, division.chunk_rows,
                 division.chunk_places, image.rows, image.columns);
  };
  for (int warp = 0; warp < division.blocks() * strip_warps; ++warp) {
    if (place_of(warp, 1).column >= image.columns) continue;
    emulated::run_block(emulated::warp, [&](int lane) {
      const Place place = place_of(warp, lane);
      Walker<UPWARDS> walker;
      for (int number = 0; number < place.row_count; ++number) {
        const int column = std::clamp(place.column, 0, image.pitch - per_lane);
        const float* from = &image.at(place.row<UPWARDS>(number), column);
        float4 row{from[0], from[1], from[2], from[3]};
        if (place.at_edge) row = with_edges(row, place);
        const float4 done = walker.take(row, k, quarter);
        if (!place.finishes || number < halo_rows) continue;
        const int at = place.finished_row<UPWARDS>(number);
        const float values[] = {done.x, done.y, done.z, done.w};
        for (int i = 0; i < per_lane; ++i) {
          if (place.column + i < image.columns) next.at(at, place.column + i) = values[i];
        }
      }
    });
  }
  return next;
}

TEST(SradWalker, ComputesEveryPixelAsThePlainKernelDoes) {
  const Speckle k = speckle_of(0.08);
  for (const auto& [rows, columns] :
       {std::array{1, 1}, std::array{1, 37}, std::array{9, 2}, std::array{3, 32},
        std::array{11, 120}, std::array{9, 121}, std::array{2, 122}, std::array{2, 123}}) {
    Padded image(rows, columns);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        image.at(r, c) = generated_pixel(3, 0, r, c, columns);
      }
    }
    Padded expected = plain(image, k);
    const Division division = Division::of(rows, columns, 1);
    Padded down = by_strips<false>(image, k, division);
    Padded up = by_strips<true>(image, k, division);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        ASSERT_EQ(down.at(r, c), expected.at(r, c)) << r << ", " << c << " of " << columns;
        ASSERT_EQ(up.at(r, c), expected.at(r, c)) << r << ", " << c << " of " << columns;
      }
    }
  }
}

}  // namespace
}  // namespace amasia::srad
