// The schedule `columns-128`: bands of 128 columns that warps walk down the rows. What a launch is
// given, how bands are dealt out, and how the last column of a band gets to the band to its right.
// column_walk.cuh has the walk, geometry.hpp the arithmetic.
//
// Every block has a ring in shared memory where the scores to the left of its band arrive, row by
// row. A place without a score holds `no_score`. The walker reads the ring and nothing else; who
// fills it depends on where the band to the left is:
//
//   band 0                     the block's keeper writes the border
//   in another cluster         the keeper polls words of score and run in global memory (nw.hpp)
//   in the block to the left   that block's walker writes straight into the ring (dsm)
#pragma once

#include <climits>
#include <vector>

#include "apps/nw/link.cuh"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::nw {

inline constexpr int no_score = INT_MIN;  // check_range() keeps scores above it
inline constexpr int ring_rows = 512;     // a power of two

/// Arguments of a launch.
struct ColumnRun {
  Grid<const int> ref;
  Grid<int> score;
  int penalty = 0;
  Handover handover;       // its clock
  std::int64_t pitch = 0;  // words of a band: its rows, to whole stages
  int four_gaps = 0;       // 4 * penalty, once more (column_walk.cuh, less_4)
  unsigned parties = 0;    // blocks or clusters of all launches of the run
};

/// What the walker, the keeper and the block to the right share.
struct ColumnShared {
  alignas(16) int coming[ring_rows];
  alignas(16) int nothing[64];  // in place of rows below the last
  int consumed;                 // rows that the walker has taken from `coming`
  int room;                     // rows up to which the block to the right has room in its own ring
  int band;
};

/// Where a walker's band lies among its neighbours.
struct ColumnPlace {
  int band, bands;
  bool from_left, to_right;  // the neighbour is the next block of the cluster
  __device__ bool hands_over() const { return band < bands - 1; }
};

__device__ inline int load_volatile(const int* shared) {
  return *static_cast<const volatile int*>(shared);
}
__device__ inline void store_volatile(int* shared, int value) {
  *static_cast<volatile int*>(shared) = value;
}

/// The same in all lanes of a warp, and the compiler knows it: else it would guard every shuffle of
/// a walk against lanes that have gone another way.
__device__ inline int uniform(int value) { return __shfl_sync(0xffffffffu, value, 0); }
__device__ inline int uniform_warp() { return uniform(static_cast<int>(threadIdx.x) / 32); }

/// Before a band, by all threads of the block; a barrier follows.
__device__ inline void begin_column_ring(ColumnShared& shared, const ColumnPlace& place) {
  for (int i = threadIdx.x; i < ring_rows; i += blockDim.x) shared.coming[i] = no_score;
  if (threadIdx.x < 64) shared.nothing[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    shared.consumed = 0;
    shared.room = place.to_right ? ring_rows : INT_MAX;
  }
}

/// The keeper, a warp: fills the ring, unless the block to the left does, and clears the places
/// that the walker has read. A lane has every 32nd row, so that it clears a place before it fills
/// it.
__device__ inline void keep_column_ring(const ColumnRun& run, ColumnShared& shared,
                                        const ColumnPlace& place, int rows) {
  constexpr int pause = 100;  // ns; the walker's scheduler is another one, but shared memory is not
  const int lane = static_cast<int>(threadIdx.x % 32);
  const unsigned tag = run_tag(run.handover);
  const unsigned long long* words = run.handover.words + (place.band - 1) * run.pitch;
  const unsigned to_left = place.from_left ? dsm::remote_address(&shared.room, dsm::rank() - 1) : 0;
  int next = place.from_left ? rows : lane;  // to fill
  int cleared = lane;                        // up to here
  int told = 0;
  while (__any_sync(0xffffffffu, next < rows) || (place.from_left && told + ring_rows < rows)) {
    const int consumed = uniform(load_volatile(&shared.consumed));
    for (; cleared < consumed; cleared += 32) {
      store_volatile(&shared.coming[cleared % ring_rows], no_score);
    }
    if (place.from_left) {
      if (consumed == told) {
        __nanosleep(pause);
        continue;
      }
      told = consumed;
      dsm::fence_cluster();  // what was cleared, before what is told
      __syncwarp();
      if (lane == 0) {
        dsm::store_relaxed(to_left, told + ring_rows < rows ? told + ring_rows : INT_MAX);
      }
    } else if (next < rows && next < cleared + ring_rows) {
      int score = border(next + 1, run.penalty);
      bool there = true;
      if (place.band > 0) {
        unsigned long long word;
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];\n"
                     : "=l"(word)
                     : "l"(words + next)
                     : "memory");
        score = static_cast<int>(word);
        there = static_cast<unsigned>(word >> 32) == tag;
      }
      if (there) {
        store_volatile(&shared.coming[next % ring_rows], score);
        next += 32;
      }
    }
  }
}

/// The walker's side of both ends. All lanes call all of it. TO_RING: scores go to the ring of the
/// next block of the cluster, and not to words in global memory.
template <bool TO_RING>
struct ColumnLink {
  const unsigned coming, nothing, consumed_at, room_at;
  const unsigned tag;
  const bool last;              // the lane that has the band's last column
  const int hands;              // 1 in that lane, if there is a band to the right
  const unsigned long long to;  // address of row 0 of the ring, or of the words

  __device__ ColumnLink(const ColumnRun& run, ColumnShared& shared, const ColumnPlace& place)
      : coming(held(async::shared_address(shared.coming))),
        nothing(held(async::shared_address(shared.nothing))),
        consumed_at(held(async::shared_address(&shared.consumed))),
        room_at(held(async::shared_address(&shared.room))),
        tag(held(run_tag(run.handover))),
        last(threadIdx.x % 32 == 31),
        hands(held(static_cast<int>(last && place.hands_over()))),
        to(held(TO_RING ? dsm::remote_generic(shared.coming, dsm::rank() + 1)
                        : reinterpret_cast<unsigned long long>(run.handover.words +
                                                               place.band * run.pitch))) {}
  __device__ static bool there(const int4& four) {
    return min(min(four.x, four.y), min(four.z, four.w)) != no_score;
  }
  __device__ static int4 look(unsigned at) {
    int4 four;
    asm volatile("ld.volatile.shared.v4.s32 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w)
                 : "r"(at)
                 : "memory");
    return four;
  }
  /// Until four scores are there. Here and below the lanes leave the loop by vote, all at once: the
  /// compiler has to know that they stay together (variants/ptx/mbarrier.cuh).
  __device__ static int4 await(unsigned at) {
    int4 four;
    asm volatile(
        "{\n"
        ".reg .pred missing;\n"
        ".reg .s32 least;\n"
        "again:\n"
        "ld.volatile.shared.v4.s32 {%0, %1, %2, %3}, [%4];\n"
        "min.s32 least, %0, %1;\n"
        "min.s32 least, least, %2;\n"
        "min.s32 least, least, %3;\n"
        "setp.eq.s32 missing, least, %5;\n"
        "vote.sync.any.pred missing, missing, 0xffffffff;\n"
        "@missing bra.uni again;\n"
        "}\n"
        : "=&r"(four.x), "=&r"(four.y), "=&r"(four.z), "=&r"(four.w)
        : "r"(at), "n"(no_score)
        : "memory");
    return four;
  }
  __device__ static void await_at_least(unsigned at, int wanted) {
    asm volatile(
        "{\n"
        ".reg .pred less;\n"
        ".reg .s32 now;\n"
        "again:\n"
        "ld.volatile.shared.s32 now, [%0];\n"
        "setp.lt.s32 less, now, %1;\n"
        "vote.sync.any.pred less, less, 0xffffffff;\n"
        "@less bra.uni again;\n"
        "}\n" ::"r"(at),
        "r"(wanted)
        : "memory");
  }
  /// Where the scores of a stage's last column go.
  struct To {
    unsigned long long first;
    int hands;  // 0 or 1
  };
  __device__ To to_rows(int first) const {
    const std::int64_t bytes =
        TO_RING ? 4 * (static_cast<unsigned>(first) % ring_rows) : std::int64_t{8} * first;
    return {held(to + bytes), first >= 0 ? hands : 0};
  }
  /// Four of them, of the rows `row` ... `row` + 3 of the stage. Predicates, no branches.
  __device__ void hand(const To& stage, int row, int4 four) const {
    if constexpr (TO_RING) {
      dsm::store_relaxed_if(stage.hands, stage.first + 4 * row, four);
    } else {
      asm volatile(
          "{\n"
          ".reg .pred hands;\n"
          "setp.ne.s32 hands, %0, 0;\n"
          "@hands st.relaxed.gpu.global.v2.u64 [%1], {%2, %3};\n"
          "@hands st.relaxed.gpu.global.v2.u64 [%1+16], {%4, %5};\n"
          "}\n" ::"r"(stage.hands),
          "l"(stage.first + 8 * row), "l"(word_of(tag, four.x)), "l"(word_of(tag, four.y)),
          "l"(word_of(tag, four.z)), "l"(word_of(tag, four.w))
          : "memory");
    }
  }
};

template <class... More>
using ColumnPart = PersistentPart<ColumnRun, More...>;

/// `arguments` makes what the kernels take besides the run, as a tuple.
template <class B, class Arguments = NoArguments, class... More>
ConfigOf<Problem> columns_config(const PersistentUse& use,
                                 const std::vector<ColumnPart<More...>>& parts,
                                 Arguments arguments = {}) {
  ConfigOf<Problem> config = persistent_config<B>(
      Columns128::name, use, parts, [](const Problem& p) { return B::bands(p.ref.columns); },
      [](const Problem& p, unsigned parties) {
        return ColumnRun{p.ref,         p.score, p.penalty, p.handover, B::pitch(p.ref.rows),
                         4 * p.penalty, parties};
      },
      arguments);
  config.info.geometry = {{"band_columns", B::columns},
                          {"step_columns", 4},
                          {"hand_rows", 4},
                          {"cluster", parts.front().cluster}};
  config.info.movement = {{"stages", B::stages},
                          {"stage_bytes", B::stage_bytes},
                          {"producer_warps", use.producer_warps},
                          {"depth", use.stages_in_flight}};
  return config;
}

}  // namespace amasia::nw
