// How the bottom row of a band gets to the band below inside a cluster: into an inbox in the shared
// memory of the block below. What link.cuh asks for, with another way to go; at the edges of the
// cluster it is that way.
#pragma once

#include "apps/nw/link.cuh"
#include "variants/geometry/pipeline_state.hpp"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::nw {

/// Hand-overs that have come and were not yet taken: the block above is their producer.
template <class B>
struct Inbox {
  static constexpr int stages = 256 / B::hand_columns;  // columns two walks may drift apart
  static constexpr unsigned stage_bytes = 4 * B::hand_columns;
  alignas(16) int row[stages][B::hand_columns];
  tma::Barrier full[stages];   // the bytes have come from the block above
  tma::Barrier empty[stages];  // the block below has read what this block sent
};

/// The walker's link inside a cluster. Which of its two neighbours is in the cluster is the same
/// for all bands of a block. Addresses, here and there, are worked out once: a walk waits for each.
template <class B>
struct ClusterLink {
  using Box = Inbox<B>;
  using State = PipelineState<Box::stages>;
  static constexpr int senders = B::hand_columns / 4;  // lanes that send 16 bytes each

  WordLink<B> words;
  const unsigned rank, size;
  const int lane;
  const bool receives, sends;
  const unsigned inbox, full, empty;                    // of this block
  const unsigned above_empty, below_inbox, below_full;  // of its neighbours in the cluster
  int left = 0;                                         // hand-overs that this walk has yet to take
  int to_give = 0;                                      // and to send
  State taking{}, giving{};                             // over all bands
  int4 picked{};

  __device__ ClusterLink(Box& box, const BandRun& run, unsigned tag)
      : words(run, tag),
        rank(dsm::rank()),
        size(dsm::size()),
        lane(threadIdx.x % 32),
        receives(rank > 0),
        sends(rank + 1 < size),
        inbox(held(async::shared_address(box.row) + 16 * lane)),
        full(held(async::shared_address(box.full))),
        empty(held(async::shared_address(box.empty))),
        above_empty(held(dsm::remote_address(box.empty, receives ? rank - 1 : rank))),
        below_inbox(held(dsm::remote_address(box.row, sends ? rank + 1 : rank) + 16 * lane)),
        below_full(held(dsm::remote_address(box.full, sends ? rank + 1 : rank))) {}

  /// One thread; tma::fence_init() and a cluster barrier follow.
  __device__ static void init(Box& box) {
    for (int s = 0; s < Box::stages; ++s) {
      tma::init(&box.full[s], 1);
      tma::init(&box.empty[s], 1);
    }
  }
  /// The same thread, behind that barrier.
  __device__ static void announce(Box& box) {
    for (tma::Barrier& full : box.full) tma::expect(&full, Box::stage_bytes);
  }
  __device__ void begin(int band) {
    const int pieces = static_cast<int>(words.pitch / B::hand_columns);
    words.begin(band);
    if (receives) words.waits = 0;
    left = receives ? pieces : 0;
    to_give = sends && band + 1 < B::bands(words.run.ref.rows) ? pieces : 0;
  }

  template <int SLOT>
  __device__ unsigned missing(int late) const {
    const unsigned absent = left > 0 && !tma::completed_at(full + 8 * taking.index, taking.phase);
    return absent | words.template missing<SLOT>(late);
  }
  template <int SLOT>
  __device__ void await() {
    words.template await<SLOT>();
    if (left > 0) tma::wait_at(full + 8 * taking.index, taking.phase);
  }
  template <int SLOT>
  __device__ void take(unsigned row) {
    if (!receives) {
      words.template take<SLOT>(row);
    } else if (left > 0) {
      if (lane < senders) {
        async::store16(row + 16 * lane, async::load16(inbox + taking.index * Box::stage_bytes));
      }
      __syncwarp();
      if (lane == 0) {
        tma::expect_at(full + 8 * taking.index, Box::stage_bytes);
        dsm::arrive_remote_relaxed(above_empty + 8 * taking.index);
      }
      --left;
      ++taking;
    }
  }
  __device__ void pick(unsigned row) {
    if (!sends) {
      words.pick(row);
    } else {
      __syncwarp();
      picked = async::load16(row + 16 * (lane % senders));
    }
  }
  __device__ void give(int first) {
    if (!sends) {
      words.give(first);
    } else if (first >= 0 && to_give > 0) {
      // The producer of the inbox below: phase ^ 1, because at first every stage is empty.
      tma::wait_at(empty + 8 * giving.index, giving.phase ^ 1);
      if (lane < senders) {
        dsm::store_async(below_inbox + giving.index * Box::stage_bytes, picked,
                         below_full + 8 * giving.index);
      }
      --to_give;
      ++giving;
    }
  }
};

}  // namespace amasia::nw
