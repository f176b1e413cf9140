// Tiles, boxes, their swizzle and the ring of stages, against their definitions.
#include <type_traits>

#include "tests/test.hpp"
#include "variants/geometry/box.hpp"
#include "variants/geometry/ring.hpp"
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

constexpr BoxOfGrid good{256, 1000, 1000, 1024, 4, 64, 32, Swizzle::bytes128};

TEST(BoxOfGrid, ServesWithinTheLimitsAndNamesTheOneThatItBreaks) {
  using Box = BoxOfGrid;
  struct Case {
    const char* part;  // of the objection; "" for none
    void (*change)(Box&);
  };
  const Case cases[] = {
      {"", [](Box&) {}},
      {"", [](Box& b) { b.address = 16; }},
      {"", [](Box& b) { b.rows = b.columns = 1; }},
      {"", [](Box& b) { b.rows = std::int64_t{1} << 32; }},
      {"", [](Box& b) { b.pitch = (std::int64_t{1} << 38) - 4; }},
      {"", [](Box& b) { b.box_rows = 256; }},
      {"", [](Box& b) { b.swizzle = Swizzle::none, b.box_columns = 256; }},
      {"", [](Box& b) { b.element_bytes = 2, b.box_columns = 64; }},
      {"", [](Box& b) { b.swizzle = Swizzle::bytes32, b.box_columns = 8; }},
      {"", [](Box& b) { b.swizzle = Swizzle::bytes64, b.box_columns = 8; }},
      {"", [](Box& b) { b.swizzle = Swizzle::bytes128, b.box_columns = 8; }},
      {"multiple of 16 bytes", [](Box& b) { b.address = 8; }},
      {"not 0 x 1000", [](Box& b) { b.rows = 0; }},
      {"1 to 2^32", [](Box& b) { b.columns = (std::int64_t{1} << 32) + 1; }},
      {"not 1001 x 4", [](Box& b) { b.pitch = 1001; }},
      {"below 2^40", [](Box& b) { b.pitch = std::int64_t{1} << 38; }},
      {"below 2^40", [](Box& b) { b.pitch = std::int64_t{1} << 62; }},
      {"not 257 x 32", [](Box& b) { b.box_rows = 257; }},
      {"not 64 x 0", [](Box& b) { b.box_columns = 0; }},
      {"not 12", [](Box& b) { b.box_columns = 3; }},
      {"swizzled by 128 bytes has no more, not 144", [](Box& b) { b.box_columns = 36; }},
      {"swizzled by 64 bytes has no more, not 128", [](Box& b) { b.swizzle = Swizzle::bytes64; }},
      {"swizzled by 32 bytes", [](Box& b) { b.swizzle = Swizzle::bytes32; }},
  };
  for (const Case& c : cases) {
    Box box = good;
    c.change(box);
    const std::string objection = objection_to(box).value_or("");
    EXPECT_EQ(objection.empty(), *c.part == 0) << objection;
    EXPECT_TRUE(contains(objection, c.part));
    EXPECT_EQ(objection.find('\n'), std::string::npos);
  }
}

TEST(SwizzledChunk, PutsOneColumnOfEightRowsIntoAllBanks) {
  for (int chunk = 0; chunk < 8; ++chunk) {
    std::set<int> places;
    for (int row = 8; row < 16; ++row) places.insert(swizzled_chunk(row, chunk));
    EXPECT_EQ(places.size(), 8u);
    EXPECT_EQ(*places.begin(), 0);
    EXPECT_EQ(*places.rbegin(), 7);
  }
}

TEST(SwizzledChunk, IsItsOwnInverseAndLeavesTheFirstRowAlone) {
  for (int row = 0; row < 32; ++row) {
    for (int chunk = 0; chunk < 8; ++chunk) {
      EXPECT_EQ(swizzled_chunk(row, swizzled_chunk(row, chunk)), chunk);
      EXPECT_EQ(swizzled_chunk(row + 8, chunk), swizzled_chunk(row, chunk));
      if (row % 8 == 0) {
        EXPECT_EQ(swizzled_chunk(row, chunk), chunk);
      }
    }
  }
}

template <class Stages>
class Ring : public testing::Test {};
template <int N>
using Stages = std::integral_constant<int, N>;
using SomeStages =
    testing::Types<Stages<1>, Stages<2>, Stages<3>, Stages<4>, Stages<5>, Stages<7>, Stages<12>>;
TYPED_TEST_SUITE(Ring, SomeStages);

// As an mbarrier counts: a use of its stage completes a phase, and turns the parity that the next
// one waits for.
TYPED_TEST(Ring, GoesRoundAndTurnsItsParity) {
  constexpr int stages = TypeParam::value;
  std::array<unsigned, stages> parity{};
  PipelineState<stages> state;
  for (long long use = 0; use < 5 * stages + 3; ++use, ++state) {
    const int stage = static_cast<int>(use % stages);
    const auto after = PipelineState<stages>::after(use);
    auto next = state.before();
    ++next;
    for (const int index : {state.index, after.index, next.index}) {
      ASSERT_EQ(index, stage) << use;
    }
    for (const unsigned phase : {state.phase, after.phase, next.phase}) {
      ASSERT_EQ(phase, parity[stage]) << use;
    }
    parity[stage] ^= 1;
  }
}

TEST(PipelineState, CountsUsesIn64Bits) {
  const auto state = PipelineState<4>::after(4LL * 3'000'000'001 + 1);
  EXPECT_TRUE(state.index == 1 && state.phase == 1u);
  constexpr long long far = (1LL << 40) + 1;
  EXPECT_EQ(PipelineState<4>::after(far).index, 1);
  EXPECT_EQ(PipelineState<4>::after(far).phase, 0u);
  EXPECT_EQ(PipelineState<4>::after(far + 4).phase, 1u);
}

}  // namespace
}  // namespace amasia
