// Stages by the tensor copy engine, for tma and dsm: a box per group of lanes in, a box out, two
// producer threads that ask. The engine clips boxes at the edges of the grid; what lies outside
// arrives as zero and is not written back. Two mbarriers per stage, full and empty, replace the
// block barrier.
#pragma once

#include "apps/nw/walk.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::nw {

template <class B>
struct TmaSharedStorage {
  alignas(128) int stage[B::stages][B::stage_elements];
  tma::Barrier full[B::stages];   // an arrival of each producer, and the bytes of its boxes
  tma::Barrier empty[B::stages];  // the walker has left the stage
  Above<B> above;
  int ticket;
};

/// Threads that ask, each for half of the boxes: in machine code a box in and a box out are some
/// 200 cycles of one thread, and a period of the walker has up to four of both.
inline constexpr int tma_producers = 2;
/// The walker and the producers, a warp each: no two on one scheduler.
inline constexpr int tma_threads = 32 + 32 * tma_producers;
__device__ inline bool is_producer() { return threadIdx.x >= 32 && threadIdx.x % 32 == 0; }

/// The walker's side. Addresses instead of a PipelineState: a walk has no instruction to spare.
template <class B>
struct TmaConsumer {
  static constexpr bool only_meets_at_barriers = false;
  const unsigned first, end_of_stages, full, empty;
  const int stages;                // of a walk: those filled, and one that the last lanes run into
  unsigned before, now, ahead;     // stages k - 1, k and k + 1
  unsigned before_empty;           // empty of stage k - 1
  unsigned ahead_full, phase = 0;  // full of stage k + 1 and the phase of its use
  unsigned absent = 0;             // stage k + 1, when it was last looked for

  __device__ TmaConsumer(TmaSharedStorage<B>& shared, std::int64_t columns)
      : first(held(async::shared_address(shared.stage))),
        end_of_stages(first + B::stages * B::stage_bytes),
        full(held(async::shared_address(shared.full))),
        empty(held(async::shared_address(shared.empty))),
        stages(held(B::periods(columns))),
        before(end_of_stages - B::stage_bytes),
        now(first),
        ahead(first + B::stage_bytes),
        before_empty(empty + 8 * (B::stages - 1)),
        ahead_full(full + 8) {}
  __device__ void begin(int) {
    // Stage 0 of a walk is the one before stage 1, which may be the first of the ring in its next
    // use
    const bool wrapped = ahead == first;
    tma::wait_at(wrapped ? full + 8 * (B::stages - 1) : ahead_full - 8, phase ^ wrapped);
  }
  __device__ unsigned stage() const { return now; }
  __device__ unsigned next_stage() const { return ahead; }
  __device__ unsigned stage_before() const { return before; }
  __device__ void enter() {}
  /// Asked early, the answer is there when missing() needs it.
  __device__ void consumer_try_wait(int k) {
    absent = k + 1 < stages ? !tma::completed_at(ahead_full, phase) : 0;
  }
  __device__ unsigned missing() const { return absent; }
  __device__ void consumer_wait() {
    if (absent) tma::wait_at(ahead_full, phase);
  }
  __device__ void consumer_release(int k) {
    __syncwarp();
    if (k > 0 && threadIdx.x % 32 == 0) tma::arrive_at(before_empty);
    before = now;
    now = ahead;
    before_empty = before_empty + 8 == empty + 8 * B::stages ? empty : before_empty + 8;
    ahead += B::stage_bytes;
    ahead_full += 8;
    if (ahead == end_of_stages) ahead = first, ahead_full = full, phase ^= 1;
  }
  __device__ void fetched(unsigned) {}
  /// After the last period the walker has left the last stage, too. There was nothing in it.
  __device__ void finish() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) tma::arrive_at(before_empty);
  }
};

template <class B>
__device__ void init_pipeline(TmaSharedStorage<B>& shared) {
  if (threadIdx.x == 0) {
    for (int s = 0; s < B::stages; ++s) {
      tma::init(&shared.full[s], tma_producers);
      tma::init(&shared.empty[s], 1);
    }
    tma::fence_init();
  }
}

/// A thread that asks, for all walks of the block: every other group's boxes.
template <class B>
struct TmaProducer {
  using State = PipelineState<B::stages>;
  static_assert(B::groups % tma_producers == 0);
  TmaSharedStorage<B>& shared;
  const CUtensorMap& ref;
  const CUtensorMap& score;
  const int stages, tiles;
  const int first_group;
  State loading{}, storing{};  // the next stages to load and to store, over all walks

  __device__ TmaProducer(TmaSharedStorage<B>& s, const CUtensorMap& r, const CUtensorMap& to,
                         std::int64_t columns)
      : shared(s),
        ref(r),
        score(to),
        stages(B::periods(columns)),
        tiles(B::tiles(columns)),
        first_group(threadIdx.x / 32 - 1) {}

  /// f(group, column) for this thread's boxes of stage n that the grid has.
  template <class F>
  __device__ void each_box(int n, F f) const {
#pragma unroll
    for (int g = 0; g < B::groups; g += tma_producers) {
      const int group = g + first_group, tile = B::tile_of(n, group);
      if (tile >= 0 && tile < tiles) f(group, tile * B::tile_columns);
    }
  }
  __device__ int* box(const State& state, int group) const {
    return shared.stage[state.index] + group * B::group_rows * B::tile_columns;
  }
  /// Stage n, which is empty, of the band whose first row this is.
  __device__ void producer_commit(int n, int row) {
    unsigned bytes = 0;
    each_box(n, [&](int, int) { bytes += B::stage_bytes / B::groups; });
    tma::Barrier* full = &shared.full[loading.index];
    tma::expect(full, bytes);
    each_box(n, [&](int group, int column) {
      tma::load_tile(box(loading, group), &ref, column, row + group * B::group_rows, full);
    });
    ++loading;
  }
  /// Waits until the walker has left stage n, stores it, and waits until the stage before it has
  /// been read by the engine: that one is empty then.
  ///
  /// The walker's scores reach the copy engine by a fence between the two, which any thread on the
  /// way from one to the other may execute (PTX ISA, "proxy-preserved base causality order"). Here
  /// it costs nothing; the walker would have to stand still for it until all words that it has
  /// asked for have come.
  __device__ void producer_acquire(int n, int row) {
    tma::wait(&shared.empty[storing.index], storing.phase);
    tma::fence_async_proxy();
    each_box(n, [&](int group, int column) {
      tma::store_tile(&score, column, row + group * B::group_rows, box(storing, group));
    });
    tma::commit_stores();
    tma::wait_stores_read<1>();
    ++storing;
  }
  __device__ void produce(int band) {
    const int row = band * B::rows;
    // Prologue: all stages but the last of the ring, where the walker idles as in stage -1
    int loaded = 0;
    for (; loaded < stages && loaded < B::stages - 1; ++loaded) producer_commit(loaded, row);
    // Main loop
    for (int n = 0; n < stages; ++n) {
      producer_acquire(n, row);
      if (loaded < stages) producer_commit(loaded++, row);
    }
    // Epilogue
    tma::wait_stores_read<0>();
  }
};

/// Tensor maps of ref and score with boxes of these rows and columns.
inline std::tuple<CUtensorMap, CUtensorMap> tensor_maps(const Problem& p, int rows, int columns) {
  const Grid<const int> score{p.score.data, p.score.rows, p.score.columns, p.score.pitch};
  return {tensor_map(p.ref, rows, columns), tensor_map(score, rows, columns)};
}

}  // namespace amasia::nw
