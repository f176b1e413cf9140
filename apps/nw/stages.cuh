// Stages moved by producer warps beside the walker, for the strategies in which threads do the
// copying: one block barrier per period (some 1,000 cycles) is full and empty at once, and keeps
// the walker and the producers together.
//
// In period k the walker works on stages k - 1 and k and looks one chunk into k + 1; the producers
// store the scores of stage k - 2 and refill its place.
#pragma once

#include "apps/nw/walk.cuh"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::nw {

template <class B>
struct BandSharedStorage {
  alignas(128) int stage[B::stages][B::stage_elements];
  Above<B> above;
  int ticket;
};

/// The walker's side: stages in turn, barriers only.
template <class B, class W>
struct BarrierPipeline {
  static constexpr bool only_meets_at_barriers = true;
  const unsigned first, end;
  unsigned now;
  __device__ BarrierPipeline(BandSharedStorage<B>& shared, const BandRun&)
      : first(async::held_address(shared.stage)),
        end(first + B::stages * B::stage_bytes),
        now(first) {}
  __device__ void begin(int) {
    now = first;
    enter();
  }
  __device__ unsigned stage() const { return now; }
  __device__ unsigned next_stage() const {
    return now + B::stage_bytes == end ? first : now + B::stage_bytes;
  }
  __device__ unsigned stage_before() const {
    return now == first ? end - B::stage_bytes : now - B::stage_bytes;
  }
  __device__ void enter() { block_barrier<W::at_barrier>(); }
  __device__ void consumer_try_wait(int) {}
  __device__ unsigned missing() const { return 0; }
  __device__ void consumer_wait() {}
  __device__ void consumer_release(int) { now = next_stage(); }
  __device__ void finish() { block_barrier<W::at_barrier>(); }
  __device__ void fetched(unsigned) {}
};

/// A producer thread's 16-byte chunks of a stage, and where they are in the grid.
template <class B, class W>
struct Chunks {
  using Of = ChunksOfThread<B, W::producer_threads>;
  static constexpr int count = Of::count;

  const BandRun& run;
  const int column, row;  // of the first chunk in the stage
  const unsigned pitch;
  int rows = 0;  // of the band that the grid has
  const int* ref = nullptr;
  int* score = nullptr;

  __device__ Chunks(const BandRun& r, int thread)
      : run(r),
        column(Of::column(thread)),
        row(Of::row(thread, 0)),
        pitch(static_cast<unsigned>(r.ref.pitch)) {}

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
      const int r = row + i * Of::row_step;
      const int c = Of::grid_column(n, r, column);
      if (r < rows && static_cast<unsigned>(c) < pitch) {
        f(i, r * B::tile_columns + column, i * Of::row_step * run.ref.pitch + (c - column));
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

/// The kernel body. `Loader` is how ref gets into a stage:
///   producer_begin()                 starts stages 0 ... stages - 3
///   producer_load<PART>(n, stage)    starts stage n, in period n + 2 - stages; PART counts modulo
///                                    Loader::parts, so that it can name registers
///   producer_commit()                before the barrier that lets the walker look into stage k + 2
template <class B, class W, class Pipeline, class Loader>
__device__ __forceinline__ void move_bands(const BandRun& run, BandSharedStorage<B>& shared) {
  const unsigned tag = run_tag(run.handover);
  const int bands = B::bands(run.ref.rows), periods = B::periods(run.ref.columns);
  const int producer = W::producer_of(static_cast<int>(threadIdx.x));
  for (;;) {
    if (threadIdx.x == 0) shared.ticket = take_tickets(run.handover, 1);
    __syncthreads();
    const int band = shared.ticket;
    if (band >= bands) break;
    if (threadIdx.x < 32) {
      Pipeline pipeline(shared, run);
      WordLink<B> link(run, tag);
      walk_band<B>(run, band, pipeline, link, shared.above);
    } else if (producer >= 0) {
      Chunks<B, W> chunks(run, producer);
      chunks.begin(band);
      Loader loader(shared, chunks);
      // Prologue
      loader.producer_begin();
      // Main loop
      PipelineState<B::stages> stored, loaded = PipelineState<B::stages>::after(B::stages - 2);
      for (int first = 0; first <= periods; first += Loader::parts) {
        each_constant<Loader::parts>([&](auto part) {
          const int k = first + part.value;
          if (k > periods) return;
          block_barrier<W::at_barrier>();
          if (k >= 2) {
            chunks.store(k - 2, shared.stage[stored.index]);
            ++stored;
          }
          constexpr int of_stage = (part.value + B::stages - 2) % Loader::parts;
          loader.template producer_load<of_stage>(k - 2 + B::stages, shared.stage[loaded.index]);
          ++loaded;
          loader.producer_commit();
        });
      }
    }
    // Epilogue
    __syncthreads();
  }
  if (threadIdx.x == 0) finish_run(run.handover, gridDim.x);
}

template <class B, class W, class Pipeline, class Loader>
__global__ void __launch_bounds__(W::block_threads) copied_bands(BandRun run) {
  extern __shared__ __align__(128) unsigned char memory[];
  move_bands<B, W, Pipeline, Loader>(run, *reinterpret_cast<BandSharedStorage<B>*>(memory));
}

/// A config of it. `producers`: warps that copy ref.
template <class B, class W, class Pipeline, class Loader>
ConfigOf<Problem> copied_bands_config(const char* name, int producers, int stages_in_flight) {
  return bands_config<B>(
      {name, W::block_threads, sizeof(BandSharedStorage<B>), producers, stages_in_flight},
      copied_bands<B, W, Pipeline, Loader>);
}

}  // namespace amasia::nw
