// Stages by the tensor copy engine, for tma and dsm: four boxes in, four boxes out, one thread that
// asks. The engine clips boxes at the edges of the grid; what lies outside arrives as zero and is
// not written back. Two mbarriers per place in the ring replace the block barrier.
#pragma once

#include "apps/nw/bands.cuh"
#include "variants/tensor_map.hpp"
#include "variants/tma.cuh"

namespace amasia::nw {

template <class B>
struct TmaMemory {
  alignas(128) int stage[B::stages][B::stage_elements];
  tma::Barrier full[B::stages];  // one arrival and the stage's bytes
  tma::Barrier done[B::stages];  // the walker has left the stage
  Above above;
  int ticket;
};

inline constexpr int tma_threads = 64;  // the walker and the warp of the thread that asks

/// Stages of a walk in the ring, counted over all walks of the block.
template <class B>
AMASIA_HD constexpr int stages_of_walk(std::int64_t columns) {
  return B::periods(columns);  // those filled, and one of nothing that the last lanes run into
}

/// The walker's side.
template <class B>
struct TmaRing {
  const unsigned first, full, done_;
  int slot = 0;         // of stage k
  unsigned parity = 0;  // of its use
  int ahead = 0;        // slot of stage k + 1
  unsigned ahead_parity = 0;
  int last = 0;  // stages of the walk - 1
  int stages;

  __device__ TmaRing(TmaMemory<B>& m, std::int64_t columns)
      : first(async::held_address(m.stage)),
        full(async::held_address(m.full)),
        done_(async::held_address(m.done)),
        stages(stages_of_walk<B>(columns)) {
    step(ahead, ahead_parity);
  }
  __device__ static void step(int& slot, unsigned& parity) {
    if (++slot == B::stages) slot = 0, parity ^= 1;
  }
  __device__ void begin(int) {}
  __device__ unsigned stage() const { return first + slot * B::stage_bytes; }
  __device__ unsigned next_stage() const { return first + ahead * B::stage_bytes; }
  __device__ unsigned stage_before() const {
    return first + (slot == 0 ? B::stages - 1 : slot - 1) * B::stage_bytes;
  }
  /// Stage k and, because the walker looks one chunk further, stage k + 1.
  __device__ void wait(int k) {
    if (k == 0) tma::wait_at(full + 8 * slot, parity);
    if (k + 1 < stages) tma::wait_at(full + 8 * ahead, ahead_parity);
  }
  /// After period k the walker has left stage k - 1, and after the last one all.
  __device__ void done(int k) {
    tma::fence_async_proxy();
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
      if (k > 0) tma::arrive_at(done_ + 8 * (slot == 0 ? B::stages - 1 : slot - 1));
      if (k == stages - 1) tma::arrive_at(done_ + 8 * slot);
    }
    slot = ahead, parity = ahead_parity;
    step(ahead, ahead_parity);
  }
  __device__ void fetched(unsigned) {}
};

template <class B>
__device__ void prepare(TmaMemory<B>& m) {
  if (threadIdx.x == 0) {
    for (int s = 0; s < B::stages; ++s) {
      tma::init(&m.full[s], 1);
      tma::init(&m.done[s], 1);
    }
    tma::fence_init();
  }
}

/// The asking thread's side of all walks of the block.
template <class B>
struct TmaMover {
  TmaMemory<B>& m;
  const CUtensorMap& ref;
  const CUtensorMap& score;
  int stages;
  int to = 0;    // slot of the next stage to load
  int from = 0;  // slot of the next stage to store, and its use
  unsigned parity = 0;

  __device__ TmaMover(TmaMemory<B>& memory, const CUtensorMap& r, const CUtensorMap& s,
                      std::int64_t columns)
      : m(memory), ref(r), score(s), stages(stages_of_walk<B>(columns)) {}

  /// f(g, column) for the boxes of stage n that the grid has.
  template <class F>
  __device__ void each_box(int n, F f) const {
#pragma unroll
    for (int g = 0; g < B::groups; ++g) {
      const int tile = B::tile_of(n, g);
      if (tile >= 0 && tile < stages - B::groups) f(g, tile * B::tile_columns);
    }
  }
  __device__ void load(int n, int row) {
    unsigned bytes = 0;
    each_box(n, [&](int, int) { bytes += B::stage_bytes / B::groups; });
    tma::expect(&m.full[to], bytes);
    each_box(n, [&](int g, int column) {
      tma::load_tile(m.stage[to] + g * B::group_rows * B::tile_columns, &ref, column,
                     row + g * B::group_rows, &m.full[to]);
    });
    to = to == B::stages - 1 ? 0 : to + 1;
  }
  __device__ void walk(int band) {
    const int row = band * B::rows;
    for (int n = 0; n < stages && n < B::stages - 1; ++n) load(n, row);
    for (int n = 0; n < stages; ++n) {
      tma::wait(&m.done[from], parity);
      each_box(n, [&](int g, int column) {
        tma::store_tile(&score, column, row + g * B::group_rows,
                        m.stage[from] + g * B::group_rows * B::tile_columns);
      });
      tma::commit_stores();
      TmaRing<B>::step(from, parity);
      // The place that stage n - 1 had is free when its boxes have been read
      if (n + B::stages - 1 < stages) {
        tma::wait_stores_read<1>();
        load(n + B::stages - 1, row);
      }
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
