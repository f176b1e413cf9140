// The exchange of costs between the windows of a cluster as messages, for dsm's wide schedules.
#pragma once

#include "apps/pathfinder/exchange.cuh"
#include "apps/pathfinder/whole_warp.cuh"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::pathfinder {

/// As BlockMail, but the windows at a block's ends post into the next block, whose mbarrier counts
/// the bytes in. The two sets of inboxes are the stages of a pipeline: a window fills its
/// neighbour's set again two exchanges later, when that neighbour's costs of the exchange between
/// have come, which it sent after it had read the set. So `full` is all that is needed.
template <class S>
struct ClusterMail {
  struct Storage {
    Inbox<S> inbox[2][S::warps];
    tma::Barrier full[2];
  };
  static constexpr unsigned set_bytes = S::warps * sizeof(Inbox<S>);
  const int rank = static_cast<int>(dsm::rank());
  const unsigned full;
  const bool first, last;                    // of the block's windows
  unsigned peer_before = 0, peer_after = 0;  // the neighbouring blocks' barriers, 0 for none
  Route<S> route;

  __device__ static void prepare(Storage& mail) {
    if (threadIdx.x == 0) {
      for (tma::Barrier& barrier : mail.full) tma::init(&barrier, 1);
      tma::fence_init();
    }
  }
  struct InboxOf {
    Storage& mail;
    int warp, rank;
    __device__ unsigned operator()(int step) const {
      const int to = warp + step;
      if (to >= 0 && to < S::warps) return async::shared_address(&mail.inbox[0][to]);
      const int peer = rank + step;
      if (peer < 0 || peer >= S::cluster) return 0;
      return dsm::remote_address(&mail.inbox[0][step < 0 ? S::warps - 1 : 0], peer);
    }
  };
  __device__ ClusterMail(Storage& mail, const Walker<S>& walker)
      : full(async::held_address(mail.full)),
        first(walker.warp == 0),
        last(walker.warp == S::warps - 1),
        route(walker, InboxOf{mail, walker.warp, rank}) {
    if (rank > 0) peer_before = dsm::remote_address(mail.full, rank - 1);
    if (rank < S::cluster - 1) peer_after = dsm::remote_address(mail.full, rank + 1);
  }

  __device__ void send(int e, const Walker<S>& walker) const {
    const unsigned set = e & 1 ? set_bytes : 0, barrier = e & 1 ? sizeof(tma::Barrier) : 0;
#pragma unroll
    for (int p = 0; p < walker.pieces; ++p) {  // those that travel far first
      const Piece cost = walker.piece(p);
      const unsigned left = route.to_left[p], right = route.to_right[p];
      send_if(first && left != 0, left + set, cost, peer_before + barrier);
      send_if(last && right != 0, right + set, cost, peer_after + barrier);
      if (!first && left != 0) async::store16(left + set, cost);
      if (!last && right != 0) async::store16(right + set, cost);
    }
    if (threadIdx.x == 0) {  // the neighbours' bytes may have been counted already
      tma::expect_at(full + barrier,
                     sizeof(int) * S::halo * ((peer_before != 0) + (peer_after != 0)));
    }
  }
  __device__ void receive(int e, Walker<S>& walker) const {
    const unsigned set = e & 1 ? set_bytes : 0, barrier = e & 1 ? sizeof(tma::Barrier) : 0;
    walkers_barrier<S>();
    if (first || last) wait_together(full + barrier, e / 2 % 2);
#pragma unroll
    for (int p = 0; p < walker.pieces; ++p) {
      if (route.from[p] != 0) walker.set(p, async::load16(route.from[p] + set));
    }
  }

 private:
  /// dsm::store_async() where it is wanted. ptxas makes a branch of the predicate.
  __device__ static void send_if(bool wanted, unsigned to, Piece cost, unsigned barrier) {
    AMASIA_SM90_ASM(
        "{\n"
        ".reg .pred wanted;\n"
        "setp.ne.s32 wanted, %6, 0;\n"
        "@wanted st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%0], {%1, %2, %3, "
        "%4}, [%5];\n"
        "}\n" ::"r"(to),
        "r"(cost.x), "r"(cost.y), "r"(cost.z), "r"(cost.w), "r"(barrier), "r"(int{wanted})
        : "memory");
  }
};

}  // namespace amasia::pathfinder
