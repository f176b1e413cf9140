// `columns-128` where threads do the copying: baseline, register_bypass, overlap, drop_off. Stages
// are handed over at named barriers, full and empty apart, which every GPU has.
//
// Warps: 0 walks, 1 keeps the ring, 2, 3, 6 and 7 copy; 4 and 5 do nothing, so that the walker has
// its scheduler for itself.
#pragma once

#include "apps/nw/column_walk.cuh"
#include "variants/ptx/named_barrier.cuh"

namespace amasia::nw {

inline constexpr int column_threads = 256;
inline constexpr int column_copiers = 128;

template <class B>
struct ColumnStages {
  alignas(128) int stage[B::stages][B::stage_elements];
  ColumnShared column;
};

template <class B>
using ColumnBarriers =
    block::NamedStages<B::stages, 32 + column_copiers, 1, block::Lanes::together>;

/// The walker's side. AHEAD: how many stages further than the one that the walker enters it waits
/// for (drop_off, which copies into them).
template <class B, int AHEAD = 0>
struct ColumnConsumer {
  static constexpr bool always_meets = true;
  PipelineState<B::stages> filled, left;
  int more;  // stages to wait for, with the one of nothing that the last lanes run into

  __device__ ColumnConsumer(const ColumnRun& run, int, ColumnStages<B>&)
      : more(B::filled(run.ref.rows) + 1) {}
  __device__ void begin() {
#pragma unroll 1
    for (int n = 0; n <= AHEAD; ++n) wait();
  }
  __device__ void look() {}
  __device__ int missing() const { return 0; }
  __device__ void wait() {
    if (AHEAD > 0 && --more < 0) return;
    ColumnBarriers<B>::consumer_wait(filled);
    ++filled;
  }
  __device__ void entered() {}
  __device__ void release() {
    ColumnBarriers<B>::consumer_release(left);
    ++left;
  }
  __device__ void step(int) {}
};

/// A copying thread's 16-byte chunks of a stage: one column of them, every fourth row.
template <class B>
struct ColumnChunks {
  static constexpr int row_step = column_copiers * 16 / B::row_bytes;
  static constexpr int count = B::stage_rows / row_step;
  const int rows;     // of the grid
  const int row;      // of the first chunk in a stage
  const unsigned at;  // of the first chunk in a stage, in elements
  const bool inside;  // the chunk's column is in the grid
  const std::int64_t pitch;
  const int* ref;  // the first chunk of stage 0
  int* score;

  __device__ ColumnChunks(const ColumnRun& run, int band, int thread)
      : rows(static_cast<int>(run.ref.rows)),
        row(thread / 32),
        at(static_cast<unsigned>(row * B::columns + thread % 32 * 4)),
        inside(std::int64_t{band} * B::columns + thread % 32 * 4 < run.ref.pitch),
        pitch(run.ref.pitch) {
    const std::int64_t offset =
        row * pitch + (inside ? std::int64_t{band} * B::columns + thread % 32 * 4 : 0);
    ref = run.ref.data + offset;
    score = run.score.data + offset;
  }
  /// f(i, element in the stage, offset from ref or score, whether the grid has it).
  template <class F>
  __device__ void each(int n, const F& f) const {
    const std::int64_t first = std::int64_t{n} * B::stage_rows;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int below = i * row_step;
      f(i, at + below * B::columns, (first + below) * pitch, inside && first + row + below < rows);
    }
  }
  /// .cs: nobody reads them again.
  __device__ void store(int n, const int* stage) const {
    each(n, [&](int, unsigned from, std::int64_t to, bool has) {
      if (has) {
        __stcs(reinterpret_cast<int4*>(score + to), *reinterpret_cast<const int4*>(stage + from));
      }
    });
  }
};

/// The kernel body. `Loader` is how ref gets into a stage: begin() before the first, then for every
/// stage load(n, stage), whose data has come when load(n + Loader::pending) returns; behind the
/// last one, too. Rows below the grid become zero.
template <class B, class Consumer, class Loader>
__device__ __forceinline__ void move_columns(const ColumnRun& run, ColumnStages<B>& shared) {
  using Barriers = ColumnBarriers<B>;
  const int bands = B::bands(run.ref.columns), filled = B::filled(run.ref.rows);
  const int warp = uniform_warp();
  for (;;) {
    if (threadIdx.x == 0) shared.column.band = take_tickets(run.handover, 1);
    ColumnPlace place{0, bands, false, false};
    begin_column_ring(shared.column, place);
    // The row above the first one, which lanes idle in: nothing but -p
    for (int i = threadIdx.x; i < B::stage_elements; i += column_threads) {
      shared.stage[B::stages - 1][i] = -run.penalty;
    }
    __syncthreads();
    place.band = uniform(shared.column.band);
    if (place.band >= bands) break;
    if (warp == 0) {
      Consumer consumer(run, place.band, shared);
      const ColumnLink<false> link(run, shared.column, place);
      ColumnWalk<B, Consumer, false> walk(run, place.band, consumer, link,
                                          held(async::shared_address(shared.stage)));
      walk.walk(filled);
    } else if (warp == 1) {
      keep_column_ring(run, shared.column, place, static_cast<int>(B::pitch(run.ref.rows)));
    } else if (warp % 4 >= 2) {
      const int thread = warp / 4 * 64 + static_cast<int>(threadIdx.x % 64);
      const ColumnChunks<B> chunks(run, place.band, thread);
      Loader loader(chunks, filled);
      loader.begin();
      PipelineState<B::stages> loaded, stored, told;
      for (int n = 0; n < filled + B::stages - 1; ++n) {
        if (n >= B::stages - 1) {
          Barriers::producer_acquire(stored);
          chunks.store(n - (B::stages - 1), shared.stage[stored.index]);
          ++stored;
        }
        loader.load(n, shared.stage[loaded.index]);
        ++loaded;
        if (n >= Loader::pending && n - Loader::pending <= filled) {
          Barriers::producer_commit(told);
          ++told;
        }
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) finish_run(run.handover, run.parties);
}

template <class B, class Consumer, class Loader>
__global__ void __launch_bounds__(column_threads) copied_columns(ColumnRun run) {
  extern __shared__ __align__(128) unsigned char memory[];
  move_columns<B, Consumer, Loader>(run, *reinterpret_cast<ColumnStages<B>*>(memory));
}

/// A config of it. `producers`: warps that copy ref.
template <class B, class Consumer, class Loader>
ConfigOf<Problem> copied_columns_config(const char* name, int producers, int stages_in_flight) {
  return columns_config<B>(
      {name, column_threads, sizeof(ColumnStages<B>), producers, stages_in_flight},
      std::vector<ColumnPart<>>{{copied_columns<B, Consumer, Loader>}});
}

}  // namespace amasia::nw
