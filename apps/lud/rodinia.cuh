// The schedules iso and iso-walk: Rodinia's three kernels per 16 columns, on tiles of 16 x 16.
//
// - the diagonal tile: 16 threads there, a warp here
// - the perimeter: one warp per tile beside and below
// - the internal tiles: one thread per element; a block has one tile, as the original, or walks
//   several
//
// Unlike the original, any n: what lies beyond the matrix is neither read nor
// written, and counts as zero.
#pragma once

#include "apps/lud/kernel.cuh"
#include "apps/lud/schedules.hpp"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::lud {
namespace {

inline constexpr int internal_threads = tile_elements;
using RodiniaTile = Tile<float, tile, tile>;

/// One step: tile row and column `first / tile` are finished, what is behind `next` is updated.
struct RodiniaStep {
  Grid<float> m;
  int first;
  __host__ __device__ int next() const { return first + tile; }
  __host__ __device__ int size() const {
    const auto left = static_cast<int>(m.rows) - first;
    return left < tile ? left : tile;
  }
  __host__ __device__ Grid<const float> source() const {
    return {m.data, m.rows, m.columns, m.pitch};
  }
  /// Tiles beside the diagonal one.
  __host__ __device__ int side() const {
    return static_cast<int>((m.rows - first + tile - 1) / tile) - 1;
  }
  __host__ __device__ TileOrigin beside(int i) const { return {first, next() + i * tile}; }
  __host__ __device__ TileOrigin below(int i) const { return {next() + i * tile, first}; }
};

/// The internal tiles of a block: [begin, end) of those beside the diagonal.
template <class Schedule>
struct RowOfTiles {
  int begin, end;
  __device__ explicit RowOfTiles(const RodiniaStep& s)
      : begin(static_cast<int>(blockIdx.x) * Schedule::tiles), end(begin + Schedule::tiles) {
    if (Schedule::tiles > 1 && end > s.side()) end = s.side();
  }
};

/// The e-th 16 bytes of a tile; zero where they lie beyond the matrix.
__device__ inline int4 load_chunk(const RodiniaStep& s, TileOrigin from, int e) {
  const Grid<const float> m = s.source();
  const Chunk c = chunk_of<RodiniaTile>(e, m, from);
  return c.inside > 0 ? *reinterpret_cast<const int4*>(m.data + c.grid_offset) : int4{};
}

/// A tile on its way through registers, 16 bytes to each of the first threads; zero past `end`.
struct HeldTile {
  int4 chunk;
  __device__ HeldTile(const RodiniaStep& s, int i, int end, int thread) : chunk{} {
    if (thread < RodiniaTile::chunks && i < end) chunk = load_chunk(s, s.beside(i), thread);
  }
  __device__ void store(float* to, int thread) const {
    if (thread < RodiniaTile::chunks) reinterpret_cast<int4*>(to)[thread] = chunk;
  }
};

/// A tile's rows back to the matrix, by 16-byte chunks; a warp or more.
__device__ inline void store_rows(const RodiniaStep& s, TileOrigin to, const float* from,
                                  int thread, int threads) {
  for (int e = thread; e < RodiniaTile::chunks; e += threads) {
    const std::int64_t row = to.row + e / 4, column = to.column + e % 4 * 4;
    if (row < s.m.rows && column < s.m.columns) {
      *reinterpret_cast<float4*>(&s.m.at(row, column)) =
          *reinterpret_cast<const float4*>(from + 4 * e);
    }
  }
}

/// Enqueues the three kernels of every step: launch_diagonal(step, stream) and so on, the last two
/// with the number of tiles on a side, which is not zero.
template <class D, class P, class I>
Launch rodinia(const Problem& p, D launch_diagonal, P launch_perimeter, I launch_internal) {
  return [=](Stream stream) {
    for (int first = 0; first < p.matrix.rows; first += tile) {
      const RodiniaStep step{p.matrix, first};
      launch_diagonal(step, stream);
      if (step.side() == 0) break;
      launch_perimeter(step, step.side(), stream);
      launch_internal(step, step.side(), stream);
    }
  };
}

/// What a config of these schedules is called, and its kernels.
template <class Schedule>
ConfigInfo rodinia_info(int stages, std::vector<KernelUse> kernels) {
  ConfigInfo info;
  info.name = info.schedule = std::string(Schedule::name);
  info.geometry = {
      {"tile", tile}, {"threads", internal_threads}, {"tiles_per_block", Schedule::tiles}};
  info.movement = {{"stages", stages}};
  info.kernels = std::move(kernels);
  return info;
}

/// Blocks of the internal tiles, `side` of them on a side.
template <class Schedule>
dim3 internal_grid(unsigned side) {
  return {(side + Schedule::tiles - 1) / Schedule::tiles, side};
}

/// A config whose kernels are launched as the original's: a warp for the diagonal tile, a warp for
/// each tile beside and below it, a block for each internal tile or row of tiles.
template <class Schedule, class D, class P, class I>
ConfigOf<Problem> rodinia_config(D diagonal, P perimeter, I internal, int stages,
                                 std::size_t bytes_in_flight) {
  ConfigOf<Problem> config;
  config.info = rodinia_info<Schedule>(
      stages, {{reinterpret_cast<const void*>(internal), internal_threads, 0, 1, bytes_in_flight},
               {reinterpret_cast<const void*>(perimeter), 32},
               {reinterpret_cast<const void*>(diagonal), 32}});
  config.prepare = [=](const Problem& p, const Device&) -> Launch {
    return rodinia(
        p,
        [=](const RodiniaStep& s, Stream stream) {
          launch(diagonal, LaunchShape{dim3(1), dim3(32)}, stream, s);
        },
        [=](const RodiniaStep& s, unsigned side, Stream stream) {
          launch(perimeter, LaunchShape{dim3(side), dim3(32)}, stream, s);
        },
        [=](const RodiniaStep& s, unsigned side, Stream stream) {
          launch(internal, LaunchShape{internal_grid<Schedule>(side), dim3(internal_threads)},
                 stream, s);
        });
  };
  return config;
}

}  // namespace
}  // namespace amasia::lud
