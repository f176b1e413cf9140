// Stages moved by warps beside the walker, for the strategies in which threads do the copying: one
// block barrier per period (8 steps, ~1000 cycles) keeps the walker and the movers together.
//
// In period k the walker works on stages k - 1 and k and looks one chunk into k + 1; the movers
// store the scores of stage k - 2 and refill its place.
#pragma once

#include "apps/nw/walk.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::nw {

/// One walker and three movers: four warps, one per scheduler of the SM.
inline constexpr int mover_threads = 96;
inline constexpr int band_threads = 32 + mover_threads;

template <class B>
struct StageMemory {
  alignas(128) int stage[B::stages][B::stage_elements];
  Above above;
  int ticket;
};

/// The walker's side: stages in turn, barriers only.
template <class B>
struct BarrierRing {
  const unsigned first, end;
  unsigned now;
  __device__ explicit BarrierRing(StageMemory<B>& memory)
      : first(async::held_address(memory.stage)),
        end(first + B::stages * B::stage_bytes),
        now(first) {}
  __device__ void begin(int) {
    now = first;
    wait();
  }
  __device__ unsigned stage() const { return now; }
  __device__ unsigned next_stage() const {
    return now + B::stage_bytes == end ? first : now + B::stage_bytes;
  }
  __device__ unsigned stage_before() const {
    return now == first ? end - B::stage_bytes : now - B::stage_bytes;
  }
  __device__ void wait() { block_barrier<band_threads>(); }
  __device__ void look(int) {}
  __device__ unsigned missing() const { return 0; }
  __device__ void await() {}
  __device__ void left() {}
  __device__ void done(int) { now = next_stage(); }
  __device__ void finish() {}
  __device__ void fetched(unsigned) {}
};

/// A mover's 16-byte chunks of a stage, and where they are in the grid.
template <class B>
struct Chunks {
  static constexpr int per_row = B::tile_columns / 4;
  static constexpr int row_step = mover_threads / per_row;
  static constexpr int count = (B::rows + row_step - 1) / row_step;

  const BandRun& run;
  int column, row;      // of the first chunk in the stage
  int tiles, rows = 0;  // of the grid; of the band
  const int* ref = nullptr;
  int* score = nullptr;

  __device__ Chunks(const BandRun& r, int thread)
      : run(r),
        column(4 * (thread % per_row)),
        row(thread / per_row),
        tiles(B::tiles(r.ref.columns)) {}

  __device__ void begin(int band) {
    const std::int64_t first = std::int64_t{band} * B::rows;
    rows = static_cast<int>(run.ref.rows - first < B::rows ? run.ref.rows - first : B::rows);
    ref = &run.ref.at(first + row, column);
    score = &run.score.at(first + row, column);
  }
  /// f(i, offset in the stage, offset from ref or score) for those chunks of stage n that the grid
  /// has.
  template <class F>
  __device__ void each(int n, F f) const {
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int r = row + i * row_step;
      const int tile = B::tile_of(n, r / B::group_rows);
      if (r < rows && tile >= 0 && tile < tiles) {
        f(i, r * B::tile_columns + column, i * row_step * run.ref.pitch + tile * B::tile_columns);
      }
    }
  }
  /// Scores of stage n to global memory.
  __device__ void store(int n, const int* stage) const {
    each(n, [&](int, int from, std::int64_t to) {
      // .cs: nobody reads them again
      __stcs(reinterpret_cast<int4*>(score + to), *reinterpret_cast<const int4*>(stage + from));
    });
  }
};

/// The kernel body. `Loader` is how ref gets into a stage: begin(chunks) starts the first stages,
/// load(n) is called in period n + 2 - stages, ready() before the barrier that lets the walker read
/// stage k + 2.
template <class B, class Loader>
__device__ __forceinline__ void move_bands(const BandRun& run, StageMemory<B>& memory) {
  const unsigned tag = run_tag(run);
  const int bands = B::bands(run.ref.rows);
  const int filled = B::filled(run.ref.columns), periods = B::periods(run.ref.columns);
  for (;;) {
    if (threadIdx.x == 0) memory.ticket = take_ticket(run);
    __syncthreads();
    const int band = memory.ticket;
    if (band >= bands) break;
    if (threadIdx.x < 32) {
      BarrierRing<B> ring(memory);
      WordLink link(run, tag);
      walk_band<B>(run, band, ring, link, memory.above);
      block_barrier<band_threads>();
    } else {
      Chunks<B> chunks(run, threadIdx.x - 32);
      chunks.begin(band);
      Loader loader(memory, chunks, filled);
      loader.begin();
      for (int k = 0; k <= periods; ++k) {
        block_barrier<band_threads>();
        if (k >= 2) chunks.store(k - 2, memory.stage[(k - 2) % B::stages]);
        loader.load(k - 2 + B::stages);
        loader.ready();
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) finish_run(run, gridDim.x);
}

}  // namespace amasia::nw
