// iso: Rodinia's launch structure (srad_v2): blocks of 16 x 16 threads, a tile each, and two
// launches per iteration. The first leaves C and the four differences in memory, the second reads
// them. The sums, which Rodinia takes on the CPU, come with the second; a launch of one warp makes
// q0 of them.
#pragma once

#include "apps/srad/schedules.hpp"
#include "apps/srad/sums.cuh"
#include "harness/variant.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::srad {

inline constexpr int tile = 16, tile_threads = tile * tile, tile_warps = tile_threads / lanes;

/// The pixels that the first kernel reads of a tile at (row, column), from (row - 1, column - 4)
/// because a copy of 16 bytes starts on 16 bytes ...
using PixelTile = Tile<float, tile + 2, tile + 8>;
/// ... and the coefficients that the second one reads, from (row, column).
using CoefficientTile = Tile<float, tile + 1, tile + 4>;
inline constexpr int left = 4;  // columns of a PixelTile before the tile

struct IsoView {
  Grid<const float> source;
  Grid<float> result;
  Grid<float> coefficient, north, south, west, east;
  const Speckle* speckle;
  Sums* sums;  // of the next iteration
  float quarter_lambda;
  int tiles_across;  // blocks in a row of tiles
};

template <class T>
AMASIA_HD Grid<const T> readable(const Grid<T>& g) {
  return {g.data, g.rows, g.columns, g.pitch};
}

/// A thread's pixel.
struct Cell {
  int x, y;                     // in the tile
  int first_row, first_column;  // of the tile
  int row, column;
  bool inside;
  __device__ explicit Cell(const IsoView& v)
      : x(static_cast<int>(threadIdx.x) % tile),
        y(static_cast<int>(threadIdx.x) / tile),
        first_row(static_cast<int>(blockIdx.x) / v.tiles_across * tile),
        first_column(static_cast<int>(blockIdx.x) % v.tiles_across * tile),
        row(first_row + y),
        column(first_column + x),
        inside(row < static_cast<int>(v.result.rows) &&
               column < static_cast<int>(v.result.columns)) {}
  __device__ TileOrigin pixels() const { return {first_row - 1, first_column - left}; }
  __device__ TileOrigin coefficients() const { return {first_row, first_column}; }
};

/// What the first kernel computes of a pixel and its neighbours. Those beyond the edge are ignored.
struct Coefficient {
  Gradient d;
  float c;
  __device__ Coefficient(const IsoView& v, const Cell& cell, float pixel, float north, float south,
                         float west, float east)
      : d{cell.row > 0 ? north - pixel : 0,
          cell.row < static_cast<int>(v.result.rows) - 1 ? south - pixel : 0,
          cell.column > 0 ? west - pixel : 0,
          cell.column < static_cast<int>(v.result.columns) - 1 ? east - pixel : 0},
        c(diffusion(pixel, d, *v.speckle)) {}
  __device__ void store(const IsoView& v, const Cell& cell) const {
    if (!cell.inside) return;
    v.coefficient.at(cell.row, cell.column) = c;
    v.north.at(cell.row, cell.column) = d.north;
    v.south.at(cell.row, cell.column) = d.south;
    v.west.at(cell.row, cell.column) = d.west;
    v.east.at(cell.row, cell.column) = d.east;
  }
};

/// Of a PixelTile.
__device__ inline Coefficient coefficient_of(const IsoView& v, const Cell& cell,
                                             const float* pixels) {
  const float* own = pixels + (cell.y + 1) * PixelTile::columns + cell.x + left;
  return {v, cell, *own, own[-PixelTile::columns], own[PixelTile::columns], own[-1], own[1]};
}

/// The second kernel's pixel; `south` and `east` beyond the edge are ignored. 0 outside the image.
__device__ inline float next_pixel(const IsoView& v, const Cell& cell, float pixel,
                                   const Gradient& d, float own, float south, float east) {
  if (cell.row >= static_cast<int>(v.result.rows) - 1) south = 0;
  if (cell.column >= static_cast<int>(v.result.columns) - 1) east = 0;
  return cell.inside ? diffused(pixel, inflow(d, own, east), d.south, south, v.quarter_lambda) : 0;
}

/// Adds the pixel to the sums; by all threads.
__device__ inline void sum_pixel(const IsoView& v, const Cell& cell, float pixel) {
  PixelSums<> own;
  if (cell.inside) own.add(pixel);
  add_block<tile_warps>(own, v.sums);
}
/// The same, stored by the threads.
__device__ inline void store_pixel(const IsoView& v, const Cell& cell, float pixel) {
  if (cell.inside) v.result.at(cell.row, cell.column) = pixel;
  sum_pixel(v, cell, pixel);
}

/// Iteration i, of which only the first does not read what it writes.
inline IsoView iso_view(const Problem& p, int i, int cluster) {
  return {i == 0 ? p.image : readable(p.result),
          p.result,
          p.coefficient,
          p.north,
          p.south,
          p.west,
          p.east,
          p.speckle,
          p.sums + (std::int64_t{i} + 1) * slots,
          p.quarter_lambda,
          static_cast<int>(round_up(ceil_div(p.image.columns, tile), cluster))};
}

/// enqueue(view, iteration, shape, stream) launches the two kernels of an iteration.
template <class Enqueue>
Launch iso_launch(const Problem& p, int cluster, const Enqueue& enqueue) {
  const IsoView first = iso_view(p, 0, cluster);
  const std::int64_t blocks = ceil_div(p.image.rows, tile) * first.tiles_across;
  const LaunchShape shape{dim3(static_cast<unsigned>(blocks)), dim3(tile_threads), 0,
                          static_cast<unsigned>(cluster)};
  return [=](Stream stream) {
    begin_run(p, stream);
    for (int i = 0; i < p.iterations; ++i) {
      scale_of_sums<lanes><<<1, lanes, 0, stream>>>(p.sums + std::int64_t{i} * slots,
                                                    p.image.rows * p.image.columns, p.speckle);
      AMASIA_CUDA(cudaGetLastError());
      enqueue(iso_view(p, i, cluster), i, shape, stream);
    }
  };
}

/// The config iso of a strategy.
inline ConfigOf<Problem> iso(const void* first, const void* second,
                             std::function<Launch(const Problem&, const Device&)> prepare,
                             int cluster = 1) {
  ConfigOf<Problem> c;
  c.info.name = c.info.schedule = std::string(iso_name);
  c.info.geometry = {{"threads", tile_threads}, {"tile", tile}};
  if (cluster > 1) c.info.geometry.push_back({"cluster_blocks", cluster});
  c.info.kernels = {{first, tile_threads, 0, cluster, PixelTile::bytes},
                    {second, tile_threads, 0, cluster,
                     CoefficientTile::bytes + 5 * tile_threads * sizeof(float)}};
  c.prepare = std::move(prepare);
  return c;
}
/// Of two kernels that take nothing but the view.
inline ConfigOf<Problem> iso(void (*first)(IsoView), void (*second)(IsoView), int cluster = 1) {
  return iso(
      reinterpret_cast<const void*>(first), reinterpret_cast<const void*>(second),
      [=](const Problem& p, const Device&) {
        return iso_launch(p, cluster,
                          [=](const IsoView& v, int, const LaunchShape& shape, Stream stream) {
                            launch(first, shape, stream, v);
                            launch(second, shape, stream, v);
                          });
      },
      cluster);
}

}  // namespace amasia::srad
