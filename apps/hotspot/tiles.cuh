// A pipeline of tiles that the windows of a block share (baseline, register_bypass, overlap, and
// tma with a producer warp): the tile, its edges, who copies which part of a row, and how producer
// warps hand stages over.
#pragma once

#include "apps/hotspot/stream.cuh"
#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/named_stages.cuh"

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
  __device__ void mirror_row(int i, const Place<S>& place) {
    const int lane = threadIdx.x % lanes;
    mirror_halo<S>(temperature[i], 1, S::tile_columns, place.first_column, place.grid_columns, lane,
                   lanes);
    mirror_halo<S>(power[i], 1, S::tile_columns, place.first_column, place.grid_columns, lane,
                   lanes);
  }
};

template <class S>
struct SharedStorage {
  BlockTile<S> stages[S::stages];
};

/// The 16-byte chunk that a computing thread copies of each row of the block's tile.
template <class S>
struct ChunkSource {
  const float* temperature;
  const float* power;
  std::int64_t pitch;
  int grid_rows;
  int first;   // first row of the run
  int inside;  // bytes of the chunk that lie inside the grid; -1: this thread copies nothing

  __device__ ChunkSource(const PassView& pass, const Place<S>& place)
      : pitch(pass.result.pitch), grid_rows(place.grid_rows), first(place.run.first) {
    const int column = place.first_column + columns_per_lane * static_cast<int>(threadIdx.x);
    const int left = place.grid_columns - column;
    inside = static_cast<int>(threadIdx.x) >= S::tile_chunks ? -1
             : column < 0 || left <= 0                       ? 0
                                                             : (left < 4 ? left : 4) * 4;
    const std::int64_t from =
        (inside > 0 ? column : 0) + (S::lean ? place.run.first * pass.result.pitch : 0);
    temperature = pass.temperature.data + from;
    power = pass.power.data + from;
  }
  __device__ void advance() {
    temperature += std::int64_t{static_cast<int>(pitch)} * S::rows;
    power += std::int64_t{static_cast<int>(pitch)} * S::rows;
  }
  /// Where row i of row-block n begins, in elements after the chunk's own column.
  __device__ std::int64_t offset(int n, int i) const {
    return std::int64_t{mirror(first + n * S::rows + i, grid_rows)} * pitch;
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

__device__ inline void copy_once(void* shared, const void* global, int) {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
                   async::shared_address(shared)),
               "l"(__cvta_generic_to_global(global)), "l"(policy)
               : "memory");
}

/// Starts the thread's copies of row-block n into a tile by cp.async; a chunk outside the grid
/// becomes zero.
template <class S>
__device__ void copy_row_block(BlockTile<S>& tile, ChunkSource<S>& source, int n) {
  if (S::lean ? source.inside <= 0 : source.inside < 0) return;
  const int column = static_cast<int>(threadIdx.x) * columns_per_lane;
  each_row<S>(source.first + n * S::rows, source.grid_rows, source.pitch,
              [&](int i, std::int64_t offset) {
                if constexpr (S::hint) {
                  copy_once(&tile.temperature[i][column], source.temperature + offset, source.inside);
                  copy_once(&tile.power[i][column], source.power + offset, source.inside);
                } else if constexpr (S::lean) {
                  async::copy16(async::shared_address(&tile.temperature[i][column]), source.temperature + offset);
                  async::copy16(async::shared_address(&tile.power[i][column]), source.power + offset);
                } else {
                  async::copy<16>(&tile.temperature[i][column], source.temperature + offset, source.inside);
                  async::copy<16>(&tile.power[i][column], source.power + offset, source.inside);
                }
              });
  if (S::lean) source.advance();
}

template <class S>
using HandOver = block::NamedStages<S::stages, S::threads>;

/// What a producer warp does. start(tile, n, producer) begins the copy of its share of row-block n,
/// the rows producer, producer + S::producer_warps, ...; finish() returns when all but the latest
/// LAG copies lie in shared memory, and only then they are handed over.
template <int LAG, class S, class Start, class Finish>
__device__ void produce(SharedStorage<S>& shared, const Place<S>& place, const Start& start,
                        const Finish& finish) {
  static_assert(LAG < S::stages, "a stage is handed over before it is acquired again");
  const int producer = static_cast<int>(threadIdx.x - S::computing_threads) / lanes;
  PipelineState<S::stages> acquired, copied;
  for (int n = 0; n < place.run.blocks + LAG; ++n) {
    if (n < place.run.blocks) {
      HandOver<S>::producer_acquire(n, acquired);
      start(shared.stages[acquired.index], n, producer);
      ++acquired;
    }
    finish();
    if (n < LAG) continue;
    if (place.at_edge) {
      __syncwarp();
      for (int i = producer; i < S::rows; i += S::producer_warps) {
        shared.stages[copied.index].mirror_row(i, place);
      }
    }
    HandOver<S>::producer_commit(copied);
    ++copied;
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
  __device__ void mirror_columns() {
    if (!place.at_edge) return;
    shared.stages[state.index].mirror_columns(place);
    __syncthreads();
  }
};

/// The consumer's side of a pipeline that producer warps fill.
template <class S>
struct HandedOver : TileReader<S> {
  using TileReader<S>::TileReader;
  __device__ void consumer_wait(int) { HandOver<S>::consumer_wait(this->state); }
  __device__ void consumer_release(int n) {
    HandOver<S>::consumer_release(n, this->state, this->place.run.blocks);
    ++this->state;
  }
};

}  // namespace amasia::hotspot
