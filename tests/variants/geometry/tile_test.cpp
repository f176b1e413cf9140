// Tiles and the chunks they are copied in, against the definition cell by cell.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "variants/geometry/tile.hpp"

namespace amasia {
namespace {

constexpr float outside = -1;

/// A grid whose element (r, c) is 1000 r + c, padding -2.
struct Cells {
  std::vector<float> data;
  Grid<const float> grid;
  Cells(std::int64_t rows, std::int64_t columns) {
    const std::int64_t pitch = padded_pitch<float>(columns);
    data.assign(static_cast<std::size_t>(rows * pitch), -2);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        data[r * pitch + c] = static_cast<float>(1000 * r + c);
      }
    }
    grid = {data.data(), rows, columns, pitch};
  }
};

template <class TileT>
void expect_tile(const Cells& cells, TileOrigin origin) {
  std::vector<float> tile(TileT::elements, outside);
  std::vector<int> chunks_of(TileT::elements);
  for (int i = 0; i < TileT::chunks; ++i) {
    const Chunk chunk = chunk_of<TileT>(i, cells.grid, origin);
    ASSERT_GE(chunk.inside, 0);
    ASSERT_LE(chunk.inside, TileT::chunk_elements);
    for (int e = 0; e < TileT::chunk_elements; ++e) ++chunks_of[chunk.tile_offset + e];
    for (int e = 0; e < chunk.inside; ++e) {
      tile[chunk.tile_offset + e] = cells.grid.data[chunk.grid_offset + e];
    }
  }
  for (int r = 0; r < TileT::rows; ++r) {
    for (int c = 0; c < TileT::columns; ++c) {
      const std::int64_t row = origin.row + r, column = origin.column + c;
      const bool is_inside =
          row >= 0 && row < cells.grid.rows && column >= 0 && column < cells.grid.columns;
      const float expected = is_inside ? cells.grid.at(row, column) : outside;
      ASSERT_EQ(tile[r * TileT::columns + c], expected) << row << ", " << column;
      ASSERT_EQ(chunks_of[r * TileT::columns + c], 1);
    }
  }
}

TEST(Tile, ChunksCoverItOnceAndKnowWhatLiesInside) {
  const Cells cells(37, 70);
  for (const std::int64_t row : {-16, -3, 0, 5, 30, 36, 37, 50}) {
    for (const std::int64_t column : {-32, -16, -4, 0, 4, 48, 64, 68, 72, 128}) {
      expect_tile<Tile<float, 8, 16>>(cells, {row, column});
      expect_tile<Tile<float, 3, 32>>(cells, {row, column});
    }
    // Chunks of one element may start anywhere.
    for (const std::int64_t column : {-17, -1, 1, 57, 69, 71}) {
      expect_tile<Tile<float, 8, 16, 4>>(cells, {row, column});
    }
  }
}

TEST(Tile, KnowsItsSizes) {
  using T = Tile<double, 4, 6>;
  static_assert(T::elements == 24 && T::bytes == 192 && T::chunk_elements == 2);
  static_assert(T::chunks_per_row == 3 && T::chunks == 12);
}

TEST(PaddedPitch, IsTheLeastWithRowsOnLinesOf128Bytes) {
  for (std::int64_t columns = 1; columns < 500; ++columns) {
    const std::int64_t pitch = padded_pitch<float>(columns);
    EXPECT_EQ(pitch * 4 % 128, 0);
    EXPECT_GE(pitch, columns);
    EXPECT_LT(pitch - 32, columns);
  }
  EXPECT_EQ(padded_pitch<std::uint8_t>(129), 256);
  EXPECT_EQ(padded_pitch<double>(16), 16);
}

TEST(Grid, CountsInPitches) {
  const Cells cells(3, 5);
  EXPECT_EQ(cells.grid.at(2, 4), 2004);
  EXPECT_EQ(&cells.grid.at(2, 4), cells.data.data() + 2 * 32 + 4);
}

}  // namespace
}  // namespace amasia
