// What windows of strips tell each other: the costs that a window keeps and its neighbours lack.
// Inside a block through shared memory (BlockMail; cluster_exchange.cuh has the same for a
// cluster), between groups through words in global memory that carry their epoch along.
#pragma once

#include "apps/pathfinder/geometry.hpp"
#include "apps/pathfinder/pathfinder.hpp"
#include "variants/ptx/guarded_asm.cuh"
#include "variants/ptx/registers.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::pathfinder {

// Warps that the compiler, too, knows to be converged. Where it cannot prove that all lanes take
// the same branch, it compiles every later shuffle twice, for converged and for divergent lanes,
// with a test in front. That doubles the machine code and adds instructions between two rows of a
// tall grid, where each costs time.
inline constexpr unsigned all_lanes = 0xffffffffu;

/// The calling warp's number in its block. A choice by it is one of whole warps, which one by
/// threadIdx.x is not for the compiler.
__device__ inline int warp_of_block() {
  return __shfl_sync(all_lanes, static_cast<int>(threadIdx.x) / 32, 0);
}

/// tma::wait_at() for a whole warp, which leaves it together.
__device__ inline void wait_together(unsigned barrier, unsigned parity) {
  int done = 1;
  do {
    AMASIA_SM90_ASM(
        "{\n"
        ".reg .pred complete;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n"
        "selp.s32 %0, 1, 0, complete;\n"
        "}\n"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  } while (!__all_sync(all_lanes, done));
}

/// A lane's columns in pieces of four: everything is stored, sent and asked for in pieces.
using Piece = int4;

__device__ inline unsigned long long word_of(int cost, unsigned epoch) {
  return static_cast<unsigned long long>(epoch) << 32 | static_cast<unsigned>(cost);
}

/// Publishes four costs, where they are wanted: instructions with a predicate, because a branch
/// costs a warp that is alone on its scheduler 25 cycles. One 8-byte word carries a cost and its
/// epoch: accesses of that size are single-copy atomic (PTX ISA, memory consistency model), so a
/// reader that sees the epoch has the cost that was stored with it.
__device__ inline void store_words(unsigned long long* words, Piece cost, unsigned epoch,
                                   bool wanted) {
  asm volatile(
      "{\n"
      ".reg .pred wanted;\n"
      "setp.ne.s32 wanted, %5, 0;\n"
      "@wanted st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};\n"
      "@wanted st.relaxed.gpu.global.v2.u64 [%0 + 16], {%3, %4};\n"
      "}\n" ::"l"(words),
      "l"(word_of(cost.x, epoch)), "l"(word_of(cost.y, epoch)), "l"(word_of(cost.z, epoch)),
      "l"(word_of(cost.w, epoch)), "r"(int{wanted})
      : "memory");
}

/// Four words as they are now.
struct Words {
  unsigned long long word[4] = {};
  __device__ void load(const unsigned long long* words, bool wanted) {
    asm volatile(
        "{\n"
        ".reg .pred wanted;\n"
        "setp.ne.s32 wanted, %5, 0;\n"
        "@wanted ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%4];\n"
        "@wanted ld.relaxed.gpu.global.v2.u64 {%2, %3}, [%4 + 16];\n"
        "}\n"
        : "+l"(word[0]), "+l"(word[1]), "+l"(word[2]), "+l"(word[3])
        : "l"(words), "r"(int{wanted})
        : "memory");
  }
  /// 0 when all four have the epoch. Four logical operations and one comparison: this stands
  /// between the arrival of a word and the next row.
  __device__ unsigned difference(unsigned epoch) const {
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) bits |= static_cast<unsigned>(word[i] >> 32) ^ epoch;
    return bits;
  }
  __device__ Piece costs() const {
    return {static_cast<int>(word[0]), static_cast<int>(word[1]), static_cast<int>(word[2]),
            static_cast<int>(word[3])};
  }
};

/// A warp on its way down: the costs of its window and which of them it must tell or be told.
template <class S>
struct Walker {
  static constexpr int C = S::lane_columns;
  static constexpr int pieces = C / 4;
  int cost[C];
  int lane, warp;
  std::int64_t column;  // of the lane's first cost in the grid; may lie outside
  unsigned inside = 0;  // bit c: column + c lies in the grid
  // Bit p, for piece p of the lane:
  unsigned kept = 0;       // this window keeps it for its group
  unsigned asked = 0;      // outer exchange: another group owns it
  unsigned published = 0;  // outer exchange: other groups need it

  __device__ explicit Walker(std::int64_t grid_columns) {
    lane = threadIdx.x % 32;
    warp = warp_of_block();
    const int window = blockIdx.x % S::cluster * S::warps + warp;
    column = S::tile_column(blockIdx.x) + warp * S::stride + lane * C;
#pragma unroll
    for (int c = 0; c < C; ++c) {
      inside |= unsigned{column + c >= 0 && column + c < grid_columns} << c;
    }
#pragma unroll
    for (int p = 0; p < pieces; ++p) {
      // Pieces start at multiples of 4 in the grid: inside means the first column is.
      const bool in = inside >> 4 * p & 1;
      const int position = window * S::stride + at(p);
      const bool keep = S::keeps(window, at(p));
      kept |= unsigned{keep} << p;
      asked |= unsigned{in && !S::is_owned(position)} << p;
      published |= unsigned{in && keep && S::is_published(position)} << p;
    }
  }
  /// Column of piece p in the window.
  __device__ int at(int p) const { return lane * C + 4 * p; }
  __device__ Piece piece(int p) const {
    return {cost[4 * p], cost[4 * p + 1], cost[4 * p + 2], cost[4 * p + 3]};
  }
  __device__ void set(int p, Piece v) {
    cost[4 * p] = v.x, cost[4 * p + 1] = v.y, cost[4 * p + 2] = v.z, cost[4 * p + 3] = v.w;
  }
  __device__ bool owns(int c) const { return (inside >> c & 1) && ((kept & ~asked) >> c / 4 & 1); }
};

/// Costs beyond the grid's edge grow by outside_wall in each row. Cut back before each exchange
/// they never overflow, however many rows there are.
template <class S>
__device__ void cut_costs(Walker<S>& walker) {
#pragma unroll
  for (int c = 0; c < walker.C; ++c) {
    walker.cost[c] = walker.cost[c] < unreachable ? walker.cost[c] : unreachable;
  }
}

/// A lane's words of even and of odd epochs. Tall schedules keep both addresses in registers.
template <class S>
struct LaneWords {
  unsigned long long *even, *odd;
  __device__ LaneWords(const Exchange& exchange, std::int64_t column)
      : even(exchange.words + column), odd(even + exchange.columns) {
    if constexpr (S::tall) {
      even = opaque(even);
      odd = opaque(odd);
    }
  }
  __device__ unsigned long long* of(unsigned epoch) const { return epoch & 1 ? odd : even; }
};

/// Between groups, first half: publish what others need. Before the inner exchange, so that the
/// words travel while it takes place; the inner exchange changes only what this window does not
/// keep.
template <class S>
__device__ void publish(const Walker<S>& walker, const LaneWords<S>& words, unsigned epoch) {
#pragma unroll
  for (int p = 0; p < walker.pieces; ++p) {
    store_words(words.of(epoch) + 4 * p, walker.piece(p), epoch, walker.published >> p & 1);
  }
}

/// Second half: ask until every word of this epoch has come. All pieces of a lane at once where
/// registers allow: one after the other each costs a way to L2 and back. Buffers alternate: a word
/// is overwritten two epochs later, when the writer has had the next epoch's words from everyone
/// who reads its own - and those were stored after the reading.
template <class S>
__device__ void ask(Walker<S>& walker, const LaneWords<S>& words, unsigned epoch) {
  constexpr int at_once = S::roomy ? Walker<S>::pieces : 1;
#pragma unroll
  for (int first = 0; first < walker.pieces; first += at_once) {
    Words now[at_once];
    unsigned difference;
    do {
      difference = 0;
#pragma unroll
      for (int p = 0; p < at_once; ++p) {
        now[p].load(words.of(epoch) + 4 * (first + p), walker.asked >> (first + p) & 1);
      }
#pragma unroll
      for (int p = 0; p < at_once; ++p) {
        if (walker.asked >> (first + p) & 1) difference |= now[p].difference(epoch);
      }
    } while (__any_sync(all_lanes, difference != 0));
#pragma unroll
    for (int p = 0; p < at_once; ++p) {
      if (walker.asked >> (first + p) & 1) walker.set(first + p, now[p].costs());
    }
  }
}

/// Is this one of the warps that compute? The others are producer warps.
template <class S>
__device__ bool computes() {
  return S::producers == 0 || warp_of_block() < S::warps;
}

/// A barrier of the warps that compute: producer warps take no part in exchanges.
template <class S>
__device__ void walkers_barrier() {
  asm volatile("bar.sync 1, %0;\n" ::"n"(S::walkers) : "memory");
}

/// Costs on their way to a window, from the window before it and from the one after.
template <class S>
struct Inbox {
  Piece cost[2][S::halo / 4];
};

/// Where a lane's pieces go and come from in an exchange: 32-bit shared addresses in the first of
/// the two sets of inboxes, 0 for none. Worked out once, so that an exchange is a few predicated
/// accesses.
template <class S>
struct Route {
  static constexpr int pieces = S::lane_columns / 4;
  unsigned to_left[pieces], to_right[pieces], from[pieces];

  /// inbox_of(-1), (0), (1): address of the inbox of the window before, of this one, of the one
  /// after.
  template <class InboxOf>
  __device__ Route(const Walker<S>& walker, InboxOf inbox_of) {
    constexpr unsigned side_bytes = S::halo * sizeof(int);
#pragma unroll
    for (int p = 0; p < pieces; ++p) {
      const int at = walker.at(p);
      const bool left = at >= S::halo && at < 2 * S::halo;
      const bool right = at >= S::stride && at < S::stride + S::halo;
      const unsigned before = inbox_of(-1), own = inbox_of(0), after = inbox_of(1);
      to_left[p] = left && before != 0 ? before + side_bytes + 4 * (at - S::halo) : 0;
      to_right[p] = right && after != 0 ? after + 4 * (at - S::stride) : 0;
      from[p] = walker.kept >> p & 1 ? 0
                : at < S::halo       ? own + 4 * at
                                     : own + side_bytes + 4 * (at - S::halo - S::stride);
    }
  }
};

/// Between windows of one block: an inbox per window in shared memory, two sets in turn, so that
/// one barrier per exchange suffices.
template <class S>
struct BlockMail {
  struct Storage {
    Inbox<S> inbox[2][S::warps];
  };
  static constexpr unsigned set_bytes = S::warps * sizeof(Inbox<S>);
  Route<S> route;

  struct InboxOf {
    Storage& mail;
    int warp;
    __device__ unsigned operator()(int step) const {
      const int to = warp + step;
      return to < 0 || to >= S::warps ? 0 : async::shared_address(&mail.inbox[0][to]);
    }
  };
  __device__ BlockMail(Storage& mail, const Walker<S>& walker)
      : route(walker, InboxOf{mail, walker.warp}) {}

  __device__ void send(int e, const Walker<S>& walker) const {
    if constexpr (S::warps > 1) {
      const unsigned set = e & 1 ? set_bytes : 0;
#pragma unroll
      for (int p = 0; p < walker.pieces; ++p) {
        if (route.to_left[p] != 0) async::store16(route.to_left[p] + set, walker.piece(p));
        if (route.to_right[p] != 0) async::store16(route.to_right[p] + set, walker.piece(p));
      }
    }
  }
  __device__ void receive(int e, Walker<S>& walker) const {
    if constexpr (S::warps > 1) {
      const unsigned set = e & 1 ? set_bytes : 0;
      walkers_barrier<S>();
#pragma unroll
      for (int p = 0; p < walker.pieces; ++p) {
        if (route.from[p] != 0) walker.set(p, async::load16(route.from[p] + set));
      }
    }
  }
};

}  // namespace amasia::pathfinder
