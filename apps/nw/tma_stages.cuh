// Stages by the tensor copy engine, for tma and dsm: four boxes in, four boxes out, two threads
// that ask. The engine clips boxes at the edges of the grid; what lies outside arrives as zero and
// is not written back. Two mbarriers per place in the ring replace the block barrier.
#pragma once

#include "apps/nw/walk.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/shared_memory.cuh"
#include "variants/ptx/tensor.cuh"

namespace amasia::nw {

template <class B>
struct TmaMemory {
  alignas(128) int stage[B::stages][B::stage_elements];
  tma::Barrier full[B::stages];  // an arrival of each mover, and the bytes of its boxes
  tma::Barrier done[B::stages];  // the walker has left the stage
  Above above;
  int ticket;
};

/// Threads that ask, each for half of the boxes: in machine code a box in and a box out are some
/// 200 cycles of one thread, and a period of the walker, which has four of both, is about 1,000.
inline constexpr int tma_movers = 2;
/// The walker and the movers, a warp each: no two on one scheduler.
inline constexpr int tma_threads = 32 + 32 * tma_movers;
__device__ inline bool asks() { return threadIdx.x >= 32 && threadIdx.x % 32 == 0; }

/// Stages of a walk in the ring, counted over all walks of the block.
template <class B>
AMASIA_HD constexpr int stages_of_walk(std::int64_t columns) {
  return B::periods(columns);  // those filled, and one of nothing that the last lanes run into
}

/// The walker's side. Addresses instead of indices: a walk has no instruction to spare.
template <class B>
struct TmaRing {
  const unsigned first, end_of_stages, full, done_;
  const int stages;
  unsigned before, now, ahead;      // stages k - 1, k and k + 1
  unsigned left_done;               // done of stage k - 1
  unsigned ahead_full, parity = 0;  // full of stage k + 1 and the phase of its use
  unsigned absent = 0;              // stage k + 1, when it was last looked for

  __device__ TmaRing(TmaMemory<B>& m, std::int64_t columns)
      : first(held(async::shared_address(m.stage))),
        end_of_stages(first + B::stages * B::stage_bytes),
        full(held(async::shared_address(m.full))),
        done_(held(async::shared_address(m.done))),
        stages(held(stages_of_walk<B>(columns))),
        before(end_of_stages - B::stage_bytes),
        now(first),
        ahead(first + B::stage_bytes),
        left_done(done_ + 8 * (B::stages - 1)),
        ahead_full(full + 8) {}
  __device__ void begin(int) {
    // Stage 0 of a walk is the one before stage 1, which may be the first of the ring in its next
    // use
    const bool wrapped = ahead == first;
    tma::wait_at(wrapped ? full + 8 * (B::stages - 1) : ahead_full - 8, parity ^ wrapped);
  }
  __device__ unsigned stage() const { return now; }
  __device__ unsigned next_stage() const { return ahead; }
  __device__ unsigned stage_before() const { return before; }
  __device__ void wait() {}
  /// Asked early, the answer is there when missing() needs it.
  __device__ void look(int k) {
    absent = k + 1 < stages ? !tma::completed_at(ahead_full, parity) : 0;
  }
  __device__ unsigned missing() const { return absent; }
  __device__ void await() {
    if (absent) tma::wait_at(ahead_full, parity);
  }
  /// Scores are in shared memory before the copy engine is told to take them (done). This fence is
  /// where the walk puts it, between the arrival of words from the band above and the request for
  /// the next, because it also waits for what this thread has asked for from global memory.
  __device__ void left() { tma::fence_async_proxy(); }
  __device__ void done(int k) {
    __syncwarp();
    if (k > 0 && threadIdx.x % 32 == 0) tma::arrive_at(left_done);
    before = now;
    now = ahead;
    left_done = left_done + 8 == done_ + 8 * B::stages ? done_ : left_done + 8;
    ahead += B::stage_bytes;
    ahead_full += 8;
    if (ahead == end_of_stages) ahead = first, ahead_full = full, parity ^= 1;
  }
  __device__ void fetched(unsigned) {}
  /// After the last period the walker has left the last stage, too. There was nothing in it.
  __device__ void finish() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) tma::arrive_at(left_done);
  }
};

template <class B>
__device__ void prepare(TmaMemory<B>& m) {
  if (threadIdx.x == 0) {
    for (int s = 0; s < B::stages; ++s) {
      tma::init(&m.full[s], tma_movers);
      tma::init(&m.done[s], 1);
    }
    tma::fence_init();
  }
}

/// The side of a thread that asks, for all walks of the block. A turn is TURN stages: with two of
/// them the thread asks for neighbouring boxes one after the other, so that memory sees both halves
/// of 256 aligned bytes of a row close together. That is why a thread has groups of one parity, and
/// turns that begin with it: a box of stage n in group g is tile n - g.
template <class B, int TURN = 1>
struct TmaMover {
  static_assert(B::groups % tma_movers == 0 && tma_movers % TURN == 0);
  // A turn waits until the walker has left it, who needs three stages more for that.
  static_assert(TURN == 1 || B::stages >= 2 * TURN + 4);
  TmaMemory<B>& m;
  const CUtensorMap& ref;
  const CUtensorMap& score;
  const int stages;
  const int first_group;
  int to = 0;    // slot of the next stage to load
  int from = 0;  // slot of the next stage to store, and its use
  unsigned parity = 0;

  __device__ TmaMover(TmaMemory<B>& memory, const CUtensorMap& r, const CUtensorMap& s,
                      std::int64_t columns)
      : m(memory),
        ref(r),
        score(s),
        stages(stages_of_walk<B>(columns)),
        first_group(threadIdx.x / 32 - 1) {}

  __device__ static int slot(int n) { return n < B::stages ? n : n - B::stages; }
  /// Stages of the turn that begins with stage n.
  __device__ int turn(int n) const { return turn_of<TURN>(n, first_group, stages); }
  /// f(g, i, column) for this thread's boxes of stages n ... n + count - 1 that the grid has; i is
  /// the stage, counted from n.
  template <class F>
  __device__ void each_box(int n, int count, F f) const {
#pragma unroll
    for (int g = 0; g < B::groups / tma_movers; ++g) {
#pragma unroll
      for (int i = 0; i < TURN; ++i) {
        const int group = first_group + g * tma_movers, tile = B::tile_of(n + i, group);
        if (i < count && tile >= 0 && tile < stages - B::groups) {
          f(group, i, tile * B::tile_columns);
        }
      }
    }
  }
  __device__ int* box(int slot, int group) const {
    return m.stage[slot] + group * B::group_rows * B::tile_columns;
  }
  __device__ void load(int n, int count, int row) {
    unsigned bytes[TURN] = {};
    each_box(n, count, [&](int, int i, int) { bytes[i] += B::stage_bytes / B::groups; });
#pragma unroll
    for (int i = 0; i < TURN; ++i) {
      if (i < count) tma::expect(&m.full[slot(to + i)], bytes[i]);
    }
    each_box(n, count, [&](int group, int i, int column) {
      tma::load_tile(box(slot(to + i), group), &ref, column, row + group * B::group_rows,
                     &m.full[slot(to + i)]);
    });
    to = slot(to + count);
  }
  /// Waits until the walker has left these stages, and stores them.
  __device__ void store(int n, int count, int row) {
#pragma unroll
    for (int i = 0; i < TURN; ++i) {
      if (i < count) tma::wait(&m.done[slot(from + i)], parity ^ (from + i >= B::stages));
    }
    each_box(n, count, [&](int group, int i, int column) {
      tma::store_tile(&score, column, row + group * B::group_rows, box(slot(from + i), group));
    });
    tma::commit_stores();
    from += count;
    if (from >= B::stages) from -= B::stages, parity ^= 1;
  }
  __device__ void walk(int band) {
    const int row = band * B::rows;
    int loaded = 0;
    // Whole turns, and not yet where the walker idles through the place of stage -1
    const auto fill = [&](int places) {
      for (int count; loaded < stages && loaded + (count = turn(loaded)) <= places;) {
        load(loaded, count, row);
        loaded += count;
      }
    };
    fill(B::stages - 1);
    for (int n = 0; n < stages;) {
      const int count = turn(n);
      store(n, count, row);
      // The places that stages before n had are free when their boxes have been read
      tma::wait_stores_read<1>();
      fill(n + B::stages);
      n += count;
    }
    tma::wait_stores_read<0>();
  }
};

template <class B>
std::tuple<CUtensorMap, CUtensorMap> tensor_maps(const Problem& p) {
  const Grid<const int> score{p.score.data, p.score.rows, p.score.columns, p.score.pitch};
  return {tensor_map(p.ref, B::group_rows, B::tile_columns),
          tensor_map(score, B::group_rows, B::tile_columns)};
}

}  // namespace amasia::nw
