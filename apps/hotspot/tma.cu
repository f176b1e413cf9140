// hotspot/tma: one elected thread names a box of the grid by its (signed) corner, or a run of
// bytes, and the copy engine does the rest. An mbarrier counts the arriving bytes, so nobody waits
// for anybody but the data.
#include "apps/hotspot/pyramid.cuh"
#include "apps/hotspot/windows.cuh"

namespace amasia::hotspot {
namespace {

struct PyramidMaps {
  CUtensorMap temperature, power, result;
};

// iso, iso-walk: Rodinia's tile as two boxes in and one of 12 x 12 out. A box has to start on a
// 16-byte boundary of the grid (elsewhere the H200 raises an illegal instruction), which the tile
// misses by two columns: the boxes are 20 columns wide. Walking, the next tile's are in flight.
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
        const PyramidMaps maps{tensor_map(view.temperature, tile_size, box_columns),
                               tensor_map(view.power, tile_size, box_columns),
                               tensor_map(readable(view.result), core, core)};
        return [=](Stream stream) { launch(tma_pyramid<Tiles>, shape, stream, view, maps); };
      });
}

// Streaming, every warp its own boxes (windows.cuh).
template <class S, bool BOXES>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm)
    tma_windows(PassView pass, const __grid_constant__ Maps maps) {
  extern __shared__ __align__(128) unsigned char memory[];
  const Place<S> place(pass);
  auto* shared = reinterpret_cast<WindowStages<S, BOXES>*>(memory);
  WindowBoxes<S, BOXES> pipeline(shared[threadIdx.x / lanes], maps, pass, place);
  stream<S>(pipeline, place.run.blocks, pass.coefficients);
  if (BOXES && threadIdx.x % lanes == 0) tma::wait_stores_read<0>();
}

// Streaming with a producer warp: its lane 0 fetches the rows of the block's tile, one run of bytes
// per array and row, into stages that the windows share.
template <class S>
struct RowStorage {
  SharedStorage<S> tiles;
  tma::Barrier full[S::stages], empty[S::stages];
};

template <class S>
struct RowConsumer : TileReader<S> {
  RowStorage<S>& storage;

  __device__ RowConsumer(RowStorage<S>& rows, const PassView& pass, const Place<S>& place)
      : TileReader<S>(rows.tiles, pass, place), storage(rows) {}
  __device__ void consumer_wait(int) {
    tma::wait(&storage.full[this->state.index], this->state.phase);
    if (this->place.at_edge) {
      this->shared.stages[this->state.index].mirror_columns(this->place);
      tma::fence_async_proxy();  // the engine will overwrite what was mirrored
      block::sync(1, S::computing_threads);
    }
  }
  __device__ void consumer_release(int) {
    __syncwarp();
    if (threadIdx.x % lanes == 0) tma::arrive(&storage.empty[this->state.index]);
    ++this->state;
  }
};

template <class S>
__device__ void produce_rows(RowStorage<S>& storage, const PassView& pass, const Place<S>& place) {
  const RowSource<S> source(pass, place);
  const int begin = source.inside.begin;
  const unsigned bytes = (source.inside.end - begin) * sizeof(float);
  PipelineState<S::stages> state;
  for (int n = 0; n < place.run.blocks; ++n, ++state) {
    tma::Barrier* full = &storage.full[state.index];
    BlockTile<S>& tile = storage.tiles.stages[state.index];
    tma::wait(&storage.empty[state.index], state.phase ^ 1);
    tma::expect(full, 2 * S::rows * bytes);
    for (int i = 0; i < S::rows; ++i) {
      const std::int64_t from = source.offset(n, i) + begin;
      tma::load_bytes(&tile.temperature[i][begin], source.temperature + from, bytes, full);
      tma::load_bytes(&tile.power[i][begin], source.power + from, bytes, full);
    }
  }
}

template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) tma_rows(PassView pass) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& storage = *reinterpret_cast<RowStorage<S>*>(memory);
  const Place<S> place(pass);
  if (threadIdx.x == 0) {
    for (tma::Barrier& barrier : storage.full) tma::init(&barrier, 1);
    for (tma::Barrier& barrier : storage.empty) tma::init(&barrier, S::warps);
    tma::fence_init();
  }
  __syncthreads();  // the barriers are initialised
  if (threadIdx.x < S::computing_threads) {
    RowConsumer<S> pipeline(storage, pass, place);
    stream<S>(pipeline, place.run.blocks, pass.coefficients);
  } else if (threadIdx.x == S::computing_threads) {
    produce_rows<S>(storage, pass, place);
  }
}

template <bool BOXES>
struct Windows {
  template <class S>
  static constexpr std::size_t shared_bytes() {
    return S::warps * sizeof(WindowStages<S, BOXES>);
  }
  template <class S>
  static KernelUse use() {
    return {reinterpret_cast<const void*>(tma_windows<S, BOXES>), S::threads, shared_bytes<S>(), 1,
            S::warps * S::stages * sizeof(typename WindowStages<S, BOXES>::Arrivals)};
  }
  template <class S>
  static Launch pass(const Problem& problem, const Pass& pass, const Device& device) {
    PassView view{pass.source, problem.power, pass.destination, problem.coefficients, 0};
    const LaunchShape shape = pass_shape<S>(reinterpret_cast<const void*>(tma_windows<S, BOXES>),
                                            problem, device, shared_bytes<S>(), view.chunk_rows);
    const Maps maps{tensor_map(pass.source, S::rows, window), tensor_map(pass.source, 1, window),
                    tensor_map(problem.power, S::rows, window),
                    tensor_map(problem.power, 1, window),
                    tensor_map(readable(pass.destination), S::rows, S::useful)};
    return [=](Stream stream) { launch(tma_windows<S, BOXES>, shape, stream, view, maps); };
  }
};

struct Rows {
  template <class S>
  static KernelUse use() {
    return {reinterpret_cast<const void*>(tma_rows<S>), S::threads, sizeof(RowStorage<S>), 1,
            S::stages * sizeof(BlockTile<S>)};
  }
  template <class S>
  static Launch pass(const Problem& problem, const Pass& pass, const Device& device) {
    return enqueue_pass<S>(tma_rows<S>, problem, pass, device, sizeof(RowStorage<S>));
  }
};

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all{boxes<OneTile<>>()};
  add_streaming<Windows<false>, Movement<2>>(all);
  add_streaming<Windows<true>, Movement<2>, std::tuple<FourWarps, FourWarpsRoomy, EightWarps>>(
      all, "/box-stores");
  add_streaming<Rows, Movement<3, StageRows::some, 1>, std::tuple<FiveWarps>>(all, "/producer");
  all.push_back(boxes<Walk<>>());
  return all;
}

const bool registered = register_variant<Problem>("hotspot", Strategy::tma, configs());

}  // namespace
}  // namespace amasia::hotspot
