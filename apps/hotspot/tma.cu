// hotspot/tma: one elected thread names a box of the grid by its (signed) corner and the copy
// engine does the rest: addresses, bounds, zero fill outside. An mbarrier counts the arriving
// bytes, so nobody waits for anybody but the data; results leave as boxes, too.
#include "apps/hotspot/pyramid.cuh"
#include "apps/hotspot/stream.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/tensor.cuh"

namespace amasia::hotspot {
namespace {

struct PyramidMaps {
  CUtensorMap temperature, power, result;
};

// iso: Rodinia's tile, one per block, as two boxes in and one of 12 x 12 out. A box has to start on
// a 16-byte boundary of the grid (elsewhere the H200 raises an illegal instruction), which the tile
// misses by two columns: the boxes are 20 columns wide.
inline constexpr int box_shift = 2;
inline constexpr int box_columns = tile_size + 4;
inline constexpr int box_cells = tile_size * box_columns;

__global__ void __launch_bounds__(tile_threads)
    tma_pyramid(PyramidView v, const __grid_constant__ PyramidMaps maps) {
  __shared__ alignas(128) float temperature[box_cells];  // (16, 20)
  __shared__ alignas(128) float power[box_cells];
  __shared__ alignas(128) float finished[core * core];
  __shared__ tma::Barrier arrived;
  const TileOrigin origin = pyramid_origin(blockIdx.y, blockIdx.x);
  const int row = static_cast<int>(origin.row), column = static_cast<int>(origin.column);
  if (threadIdx.x == 0) {
    tma::init(&arrived, 1);
    tma::fence_init();
    tma::expect(&arrived, 2 * box_cells * sizeof(float));
    tma::load_tile(temperature, &maps.temperature, column - box_shift, row, &arrived);
    tma::load_tile(power, &maps.power, column - box_shift, row, &arrived);
  }
  __syncthreads();  // the barrier is initialised
  tma::wait(&arrived, 0);

  const TileCell cell(origin, threadIdx.x, v.result.rows, v.result.columns, box_columns, box_shift);
  const float value = climb(temperature, source_term(power[cell.index], v.coefficients), cell,
                            v.steps, v.coefficients);
  if (cell.finishes) {
    finished[(cell.row - row - pyramid_height) * core + cell.column - column - pyramid_height] =
        value;
  }
  tma::fence_async_proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    tma::store_tile(&maps.result, column + pyramid_height, row + pyramid_height, finished);
    tma::commit_stores();
    tma::wait_stores_read<0>();  // shared memory must outlive the copy
  }
}

// best: each warp has a ring of its own; its lane 0 is the elected thread.
template <class S>
struct alignas(128) WarpRing {
  struct Arrivals {
    float temperature[S::rows][window];
    float power[S::rows][window];
  };
  struct alignas(128) ResultBox {
    float cells[S::rows][S::useful];
  };
  Arrivals stages[S::stages];
  ResultBox result[2];  // one is written while the engine reads the other
  tma::Barrier arrived[S::stages];
};

struct Maps {  // boxes of S::rows rows, and of one row where a row-block is mirrored at an edge
  CUtensorMap temperature, temperature_row, power, power_row, result;
};

template <class S>
struct Boxes {
  WarpRing<S>& ring;
  const Maps& maps;
  const RowRun& run;
  int grid_rows, columns;
  int lane = threadIdx.x % lanes;
  int first_column;  // of the warp's window
  int stage = 0;
  unsigned parity = 0;

  __device__ Boxes(WarpRing<S>& own, const Maps& tensor_maps, const PassView& pass,
                   const Place<S>& place)
      : ring(own),
        maps(tensor_maps),
        run(place.run),
        grid_rows(static_cast<int>(pass.result.rows)),
        columns(static_cast<int>(pass.result.columns)),
        first_column(place.first_column + static_cast<int>(threadIdx.x) / lanes * S::useful) {
    if (lane == 0) {
      for (int s = 0; s < S::stages; ++s) tma::init(&ring.arrived[s], 1);
      tma::fence_init();
      for (int n = 0; n < S::stages; ++n) prefetch(n, n);
    }
    __syncwarp();
  }
  __device__ void prefetch(int n, int into) {
    if (n >= run.blocks) return;
    tma::Barrier* arrived = &ring.arrived[into];
    auto& arrivals = ring.stages[into];
    tma::expect(arrived, sizeof(arrivals));
    const int row = run.first + n * S::rows;
    if (row >= 0 && row + S::rows <= grid_rows) {
      tma::load_tile(arrivals.temperature, &maps.temperature, first_column, row, arrived);
      tma::load_tile(arrivals.power, &maps.power, first_column, row, arrived);
    } else {
      for (int i = 0; i < S::rows; ++i) {
        const int image = mirror(row + i, grid_rows);
        tma::load_tile(arrivals.temperature[i], &maps.temperature_row, first_column, image,
                       arrived);
        tma::load_tile(arrivals.power[i], &maps.power_row, first_column, image, arrived);
      }
    }
  }
  __device__ bool at_edge() const { return first_column < 0 || first_column + window > columns; }
  __device__ void acquire(int) {
    tma::wait(&ring.arrived[stage], parity);
    if (at_edge()) {
      mirror_halo<S>(&ring.stages[stage].temperature[0][0], window, first_column, columns, lane,
                     lanes);
    }
    if (lane == 0) tma::wait_stores_read<1>();  // the result box of two row-blocks ago is free
    __syncwarp();
  }
  __device__ float4 temperature(int i) const {
    return *reinterpret_cast<const float4*>(
        &ring.stages[stage].temperature[i][lane * columns_per_lane]);
  }
  __device__ float4 power(int i) const {
    return *reinterpret_cast<const float4*>(&ring.stages[stage].power[i][lane * columns_per_lane]);
  }
  __device__ void store(int n, int i, float4 finished) const {
    const int column = lane * columns_per_lane - S::halo;
    if (column >= 0 && column < S::useful) {
      *reinterpret_cast<float4*>(&ring.result[n % 2].cells[i][column]) = finished;
    }
  }
  __device__ void release(int n) {
    tma::fence_async_proxy();
    __syncwarp();  // every lane has read the stage and written its results
    if (lane == 0) {
      if (n * S::rows >= S::warm_up) {  // the tensor map drops what lies outside the grid
        tma::store_tile(&maps.result, first_column + S::halo, run.begin + n * S::rows - S::warm_up,
                        &ring.result[n % 2]);
      }
      tma::commit_stores();
      prefetch(n + S::stages, stage);
    }
    stage = stage == S::stages - 1 ? 0 : stage + 1;
    parity ^= stage == 0;
  }
  __device__ void exchange(const Pipeline<S::steps>&) const {}
  __device__ void finish() const {
    if (lane == 0) tma::wait_stores_read<0>();
  }
};

template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm)
    tma_strip(PassView pass, const __grid_constant__ Maps maps) {
  extern __shared__ __align__(128) unsigned char shared[];
  const Place<S> place(pass);
  Boxes<S> mover(reinterpret_cast<WarpRing<S>*>(shared)[threadIdx.x / lanes], maps, pass, place);
  stream<S>(mover, place.run.blocks, pass.coefficients);
  mover.finish();
}

Grid<const float> readable(const Grid<float>& grid) {
  return {grid.data, grid.rows, grid.columns, grid.pitch};
}

struct Kernels {
  template <class S>
  static constexpr std::size_t shared_bytes() {
    return S::warps * sizeof(WarpRing<S>);
  }

  template <class S>
  static KernelUse use() {
    return {reinterpret_cast<const void*>(tma_strip<S>), S::threads, shared_bytes<S>(), 1,
            S::warps * S::stages * sizeof(typename WarpRing<S>::Arrivals)};
  }
  template <class S>
  static Launch pass(const Problem& problem, const Pass& pass, const Device& device) {
    PassView view{pass.source, problem.power, pass.destination, problem.coefficients, 0};
    const LaunchShape shape = pass_shape<S>(reinterpret_cast<const void*>(tma_strip<S>), problem,
                                            device, shared_bytes<S>(), view.chunk_rows);
    const Maps maps{tensor_map(pass.source, S::rows, window), tensor_map(pass.source, 1, window),
                    tensor_map(problem.power, S::rows, window),
                    tensor_map(problem.power, 1, window),
                    tensor_map(readable(pass.destination), S::rows, S::useful)};
    return [=](Stream stream) { launch(tma_strip<S>, shape, stream, view, maps); };
  }
};

ConfigOf<Problem> iso() {
  ConfigOf<Problem> config;
  config.info = {"iso",
                 pyramid_geometry,
                 {{reinterpret_cast<const void*>(tma_pyramid), tile_threads, 0, 1,
                   2 * box_cells * sizeof(float)}}};
  config.prepare = [](const Problem& problem, const Device&) {
    const LaunchShape shape{pyramid_grid(problem), dim3(tile_threads)};
    return climb_in_passes(problem, [&](const PyramidView& view) -> Launch {
      const PyramidMaps maps{tensor_map(view.temperature, tile_size, box_columns),
                             tensor_map(view.power, tile_size, box_columns),
                             tensor_map(readable(view.result), core, core)};
      return [=](Stream stream) { launch(tma_pyramid, shape, stream, view, maps); };
    });
  };
  return config;
}

const bool registered =
    register_variant<Problem>("hotspot", Strategy::tma,
                              {iso(), streaming<Kernels, 8, 2, 1, 2, 5, 10, 12>("8-warps"),
                               streaming<Kernels, 4, 2, 1, 2, 5, 10, 12>("4-warps"),
                               streaming<Kernels, 8, 2, 1, 2, 5, 8>("8-warps-8-steps")});

}  // namespace
}  // namespace amasia::hotspot
