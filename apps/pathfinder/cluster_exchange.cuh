// The exchange of costs between the windows of a cluster, for dsm: as messages in wide schedules,
// as words of cost and epoch in tall ones.
#pragma once

#include "apps/pathfinder/exchange.cuh"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::pathfinder {

/// Address of the inbox of the window `step` (-1, 0, 1) from window `warp` of block `rank`, in this
/// block or the one beside; 0 where the cluster ends. `inboxes`: a set, one per window of the
/// block.
template <class S, class OneInbox>
__device__ unsigned cluster_inbox(OneInbox* inboxes, int warp, int rank, int step) {
  const int to = warp + step;
  if (to >= 0 && to < S::warps) return async::shared_address(&inboxes[to]);
  const int peer = rank + step;
  if (peer < 0 || peer >= S::cluster) return 0;
  return dsm::remote_address(&inboxes[step < 0 ? S::warps - 1 : 0], peer);
}

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
  __device__ ClusterMail(Storage& mail, const Walker<S>& walker)
      : full(async::held_address(mail.full)),
        first(walker.warp == 0),
        last(walker.warp == S::warps - 1),
        route(walker,
              [&](int step) { return cluster_inbox<S>(mail.inbox[0], walker.warp, rank, step); }) {
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

/// As between groups (exchange.cuh), but in shared memory: a window writes words into its
/// neighbour's inbox, in this block or the next, and the neighbour reads its own inbox until the
/// epoch is there. Unlike with ClusterMail nobody waits for the block and then for an mbarrier, but
/// a word carries half as many costs as a message. Two sets of inboxes suffice for the same reason.
template <class S>
struct ClusterWords {
  struct Storage {
    alignas(16) unsigned long long word[2][S::warps][2][S::halo];  // (sets, windows, from, columns)
  };
  static constexpr unsigned side_bytes = S::halo * sizeof(unsigned long long);
  static constexpr unsigned set_bytes = S::warps * 2 * side_bytes;
  static constexpr int pieces = S::lane_columns / 4;
  const bool first, last;                                    // of the block's windows
  unsigned to_left[pieces], to_right[pieces], from[pieces];  // 32-bit shared addresses, 0 for none

  /// By all threads, before the cluster's barrier: no exchange has epoch 0.
  __device__ static void prepare(Storage& mail) {
    unsigned long long* words = &mail.word[0][0][0][0];
    for (int i = threadIdx.x; i < 4 * S::warps * S::halo; i += blockDim.x) words[i] = 0;
  }
  __device__ ClusterWords(Storage& mail, const Walker<S>& walker)
      : first(walker.warp == 0), last(walker.warp == S::warps - 1) {
    const int rank = static_cast<int>(dsm::rank());
    const auto inbox_of = [&](int step) {
      return cluster_inbox<S>(mail.word[0], walker.warp, rank, step);
    };
    const unsigned before = inbox_of(-1), own = inbox_of(0), after = inbox_of(1);
#pragma unroll
    for (int p = 0; p < pieces; ++p) {
      const int at = walker.at(p);
      const bool left = at >= S::halo && at < 2 * S::halo;
      const bool right = at >= S::stride && at < S::stride + S::halo;
      to_left[p] = left && before != 0 ? before + side_bytes + 8 * (at - S::halo) : 0;
      to_right[p] = right && after != 0 ? after + 8 * (at - S::stride) : 0;
      from[p] = walker.kept >> p & 1 ? 0
                : at < S::halo       ? own + 8 * at
                                     : own + side_bytes + 8 * (at - S::halo - S::stride);
    }
  }

  __device__ void send(int e, const Walker<S>& walker) const {
    const unsigned set = e & 1 ? set_bytes : 0, epoch = static_cast<unsigned>(e) + 1;
#pragma unroll
    for (int p = 0; p < pieces; ++p) {  // those that travel far first
      const Piece cost = walker.piece(p);
      store_far(first && to_left[p] != 0, to_left[p] + set, cost, epoch);
      store_far(last && to_right[p] != 0, to_right[p] + set, cost, epoch);
      store_near(!first && to_left[p] != 0, to_left[p] + set, cost, epoch);
      store_near(!last && to_right[p] != 0, to_right[p] + set, cost, epoch);
    }
  }
  __device__ void receive(int e, Walker<S>& walker) const {
    const unsigned set = e & 1 ? set_bytes : 0, epoch = static_cast<unsigned>(e) + 1;
    Words now[pieces];
    unsigned difference;
    do {
      difference = 0;
#pragma unroll
      for (int p = 0; p < pieces; ++p) load(now[p], from[p] + set, from[p] != 0);
#pragma unroll
      for (int p = 0; p < pieces; ++p) difference |= from[p] != 0 ? now[p].difference(epoch) : 0;
    } while (__any_sync(all_lanes, difference != 0));
#pragma unroll
    for (int p = 0; p < pieces; ++p) {
      if (from[p] != 0) walker.set(p, now[p].costs());
    }
  }

 private:
  static_assert(S::roomy, "a lane holds all words that it reads at once");

  /// Instructions with a predicate in place of a branch, as store_words().
  __device__ static void store_far(bool wanted, unsigned to, Piece cost, unsigned epoch) {
    AMASIA_SM90_ASM(
        "{\n"
        ".reg .pred wanted;\n"
        "setp.ne.s32 wanted, %5, 0;\n"
        "@wanted st.relaxed.cluster.shared::cluster.v2.u64 [%0], {%1, %2};\n"
        "@wanted st.relaxed.cluster.shared::cluster.v2.u64 [%0 + 16], {%3, %4};\n"
        "}\n" ::"r"(to),
        "l"(word_of(cost.x, epoch)), "l"(word_of(cost.y, epoch)), "l"(word_of(cost.z, epoch)),
        "l"(word_of(cost.w, epoch)), "r"(int{wanted})
        : "memory");
  }
  __device__ static void store_near(bool wanted, unsigned to, Piece cost, unsigned epoch) {
    AMASIA_SM90_ASM(
        "{\n"
        ".reg .pred wanted;\n"
        "setp.ne.s32 wanted, %5, 0;\n"
        "@wanted st.relaxed.cta.shared::cta.v2.u64 [%0], {%1, %2};\n"
        "@wanted st.relaxed.cta.shared::cta.v2.u64 [%0 + 16], {%3, %4};\n"
        "}\n" ::"r"(to),
        "l"(word_of(cost.x, epoch)), "l"(word_of(cost.y, epoch)), "l"(word_of(cost.z, epoch)),
        "l"(word_of(cost.w, epoch)), "r"(int{wanted})
        : "memory");
  }
  __device__ static void load(Words& words, unsigned from, bool wanted) {
    AMASIA_SM90_ASM(
        "{\n"
        ".reg .pred wanted;\n"
        "setp.ne.s32 wanted, %5, 0;\n"
        "@wanted ld.relaxed.cluster.shared::cta.v2.u64 {%0, %1}, [%4];\n"
        "@wanted ld.relaxed.cluster.shared::cta.v2.u64 {%2, %3}, [%4 + 16];\n"
        "}\n"
        : "+l"(words.word[0]), "+l"(words.word[1]), "+l"(words.word[2]), "+l"(words.word[3])
        : "r"(from), "r"(int{wanted})
        : "memory");
  }
};

}  // namespace amasia::pathfinder
