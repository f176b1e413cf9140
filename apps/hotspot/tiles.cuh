// A pipeline of tiles that the windows of a block share (baseline, register_bypass, overlap, and
// tma with a producer warp): the tile, its edges, who copies which part of a row, and the kernel
// where no warp only copies.
#pragma once

#include <algorithm>

#include "apps/hotspot/square.cuh"
#include "apps/hotspot/stream.cuh"
#include "variants/geometry/ring.hpp"

namespace amasia::hotspot {

/// Fills the halo columns that lie outside the grid with their mirror images, in `rows` rows of
/// `width` cells that `threads` threads share. The halo's cells are dealt out one per thread: done
/// column by column, load after store after load, this would take as long as the computation, and
/// edge blocks would hold up the whole pass. A barrier has to follow.
template <class S>
__device__ void mirror_halo(float* cells, int rows, int width, int first_column, int columns,
                            int thread, int threads) {
  for (int i = thread; i < rows * S::halo; i += threads) {
    float* row = cells + i / S::halo * width - first_column;  // indexed by grid column
    const int west = -1 - i % S::halo;
    const int east = columns + i % S::halo;
    if (first_column < 0) row[west] = row[mirror(west, columns)];
    if (east < first_column + width) {
      // An image outside the tile belongs to a window that lies outside the grid altogether.
      const int image = mirror(east, columns);
      if (image >= first_column && east >= first_column) row[east] = row[image];
    }
  }
}

/// A row-block of temperatures and of powers that the windows of a block share: (rows, columns).
template <class S>
struct BlockTile {
  float temperature[S::rows][S::tile_columns];
  float power[S::rows][S::tile_columns];

  __device__ void mirror_columns(const Place<S>& place) {
    mirror_halo<S>(&temperature[0][0], 2 * S::rows, S::tile_columns, place.first_column,
                   place.grid_columns, threadIdx.x, S::computing_threads);
  }
};

template <class S>
struct SharedStorage {
  BlockTile<S> stages[S::stages];
};

/// The 16-byte chunk that a computing thread copies of each row of the block's tile.
template <class S>
struct ChunkSource {
  const float* temperature;  // the chunk in the first row of the row-block to be copied
  const float* power;
  int pitch;
  int column;   // of the grid
  bool inside;  // the chunk begins inside the grid

  __device__ ChunkSource(const PassView& pass, const Place<S>& place)
      : pitch(static_cast<int>(pass.result.pitch)),
        column(place.first_column + columns_per_lane * static_cast<int>(threadIdx.x)) {
    inside = static_cast<int>(threadIdx.x) < S::tile_chunks && column >= 0 &&
             column < place.grid_columns;
    const std::int64_t from = place.run.first * pass.result.pitch + (inside ? column : 0);
    temperature = pass.temperature.data + from;
    power = pass.power.data + from;
  }
  __device__ void advance() {
    temperature += std::int64_t{pitch} * S::rows;
    power += std::int64_t{pitch} * S::rows;
  }
};

/// Starts the thread's copies of the next row-block, which begins at row `row`, into a tile. The
/// halo columns outside the grid are copied cell by cell from their mirror images in global memory,
/// a cell by each thread. Mirroring them in the tile would take a barrier and a latency per
/// row-block, and all blocks would wait for those at the edges. A chunk that the grid's last column
/// cuts in two is copied in the same way, because of two copies to one place either may be the
/// last.
template <class S, class Copier = AsyncCopy>
__device__ void copy_row_block(BlockTile<S>& tile, ChunkSource<S>& source, int row,
                               const PassView& pass, const Place<S>& place,
                               const Copier& copier = {}) {
  const int columns = place.grid_columns, whole = columns - columns % columns_per_lane;
  if (source.inside && source.column < whole) {
    const int at = source.column - place.first_column;
    each_row<S>(row, place.grid_rows, source.pitch, [&](int i, std::int64_t offset) {
      copier.template copy<16>(&tile.temperature[i][at], source.temperature + offset);
      copier.template copy<16>(&tile.power[i][at], source.power + offset);
    });
  }
  source.advance();
  if (!place.at_edge) return;
  constexpr int side = S::halo + columns_per_lane;  // cells in a row: halo, and a part of a chunk
#pragma unroll 1
  for (int cell = threadIdx.x; cell < 2 * S::rows * side; cell += S::computing_threads) {
    const int i = cell / (2 * side), in_row = cell % (2 * side);
    const int column = in_row < S::halo ? in_row - S::halo : whole + in_row - S::halo;
    const int at = column - place.first_column;
    if (at < 0 || at >= S::tile_columns || column >= columns + S::halo) continue;
    const std::int64_t from =
        mirror(row + i, place.grid_rows) * pass.result.pitch + mirror(column, columns);
    copier.template copy<4>(&tile.temperature[i][at], pass.temperature.data + from);
    copier.template copy<4>(&tile.power[i][at], pass.power.data + from);
  }
}

/// Reads a block's tiles from shared memory and stores results from registers: what all pipelines
/// of block tiles have in common.
template <class S>
struct TileReader : DirectStore<S> {
  SharedStorage<S>& shared;
  const Place<S>& place;
  PipelineState<S::stages> state;
  int column = threadIdx.x / lanes * S::useful + threadIdx.x % lanes * columns_per_lane;

  __device__ TileReader(SharedStorage<S>& stages, const PassView& pass, const Place<S>& where)
      : DirectStore<S>(pass, where.run, where.lane_column(), where.lane_finishes()),
        shared(stages),
        place(where) {}
  __device__ float4 temperature(int i) const {
    return *reinterpret_cast<const float4*>(&shared.stages[state.index].temperature[i][column]);
  }
  __device__ float4 power(int i) const {
    return *reinterpret_cast<const float4*>(&shared.stages[state.index].power[i][column]);
  }
};

template <class S, class Pipeline>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) tile_strip(PassView pass) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<SharedStorage<S>*>(memory);
  const Place<S> place(pass);
  Pipeline pipeline(shared, pass, place);
  stream<S>(pipeline, place.run.blocks, pass);
}

/// For add_streaming() (stream.cuh): PIPELINE is a TileReader that also moves the tiles.
template <template <class> class PIPELINE>
struct TileKernels : PlainKernels {
  template <class S>
  static auto kernel() {
    return tile_strip<S, PIPELINE<S>>;
  }
  template <class S>
  static constexpr std::size_t shared_bytes = sizeof(SharedStorage<S>);
  template <class S>
  static constexpr std::size_t in_flight = std::max(1, S::stages - 1) * sizeof(BlockTile<S>);
};

}  // namespace amasia::hotspot
