// The exchange of costs between the windows of a cluster as words of cost and epoch, for dsm's tall
// schedules.
#pragma once

#include "apps/pathfinder/exchange.cuh"
#include "apps/pathfinder/whole_warp.cuh"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::pathfinder {

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
    const auto inbox_of = [&](int step) -> unsigned {
      const int to = walker.warp + step;
      if (to >= 0 && to < S::warps) return async::shared_address(&mail.word[0][to]);
      const int peer = rank + step;
      if (peer < 0 || peer >= S::cluster) return 0;
      return dsm::remote_address(&mail.word[0][step < 0 ? S::warps - 1 : 0], peer);
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

  __device__ static unsigned long long word_of(unsigned epoch, int value) {
    return static_cast<unsigned long long>(epoch) << 32 | static_cast<unsigned>(value);
  }
  /// Instructions with a predicate in place of a branch, as store_words().
  __device__ static void store_far(bool wanted, unsigned to, Piece cost, unsigned epoch) {
    AMASIA_SM90_ASM(
        "{\n"
        ".reg .pred wanted;\n"
        "setp.ne.s32 wanted, %5, 0;\n"
        "@wanted st.relaxed.cluster.shared::cluster.v2.u64 [%0], {%1, %2};\n"
        "@wanted st.relaxed.cluster.shared::cluster.v2.u64 [%0 + 16], {%3, %4};\n"
        "}\n" ::"r"(to),
        "l"(word_of(epoch, cost.x)), "l"(word_of(epoch, cost.y)), "l"(word_of(epoch, cost.z)),
        "l"(word_of(epoch, cost.w)), "r"(int{wanted})
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
        "l"(word_of(epoch, cost.x)), "l"(word_of(epoch, cost.y)), "l"(word_of(epoch, cost.z)),
        "l"(word_of(epoch, cost.w)), "r"(int{wanted})
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
