// Boxes of a grid as the copy engine moves them: their limits, and where their elements lie in
// shared memory (CUDA Driver API: cuTensorMapEncodeTiled). Plain arithmetic, so the CPU tests cover
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "variants/host_device.hpp"

namespace amasia {

/// How the copy engine permutes the 16-byte chunks of a box in shared memory. With bytes128, chunk
/// c of row r is stored at chunk c ^ (r % 8): eight threads that read the same column of eight rows
/// have no bank conflicts. A row of the box then has exactly that many bytes (CUDA Driver API:
/// cuTensorMapEncodeTiled), and the box starts on a multiple of 8 rows of them (1024 B for
/// bytes128).
enum class Swizzle { none, bytes32, bytes64, bytes128 };

/// The place of 16-byte chunk `chunk` of row `row` in a box whose rows are 128 bytes, under
/// Swizzle::bytes128.
AMASIA_HD constexpr int swizzled_chunk(int row, int chunk) { return chunk ^ (row & 7); }

/// A grid in global memory and the box that is cut out of it. Everything in elements but `address`.
struct BoxOfGrid {
  std::uintptr_t address = 0;
  std::int64_t rows = 0, columns = 0, pitch = 0;
  int element_bytes = 0;
  int box_rows = 0, box_columns = 0;
  Swizzle swizzle = Swizzle::none;
};

/// The limit that the copy engine sets and this box breaks, in one line; nothing when it serves.
inline std::optional<std::string> objection_to(const BoxOfGrid& b) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 32;  // along a dimension of the grid
  constexpr std::int64_t most_pitch_bytes = std::int64_t{1} << 40;
  constexpr int most_box = 256;  // elements along a dimension of the box
  constexpr int swizzle_bytes[] = {0, 32, 64, 128};
  const auto text = [](auto number) { return std::to_string(number); };
  if (b.address % 16 != 0) return "the grid does not start on a multiple of 16 bytes";
  if (b.rows < 1 || b.columns < 1 || b.rows > most_elements || b.columns > most_elements) {
    return "a grid has 1 to 2^32 rows and columns, not " + text(b.rows) + " x " + text(b.columns);
  }
  if (b.pitch >= most_pitch_bytes / b.element_bytes || b.pitch * b.element_bytes % 16 != 0) {
    return "the bytes of a pitch are a multiple of 16 below 2^40, not " + text(b.pitch) + " x " +
           text(b.element_bytes);
  }
  if (b.box_rows < 1 || b.box_rows > most_box || b.box_columns < 1 || b.box_columns > most_box) {
    return "a box has 1 to 256 rows and columns, not " + text(b.box_rows) + " x " +
           text(b.box_columns);
  }
  const int row_bytes = b.box_columns * b.element_bytes;
  if (row_bytes % 16 != 0) {
    return "a row of a box is a multiple of 16 bytes, not " + text(row_bytes);
  }
  const int most_row_bytes = swizzle_bytes[static_cast<int>(b.swizzle)];
  if (b.swizzle != Swizzle::none && row_bytes > most_row_bytes) {
    return "a row of a box swizzled by " + text(most_row_bytes) + " bytes has no more, not " +
           text(row_bytes);
  }
  return std::nullopt;
}

}  // namespace amasia
