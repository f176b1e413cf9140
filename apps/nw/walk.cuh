// How a warp walks along a band, the same for all strategies. A variant supplies its link
// (link.cuh) and the consumer's side of its pipeline, which says how stages of ref come and scores
// go.
//
// `begin(band)`: before a walk. Stage 0 is there when it returns.
// `stage()`, `next_stage()`, `stage_before()`: shared addresses of stages k, k + 1 and k - 1.
// `enter()`: before every period but the first.
// `consumer_try_wait(k)`: in period k, some steps before the first lanes enter stage k + 1.
// `missing()`: just before they do. Is that stage not there? `consumer_wait()` waits for it.
// `consumer_release(k)`: after period k. Stage k - 1 is the producer's again, with its scores.
// `finish()`: after the last period.
// `only_meets_at_barriers`: whether all that it waits for is enter() (adds_early).
// `fetched(at)`: before the chunk at `at` is read.
//
// A warp that walks is alone on its scheduler, so every instruction counts. Those of a pipe that is
// full count most: a cell is two maxima, which take the ALU 4 cycles. Whatever else can goes to the
// multiplier. A period is unrolled: all offsets in it are constants. That is why this
// loop keeps addresses where a PipelineState would have to be turned into one at every step.
#pragma once

#include "apps/nw/link.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::nw {

/// Row above the band as lane 0 meets it, the columns of a hand-over. The other lanes, which have
/// it from the lane above them, read zeros instead and add.
template <class B>
struct Above {
  alignas(16) int row[B::hand_columns];
  int zero[B::hand_columns];
};

struct Quad {
  int v[4];
};
__device__ inline Quad load_quad(unsigned shared) {
  const int4 q = async::load16(shared);
  return {{q.x, q.y, q.z, q.w}};
}

/// f(std::integral_constant<int, 0>), ..., f(std::integral_constant<int, COUNT - 1>).
template <int COUNT, int FIRST = 0, class F>
__device__ __forceinline__ void each_constant(F&& f) {
  if constexpr (FIRST < COUNT) {
    f(std::integral_constant<int, FIRST>{});
    each_constant<COUNT, FIRST + 1>(f);
  }
}

/// Whether the scores above are added where they come. Measured in development, at 16384 x 16384:
/// early, overlap takes 0.98 ms for 1.11. baseline and register_bypass wait for memory and take the
/// same. Late, tma takes 0.93 for 0.97 and drop_off 1.34 for 1.37.
template <class B, class Pipeline>
inline constexpr bool adds_early = Pipeline::only_meets_at_barriers;

template <class B, class Pipeline, class Link>
__device__ __forceinline__ void walk_band(const BandRun& run, int band, Pipeline& pipeline,
                                          Link& link, Above<B>& above) {
  constexpr unsigned all = 0xffffffffu;
  constexpr unsigned row_bytes = 4 * B::tile_columns;
  constexpr int rows = B::lane_rows;
  constexpr int steps = B::hand_steps;
  const int lane = threadIdx.x % 32;
  const int place = lane % B::group_lanes, group = lane / B::group_lanes;
  const int periods = B::periods(run.ref.columns);
  const int penalty = held(run.penalty);
  const std::int64_t row = std::int64_t{band} * B::rows + lane * rows;
  const unsigned bottom_row = (B::rows - 1) * row_bytes;
  const unsigned incoming = held(async::shared_address(above.row));
  const unsigned coming_from = held(lane == 0 ? incoming : async::shared_address(above.zero));
  // Factors 0 and 1: a multiply-add where a comparison and a selection would go through the pipe
  // that is full
  const int below = held(static_cast<int>(lane != 0));
  int enters[steps];      // at this step of a hand-over the lane enters a stage ...
  int in_hand[B::hands];  // ... if it is this one of the period
#pragma unroll
  for (int s = 0; s < steps; ++s) enters[s] = held(static_cast<int>(s == place % steps));
#pragma unroll
  for (int q = 0; q < B::hands; ++q) {
    in_hand[q] = B::hands == 1 ? 1 : held(static_cast<int>(q == place / steps));
  }

  // Prologue: first row above, first stage, first chunk
  for (int c = lane; c < B::hand_columns; c += 32) above.zero[c] = 0;
  link.begin(band);
  pipeline.begin(band);
  link.await();
  link.take(incoming);
  Edge<rows> edge{};
  // The four scores above the next cells are the sum of what the lane above has (`handed`) and what
  // the band above has (`coming`), one of which is zero. Between where they come and where they are
  // used lies the branch at which a walk may have to wait: added late, what is still on its way
  // there need not have come.
  int handed[4] = {}, north[4] = {};
  Quad coming = load_quad(coming_from);
  if constexpr (adds_early<B, Pipeline>) {
    for (int c = 0; c < 4; ++c) north[c] = coming.v[c];
  }
  // A lane's chunk at step s of a hand-over is at `at` + 16 s (geometry.hpp, chunk_offset). One
  // that has not entered stage 0 yet idles through the place of stage -1, which is free.
  const unsigned lane_begin = lane * (rows * row_bytes);
  unsigned at = (B::entered(0, place) ? pipeline.stage() : pipeline.stage_before()) + lane_begin +
                B::chunk_offset(0, place);
  int jump = static_cast<int>(pipeline.stage() - pipeline.stage_before() - row_bytes);
  int ref[rows][4];
  pipeline.fetched(at);
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const Quad q = load_quad(at + r * row_bytes);
    for (int c = 0; c < 4; ++c) ref[r][c] = q.v[c];
  }

  // Main loop. Whatever goes through the memory pipe goes through it in this order: the next step's
  // ref comes, each bottom score leaves for the lane below as soon as it is there, the scores
  // follow.
  const auto period = [&](int k, auto first_periods) {
    const unsigned given_row = pipeline.stage_before() + bottom_row;
    const int next_jump = static_cast<int>(pipeline.next_stage() - pipeline.stage() - row_bytes);
    each_constant<B::hands>([&](auto hand) {
      constexpr int q = decltype(hand)::value;
      constexpr bool last_hand = q == B::hands - 1;
      // Words that the band below waits for were asked for in the same place in every period
      const int jump_here = jump * in_hand[q];
      const int jump_then = last_hand ? next_jump * in_hand[0] : jump * in_hand[(q + 1) % B::hands];
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        // First column of the grid: border on the left
        if (first_periods.value && k == group && q * steps + s == place) {
#pragma unroll
          for (int r = 0; r < rows; ++r) edge.west[r] = border(row + r + 1, penalty);
          edge.corner = border(row, penalty);
        }
        if (last_hand && s == steps - 3) pipeline.consumer_try_wait(k);
        if (s == steps - 1) {
          // One branch for both that may keep a walk waiting
          unsigned missing = link.missing(edge.corner);
          if (last_hand) missing |= pipeline.missing();
          if (__any_sync(all, missing)) {
            link.await();
            if (last_hand) pipeline.consumer_wait();
          }
          link.take(incoming);
          link.give(B::finished(k, q));
        }
        // The next step's ref, and what lane 0 continues then
        const unsigned now = at + 16 * s;
        const int t = (s + 1) % steps;
        at += (t > 0 ? jump_here : jump_then) * enters[t];
        if (t == 0) at += 16 * steps;
        const unsigned then = at + 16 * t;
        pipeline.fetched(then);
        int next[rows][4];
#pragma unroll
        for (int r = 0; r < rows; ++r) {
          const Quad chunk = load_quad(then + r * row_bytes);
#pragma unroll
          for (int c = 0; c < 4; ++c) next[r][c] = chunk.v[c];
        }
        const Quad then_coming = load_quad(coming_from + 16 * t);
        // rows x 4 cells, the bottom ones to the lane below
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          if constexpr (!adds_early<B, Pipeline>) north[c] = handed[c] * below + coming.v[c];
          advance_column(edge, c, north, ref, penalty);
          handed[c] = __shfl_up_sync(all, ref[rows - 1][c], 1);
        }
        edge.corner = north[3];
        coming = then_coming;
#pragma unroll
        for (int r = 0; r < rows; ++r) {
          async::store16(now + r * row_bytes, int4{ref[r][0], ref[r][1], ref[r][2], ref[r][3]});
        }
#pragma unroll
        for (int r = 0; r < rows; ++r) {
#pragma unroll
          for (int c = 0; c < 4; ++c) ref[r][c] = next[r][c];
        }
        if constexpr (adds_early<B, Pipeline>) {
#pragma unroll
          for (int c = 0; c < 4; ++c) north[c] = handed[c] * below + coming.v[c];
        }
        // The last lane has finished the columns of this hand-over in stage k - 1
        if (s == steps - 2) link.pick(given_row + 4 * q * B::hand_columns);
      }
    });
    jump = next_jump;
    pipeline.consumer_release(k);
  };
  const int first = periods < B::groups ? periods : B::groups;  // in which lanes meet the border
#pragma unroll 1
  for (int k = 0; k < first; ++k) {
    if (k > 0) pipeline.enter();
    period(k, std::true_type{});
  }
#pragma unroll 1
  for (int k = first; k < periods; ++k) {
    pipeline.enter();
    period(k, std::false_type{});
  }

  // Epilogue: the last stage
  pipeline.finish();
}

}  // namespace amasia::nw
