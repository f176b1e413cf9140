// The schedules iso and iso-walk: Rodinia's three kernels per 16 columns, on tiles of 16 x 16.
//
// - the diagonal tile: 16 threads there, a warp here
// - the perimeter: one warp per tile beside and below
// - the internal tiles: one thread per element; a block has one tile, as the original, or walks
//   several
//
// Unlike the original, any n: what lies beyond the matrix is neither read nor written, and counts
// as zero. What they compute of data that is in shared memory is written once for all strategies.
#pragma once

#include <tuple>

#include "apps/lud/schedules.hpp"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::lud {
namespace {

inline constexpr int tile = 16;
inline constexpr int tile_elements = tile * tile;

/// Decomposes a tile of which `size` rows and columns are in the matrix; one warp, of which lanes
/// 0-15 work on a row and a column at a time (Rodinia's lud_diagonal).
__device__ inline void factor_tile(float* t, int size, int lane) {
  for (int k = 0; k + 1 < size; ++k) {
    if (lane > k && lane < size) {
      for (int j = 0; j < k; ++j) t[lane * tile + k] -= t[lane * tile + j] * t[j * tile + k];
      t[lane * tile + k] /= t[k * tile + k];
    }
    __syncwarp();
    if (lane > k && lane < size) {
      for (int j = 0; j <= k; ++j) {
        t[(k + 1) * tile + lane] -= t[(k + 1) * tile + j] * t[j * tile + lane];
      }
    }
    __syncwarp();
  }
}

/// Lanes 0-15: a column of the tile beside the diagonal becomes U; lanes 16-31: a row of the one
/// below becomes L (Rodinia's lud_perimeter).
__device__ inline void solve_perimeter(const float* diagonal, float* beside, float* below,
                                       int lane) {
  if (lane < tile) {
    for (int i = 1; i < tile; ++i) {
      for (int k = 0; k < i; ++k) {
        beside[i * tile + lane] -= diagonal[i * tile + k] * beside[k * tile + lane];
      }
    }
  } else {
    float* row = below + (lane - tile) * tile;
    for (int j = 0; j < tile; ++j) {
      for (int k = 0; k < j; ++k) row[j] -= row[k] * diagonal[k * tile + j];
      row[j] /= diagonal[j * tile + j];
    }
  }
}

/// What an element of the trailing matrix loses: a row of L times a column of U (lud_internal).
template <int FIRST = 0, int END = tile>
__device__ inline float inner_product(const float* below, const float* beside, int row, int column,
                                      float sum = 0) {
#pragma unroll
  for (int k = FIRST; k < END; ++k) sum += below[row * tile + k] * beside[k * tile + column];
  return sum;
}

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
/// each tile beside and below it, a block for each internal tile or row of tiles. view(problem):
/// what the kernels take besides the step, a tuple.
template <class Schedule, class D, class P, class I, class View>
ConfigOf<Problem> rodinia_config(D diagonal, P perimeter, I internal, int stages,
                                 std::size_t bytes_in_flight, View view) {
  ConfigOf<Problem> config;
  config.info = rodinia_info<Schedule>(
      stages, {{reinterpret_cast<const void*>(internal), internal_threads, 0, 1, bytes_in_flight},
               {reinterpret_cast<const void*>(perimeter), 32},
               {reinterpret_cast<const void*>(diagonal), 32}});
  config.prepare = [=](const Problem& p, const Device&) -> Launch {
    const auto enqueue = [more = view(p)](auto kernel, dim3 grid, int threads, const RodiniaStep& s,
                                          Stream stream) {
      const LaunchShape shape{grid, dim3(static_cast<unsigned>(threads))};
      std::apply([&](const auto&... of_view) { launch(kernel, shape, stream, s, of_view...); },
                 more);
    };
    return rodinia(
        p, [=](const RodiniaStep& s, Stream stream) { enqueue(diagonal, dim3(1), 32, s, stream); },
        [=](const RodiniaStep& s, unsigned side, Stream stream) {
          enqueue(perimeter, dim3(side), 32, s, stream);
        },
        [=](const RodiniaStep& s, unsigned side, Stream stream) {
          enqueue(internal, internal_grid<Schedule>(side), internal_threads, s, stream);
        });
  };
  return config;
}
template <class Schedule, class D, class P, class I>
ConfigOf<Problem> rodinia_config(D diagonal, P perimeter, I internal, int stages,
                                 std::size_t bytes_in_flight) {
  return rodinia_config<Schedule>(diagonal, perimeter, internal, stages, bytes_in_flight,
                                  [](const Problem&) { return std::tuple<>(); });
}

}  // namespace
}  // namespace amasia::lud
