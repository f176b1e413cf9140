// tma with a producer warp: its lane 0 fetches the rows of the block's tile, one run of bytes per
// array and row, into stages that the windows share. An mbarrier per stage counts the bytes that
// have arrived (`full`), another the threads that have read them (`empty`).
#pragma once

#include "apps/hotspot/tiles.cuh"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/named_barrier.cuh"

namespace amasia::hotspot {

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
    tma::warp_wait(&storage.full[this->state.index], this->state.phase);
    if (this->place.at_edge) {
      this->shared.stages[this->state.index].mirror_columns(this->place);
      tma::fence_async_proxy();  // the engine will overwrite what was mirrored
      block::sync(1, S::computing_threads);
    }
  }
  __device__ void consumer_release(int) {
    tma::arrive(&storage.empty[this->state.index]);
    ++this->state;
  }
};

/// The rows of a block's tile as a producer warp copies them: those columns that lie in the grid.
template <class S>
struct RowSource {
  const float* temperature;  // column 0 of the tile, in the grid's row 0
  const float* power;
  std::int64_t pitch;
  int grid_rows, first;
  Span inside;

  __device__ RowSource(const PassView& pass, const Place<S>& place)
      : temperature(pass.temperature.data + place.first_column),
        power(pass.power.data + place.first_column),
        pitch(pass.result.pitch),
        grid_rows(place.grid_rows),
        first(place.run.first),
        inside(columns_inside<S>(place.first_column, place.grid_columns)) {}
  __device__ std::int64_t offset(int n, int i) const {
    return std::int64_t{mirror(first + n * S::rows + i, grid_rows)} * pitch;
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
    for (tma::Barrier& barrier : storage.empty) tma::init(&barrier, S::computing_threads);
    tma::fence_init();
  }
  __syncthreads();  // the barriers are initialised
  if (threadIdx.x < S::computing_threads) {
    RowConsumer<S> pipeline(storage, pass, place);
    stream<S>(pipeline, place.run.blocks, pass);
  } else if (threadIdx.x == S::computing_threads) {
    produce_rows<S>(storage, pass, place);
  }
}

/// For add_streaming() (stream.cuh).
struct Rows : PlainKernels {
  template <class S>
  static auto kernel() {
    return tma_rows<S>;
  }
  template <class S>
  static constexpr std::size_t shared_bytes = sizeof(RowStorage<S>);
  template <class S>
  static constexpr std::size_t in_flight = S::stages * sizeof(BlockTile<S>);
};

}  // namespace amasia::hotspot
