// hotspot/tma: one thread names a box of the grid by its (signed) corner, or a run of bytes. An
// mbarrier counts the arriving bytes, so nobody waits for anybody but the data.
#include "apps/hotspot/pyramid.cuh"
#include "apps/hotspot/rows.cuh"
#include "apps/hotspot/windows.cuh"

namespace amasia::hotspot {
namespace {

struct PyramidMaps {
  CUtensorMap temperature, power, result;
};

// iso, iso-walk: boxes of 16 x 20, because a box starts on a 16-byte boundary of the grid, which
// Rodinia's tile misses by two columns. Walking, the next tile's are in flight.
inline constexpr int box_shift = 2;
inline constexpr int box_columns = tile_size + 4;
inline constexpr int box_cells = tile_size * box_columns;

template <class Tiles>
__global__ void __launch_bounds__(tile_threads)
    tma_pyramid(PyramidView v, const __grid_constant__ PyramidMaps maps) {
  constexpr int stages = Tiles::walks ? 2 : 1;
  __shared__ alignas(128) float temperature[stages][box_cells];  // (stages, 16, 20)
  __shared__ alignas(128) float power[stages][box_cells];
  __shared__ alignas(128) float finished[core * core];
  __shared__ tma::Barrier full[stages];
  const auto copy = [&](const Tiles& tiles, int stage) {
    const TileOrigin origin = tiles.origin();
    const int row = static_cast<int>(origin.row), column = static_cast<int>(origin.column);
    tma::expect(&full[stage], 2 * box_cells * sizeof(float));
    tma::load_tile(temperature[stage], &maps.temperature, column - box_shift, row, &full[stage]);
    tma::load_tile(power[stage], &maps.power, column - box_shift, row, &full[stage]);
  };

  // Prologue
  Tiles tiles(v);
  if (threadIdx.x == 0) {
    for (tma::Barrier& barrier : full) tma::init(&barrier, 1);
    tma::fence_init();
    if (!tiles.done()) copy(tiles, 0);
  }
  __syncthreads();  // the barriers are initialised

  // Main loop
  for (PipelineState<stages> state; !tiles.done(); ++state) {
    const TileOrigin origin = tiles.origin();
    const int row = static_cast<int>(origin.row), column = static_cast<int>(origin.column);
    const TileCell cell(origin, threadIdx.x, v.result.rows, v.result.columns, box_columns,
                        box_shift);
    tiles.next();
    if (Tiles::walks && threadIdx.x == 0 && !tiles.done()) copy(tiles, state.index ^ 1);
    tma::wait(&full[state.index], state.phase);
    const float value = climb(temperature[state.index], cell, v.steps, v.coefficients, [&] {
      return source_term(power[state.index][cell.index], v.coefficients);
    });
    if (Tiles::walks) {
      if (threadIdx.x == 0) tma::wait_stores_read<0>();  // the last tile has left `finished`
      __syncthreads();
    }
    if (cell.finishes) {
      finished[(cell.row - row - pyramid_height) * core + cell.column - column - pyramid_height] =
          value;
    }
    tma::fence_async_proxy();
    __syncthreads();  // the box is complete, and the stage has been read
    if (threadIdx.x == 0) {
      tma::store_tile(&maps.result, column + pyramid_height, row + pyramid_height, finished);
      tma::commit_stores();
    }
  }

  // Epilogue
  if (threadIdx.x == 0) tma::wait_stores_read<0>();  // shared memory must outlive the copy
}

template <class Tiles>
ConfigOf<Problem> boxes() {
  return pyramid<Tiles>(
      reinterpret_cast<const void*>(tma_pyramid<Tiles>), Tiles::walks ? 2 : 1,
      2 * box_cells * sizeof(float), [](const PyramidView& view, const LaunchShape& shape) {
        const PyramidMaps maps{
            tensor_map(view.temperature, tile_size, box_columns),
            tensor_map(view.power, tile_size, box_columns),
            tensor_map({view.result.data, view.result.rows, view.result.columns, view.result.pitch},
                       core, core)};
        return [=](Stream stream) { launch(tma_pyramid<Tiles>, shape, stream, view, maps); };
      });
}

// 64x64: two boxes; the power travels during the first exchange.
__global__ void __launch_bounds__(square_threads, squares_bound)
    tma_square(SquareView v, const __grid_constant__ SquareMaps maps) {
  __shared__ union alignas(128) {
    SquareTile temperature;
    SquareEdges edges;  // once the temperatures are in registers
  } first;
  __shared__ alignas(128) SquareTile power;
  __shared__ tma::Barrier full[2];
  const Square s(v);
  if (threadIdx.x == 0) {
    for (tma::Barrier& barrier : full) tma::init(&barrier, 1);
    tma::fence_init();
    tma::expect(&full[0], sizeof(SquareTile));
    tma::load_tile(&first.temperature, &maps.temperature, s.first_column, s.first_row, &full[0]);
    tma::expect(&full[1], sizeof(SquareTile));
    tma::load_tile(&power, &maps.power, s.first_column, s.first_row, &full[1]);
  }
  __syncthreads();  // the barriers are initialised
  tma::wait(&full[0], 0);
  float4 kelvin[patch];
#pragma unroll
  for (int i = 0; i < patch; ++i) kelvin[i] = first.temperature.rows[s.y * patch + i][s.x];
  __syncthreads();  // the temperatures have been read
  advance_square(first.edges, s, v, kelvin, [&](int i) {
    if (i == 0) tma::wait(&full[1], 0);
    return power.rows[s.y * patch + i][s.x];
  });
}

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all;
  all.push_back(boxes<OneTile<>>());
  for (const Start start : starts) all.push_back(squares(start, tma_square));
  // Streaming: every warp its own boxes, or the rows of a block's tile as runs of bytes.
  add_streaming<Windows, Movement<2>>(all);
  add_streaming<Rows, Movement<3, StageRows::some, 1>, std::tuple<EightWarpsShort>>(
      all, "/producer-3-stages");
  all.push_back(boxes<Walk<>>());
  return all;
}

const bool registered = register_variant<Problem>("hotspot", Strategy::tma, configs());

}  // namespace
}  // namespace amasia::hotspot
