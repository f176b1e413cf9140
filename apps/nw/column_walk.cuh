// How a warp walks down a band of 128 columns, the same for all strategies. A lane has four
// columns and makes one row of them a step, one row behind the lane to its left.
//
// A row of four cells is a chain from west to east. All of it but what comes from the west is
// computed a step earlier (`prefix`). So the chain of a step is short: the western neighbour's
// score decides the lane's last column, and a shuffle takes that to the lane to the right. The last
// lane puts the next row's score from the band to the left into the same shuffle, for the first
// lane.
//
// A variant supplies the consumer's side of its pipeline: how stages of ref come and scores go.
//
// `begin()`: stage 0 is there when it returns.
// `look()`: some steps before the first lane enters the next stage. `missing()`: what it found.
// `wait()`: just before that lane enters it, for the stage.
// `always_meets`: whether waiting is one instruction, with nothing to look for.
// `entered()`: after a period. `release()`: after one in which the last lanes left a stage.
// `step(s)`: after a row's scores were stored (drop_off).
//
// Stages are boxes of 32 rows, one below the other in a ring. In period k lane l is in stage k from
// step l on, before that in stage k - 1. A lane's rows follow each other at 512 bytes; at the end
// of the ring it jumps back.
#pragma once

#include "apps/nw/columns.cuh"
#include "apps/nw/kernel.cuh"

namespace amasia::nw {

template <class B, class Pipeline, bool TO_RING>
struct ColumnWalk {
  static constexpr int rows = B::stage_rows;
  static constexpr unsigned row_bytes = B::row_bytes;
  static constexpr unsigned all = 0xffffffffu;

  Pipeline& pipeline;
  using Link = ColumnLink<TO_RING>;
  const Link& link;
  const unsigned first, ring_bytes;
  const int lane, left_lane;
  int less[5];  // 0, -p, ... -4 p, which no compiler knows
  int less_4;   // less[4]: the same maximum is computed twice, in two registers, because a copy of
                // the first would lengthen the chain
  int one;      // a factor: the multiplier has room where the ALU is full
  int enters[rows];           // 1 at the step at which the lane enters a stage
  int score[4];               // of the row above, then of this row
  int without_west[4];        // of the next row, all but what comes from the west
  int ref[4];                 // of the row after that
  int west;                   // the score to the left of the next row
  int4 coming, next_coming;   // from the band to the left: four rows
  int handed[4];              // to the band to the right
  unsigned row_at, next_row;  // of this row and the next, less row_bytes for each step

  __device__ ColumnWalk(const ColumnRun& run, int band, Pipeline& stages, const Link& l,
                        unsigned ring)
      : pipeline(stages),
        link(l),
        first(ring),
        ring_bytes(B::stages * B::stage_bytes),
        lane(static_cast<int>(threadIdx.x % 32)),
        left_lane(held((lane + 31) % 32)),
        one(held(1)) {
#pragma unroll
    for (int i = 0; i < 5; ++i) less[i] = held(-i * run.penalty);
    less_4 = held(-run.four_gaps);
#pragma unroll
    for (int s = 0; s < rows; ++s) enters[s] = held(static_cast<int>(s == lane));
    const int column = band * B::columns + 4 * lane;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      score[c] = border(column + c + 1, run.penalty);
      handed[c] = 0;
    }
    // A lane that has not come to row 0 idles in the stage before the first, which holds -p: there
    // its row stays the border.
    row_at = held(lane == 0 ? first : first + ring_bytes - lane * row_bytes + lane * 16);
    next_row = held(lane == 1 ? row_at - ring_bytes : row_at);
    pipeline.begin();
    const int4 now = async::load16(row_at), then = async::load16(next_row + row_bytes);
    const int of_row[4] = {now.x, now.y, now.z, now.w};
    ref[0] = then.x, ref[1] = then.y, ref[2] = then.z, ref[3] = then.w;
    prefix(of_row, border(column, run.penalty));
    coming = next_coming = Link::await(link.coming);
    west = __shfl_sync(all, lane == 31 ? coming.x : score[3], left_lane);
  }

  /// All of a row but what comes from the west. `north_west` is that of its first cell.
  __device__ void prefix(const int (&of_row)[4], int north_west) {
    int diagonal[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      diagonal[c] = multiply_add(of_row[c], one, c > 0 ? score[c > 0 ? c - 1 : 0] : north_west);
    }
    without_west[0] = __viaddmax_s32(score[0], less[1], diagonal[0]);
#pragma unroll
    for (int c = 1; c < 4; ++c) {
      without_west[c] = __viaddmax_s32(without_west[c - 1], less[1],
                                       __viaddmax_s32(score[c], less[1], diagonal[c]));
    }
  }
  __device__ static int multiply_add(int a, int b, int c) {
    int d;
    asm("mad.lo.s32 %0, %1, %2, %3;\n" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
  }
  __device__ static int part(const int4& four, int i) {
    return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
  }

  /// Period k. `last`: there is no stage k + 1.
  __device__ __forceinline__ void period(int k, bool last, unsigned coming_now,
                                         unsigned coming_then) {
    const int jump = k % B::stages == 0 ? -static_cast<int>(ring_bytes) : 0;
    const int then_jump = (k + 1) % B::stages == 0 ? -static_cast<int>(ring_bytes) : 0;
    const typename Link::To to = link.to_rows((k - 1) * rows);
    int room = 0;
    bool late = false;
#pragma unroll
    for (int s = 0; s < rows; ++s) {
      const int from_west = west;
      if (s % 4 == 3) {
        if (__builtin_expect(late, 0))
          next_coming = Link::await(address(s + 1, coming_now, coming_then));
        coming = next_coming;
      }
      // The chain
      int east = part(coming, (s + 1) % 4);
      if (!link.last) {
        asm volatile(
            "{\n"
            ".reg .s32 t;\n"
            "add.s32 t, %1, %2;\n"
            "max.s32 %0, t, %3;\n"
            "}\n"
            : "+r"(east)
            : "r"(from_west), "r"(less_4), "r"(without_west[3]));
      }
      west = __shfl_sync(all, east, left_lane);
      score[3] = __viaddmax_s32(from_west, less[4], without_west[3]);
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        score[c] = __viaddmax_s32(from_west, less[c + 1], without_west[c]);
      }
      if (s % 4 == 1) late = __any_sync(all, !Link::there(next_coming));
      // One branch for all that may keep a walk waiting
      if (s == rows - 6 && TO_RING) room = async_load(link.room_at);
      if (s == rows - 5 && !last) pipeline.look();
      if (s == rows - 2) {
        const int needed = last ? 0 : (k + 1) * rows;
        if constexpr (Pipeline::always_meets) {
          if (!last) pipeline.wait();
        } else if (__any_sync(all, (!last && pipeline.missing()) || (TO_RING && room < needed))) {
          if (!last) pipeline.wait();
          if (TO_RING) Link::await_at_least(link.room_at, needed);
        }
      }
      const unsigned later = next_row + enters[(s + 2) % rows] * (s + 2 < rows ? jump : then_jump);
      const int4 of_later = async::load16(later + row_bytes * (s + 2));
      if (s % 4 == 0) next_coming = Link::look(address(s + 4, coming_now, coming_then));
      async::store16(row_at + row_bytes * s, int4{score[0], score[1], score[2], score[3]});
      pipeline.step(s);
      handed[s % 4] = score[3];
      if (s % 4 == 2) {
        link.hand(to, s - 2, int4{handed[3], handed[0], handed[1], handed[2]});
      }
      prefix(ref, from_west);
      ref[0] = of_later.x, ref[1] = of_later.y, ref[2] = of_later.z, ref[3] = of_later.w;
      row_at = next_row;
      next_row = later;
    }
    row_at += row_bytes * rows;
    next_row += row_bytes * rows;
  }
  /// Of the scores to the left of the row of step s of this period, which may be the next one's.
  __device__ static unsigned address(int s, unsigned now, unsigned then) {
    return s < rows ? now + 4 * s : then + 4 * (s - rows);
  }
  __device__ static int async_load(unsigned at) {
    int value;
    asm volatile("ld.volatile.shared.s32 %0, [%1];\n" : "=r"(value) : "r"(at) : "memory");
    return value;
  }

  __device__ void walk(int stages) {
    unsigned now = link.coming;
#pragma unroll 1
    for (int k = 0; k <= stages; ++k) {
      const unsigned then =
          k + 1 < stages ? link.coming + 4 * rows * ((k + 1) % (ring_rows / rows)) : link.nothing;
      period(k, k == stages, now, then);
      __syncwarp();
      if (lane == 0) {
        asm volatile("st.volatile.shared.s32 [%0], %1;\n" ::"r"(link.consumed_at),
                     "r"((k + 1) * rows)
                     : "memory");
      }
      pipeline.entered();
      if (k > 0) pipeline.release();
      now = then;
    }
  }
};

}  // namespace amasia::nw
