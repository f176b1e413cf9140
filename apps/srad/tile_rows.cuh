// The rows that the warps of a block read from a common tile: register_bypass, overlap and tma.
#pragma once

#include "apps/srad/stream.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::srad {

/// Which pieces of a row the block copies: 16 bytes each, those inside the padded image.
struct Pieces {
  std::int64_t column;  // of the tile's first piece; negative at the western edge
  int begin, end;       // pieces inside the image
  __device__ Pieces(const StripView& v, const Place& place)
      : column(place.column - tile_place()),
        begin(column < 0 ? static_cast<int>(-column / 4) : 0),
        end(row_chunks) {
    const std::int64_t inside = (v.source.pitch - column) / 4;
    if (inside < end) end = static_cast<int>(inside);
  }
  __device__ const float* source(const StripView& v, int row, int piece) const {
    return v.source.data + row * v.source.pitch + column + 4 * piece;
  }
};

/// Starts the copies of a group of rows: a thread has the same piece of each.
template <int ROWS, bool UPWARDS>
__device__ void copy_rows(TileRow (&stage)[ROWS], const StripView& v, const Place& place,
                          const Pieces& pieces, int group) {
  const int piece = static_cast<int>(threadIdx.x);
  if (piece < pieces.begin || piece >= pieces.end) return;
  const unsigned to = async::shared_address(&stage[0][4 * piece]);
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    async::copy16(to + i * static_cast<unsigned>(sizeof(TileRow)),
                  pieces.source(v, place.row<UPWARDS>(group * ROWS + i), piece));
  }
}

}  // namespace amasia::srad
