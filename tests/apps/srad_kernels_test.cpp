// The device code of strips, run on the CPU (tests/emulated/block.hpp): what warps make of the rows
// of their windows equals, bit for bit, what the formula makes of each pixel alone.
#include "tests/emulated/block.hpp"
#include "tests/test.hpp"

namespace amasia::emulated {
inline float shuffle_by(float value, int lanes) {
  const int lane = thread % warp, from = lane + lanes;
  return shuffle(0, value, from < 0 || from >= warp ? lane : from);
}
}  // namespace amasia::emulated
#define __shfl_up_sync(mask, value, n) amasia::emulated::shuffle_by(value, -(n))
#define __shfl_down_sync(mask, value, n) amasia::emulated::shuffle_by(value, n)

// Device code stands below all of this.
#include "apps/srad/kernel.cuh"
#include "apps/srad/strip.hpp"
#include "apps/srad/walker.cuh"
#include "tests/apps/srad_replay.hpp"

namespace amasia::srad {
namespace {

constexpr float nothing = std::numeric_limits<float>::quiet_NaN();  // never to be read as data
constexpr float quarter = 0.125f;

/// Rows as far apart as on the device.
struct Padded {
  int rows, columns, pitch;
  std::vector<float> pixels;
  explicit Padded(const Image<float>& image)
      : rows(static_cast<int>(image.rows)),
        columns(static_cast<int>(image.columns)),
        pitch((columns + 31) / 32 * 32),
        pixels(static_cast<std::size_t>(rows) * pitch, nothing) {
    for (int r = 0; r < rows; ++r) {
      std::copy_n(image.pixels.begin() + r * columns, columns, pixels.begin() + r * pitch);
    }
  }
};

template <bool UPWARDS>
Image<float> by_strips(const Padded& image, const Speckle& k, const Division& division) {
  Image<float> next{image.rows, image.columns, {}};
  next.pixels.resize(static_cast<std::size_t>(image.rows) * image.columns, nothing);
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
        const float* from = &image.pixels[place.row<UPWARDS>(number) * image.pitch + column];
        float4 row{from[0], from[1], from[2], from[3]};
        if (place.at_edge) row = with_edges(row, place);
        const float4 done = walker.take(row, k, quarter);
        if (!place.finishes || number < halo_rows) continue;
        const int at = place.finished_row<UPWARDS>(number);
        const float values[] = {done.x, done.y, done.z, done.w};
        for (int i = 0; i < per_lane; ++i) {
          if (place.column + i >= image.columns) continue;
          next.pixels[at * image.columns + place.column + i] = values[i];
        }
      }
    });
  }
  return next;
}

TEST(SradWalker, ComputesEveryPixelAsThePlainKernelDoes) {
  const Speckle k = speckle_of(0.08);
  for (const auto& [rows, columns] : {std::array{1, 1}, std::array{1, 37}, std::array{9, 2},
                                      std::array{3, 32}, std::array{11, 120}, std::array{9, 121},
                                      std::array{2, 122}, std::array{2, 123}, std::array{2, 241}}) {
    const Image<float> image = generated(rows, columns, 0);
    const std::vector<float> expected = iterate_fp32(image, k, quarter).pixels;
    const Division division = Division::of(rows, columns, 1);
    const Padded padded(image);
    EXPECT_EQ(by_strips<false>(padded, k, division).pixels, expected) << rows << " x " << columns;
    EXPECT_EQ(by_strips<true>(padded, k, division).pixels, expected) << rows << " x " << columns;
  }
}

}  // namespace
}  // namespace amasia::srad
