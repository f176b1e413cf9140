// How a warp walks along a band, the same for all strategies. A variant supplies the two things in
// which they differ:
//
//   how stages of ref come and stages of scores go, its Ring:
//     stage(), next_stage(), stage_before()   shared addresses of stages k, k + 1 and k - 1
//     begin(band)   before a walk; stage 0 is there when it returns
//     wait()        before every period but the first
//     look(k)       in period k, some steps before the first lanes enter stage k + 1
//     missing(), await()   just before they do: is it not there? wait for it
//     left()        when the last lanes have left stage k - 1
//     done(k)       after period k; finish() after the last
//     fetched(at)   before the chunk at `at` is read
//   how a bottom row gets to the band below, its Link (link.cuh).
//
// A warp that walks is alone on its scheduler, so every instruction counts, and those of a pipe
// that is full count most: 16 cells are 32 maxima, which take the ALU 64 cycles, so whatever else
// can goes to the multiplier. A period is unrolled: all offsets in it are constants.
#pragma once

#include "apps/nw/link.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::nw {

/// Row above the band as lane 0 meets it, the 32 columns of a period. The other lanes, which have
/// it from the lane above them, read zeros instead and add.
struct Above {
  alignas(16) int row[32];
  int zero[32];
};

struct Quad {
  int v[4];
};
__device__ inline Quad load_quad(unsigned shared) {
  const int4 q = async::load16(shared);
  return {{q.x, q.y, q.z, q.w}};
}

template <class B, class Ring, class Link>
__device__ __forceinline__ void walk_band(const BandRun& run, int band, Ring& ring, Link& link,
                                          Above& above) {
  constexpr unsigned all = 0xffffffffu;
  constexpr unsigned row_bytes = 4 * B::tile_columns;
  constexpr int steps = B::period;
  const int lane = threadIdx.x % 32;
  const int place = lane % B::group_lanes, group = lane / B::group_lanes;
  const int periods = B::periods(run.ref.columns);
  const int penalty = held(run.penalty);
  const std::int64_t row = std::int64_t{band} * B::rows + lane * B::lane_rows;
  const unsigned bottom_row = (B::rows - 1) * row_bytes;
  const unsigned incoming = held(async::shared_address(above.row));
  const unsigned coming_from = held(lane == 0 ? incoming : async::shared_address(above.zero));
  // Factors 0 and 1: a multiply-add where a comparison and a selection would go through the pipe
  // that is full
  const int below = held(static_cast<int>(lane != 0));
  int enters[steps];  // at the step in which the lane enters a stage
#pragma unroll
  for (int s = 0; s < steps; ++s) enters[s] = held(static_cast<int>(s == place));

  // Prologue: first row above, first stage, first chunk
  above.zero[lane] = 0;
  link.begin(band);
  ring.begin(band);
  link.await();
  link.take(incoming);
  Edge edge{};
  int north[4];
  {
    const Quad q = load_quad(incoming);
    for (int c = 0; c < 4; ++c) north[c] = q.v[c];
  }
  // A lane's chunk at step s is at `at` + 16 s (geometry.hpp, chunk_offset). One that has not
  // entered stage 0 yet idles through the place of stage -1, which is free.
  const unsigned lane_rows = lane * (B::lane_rows * row_bytes);
  unsigned at = B::entered(0, place) ? ring.stage() + lane_rows + B::chunk_offset(0, place)
                                     : ring.stage_before() + lane_rows + B::chunk_offset(0, place);
  int jump = static_cast<int>(ring.stage() - ring.stage_before() - row_bytes);
  int ref[4][4];
  ring.fetched(at);
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const Quad q = load_quad(at + r * row_bytes);
    for (int c = 0; c < 4; ++c) ref[r][c] = q.v[c];
  }

  // Main loop. Whatever goes through the memory pipe goes through it in this order: the next step's
  // ref comes, each bottom score leaves for the lane below as soon as it is there, the scores
  // follow.
  const auto period = [&](int k, auto first_periods) {
    const unsigned given_row = ring.stage_before() + bottom_row;
    const int given_column = B::tile_of(k - 1, B::groups - 1) * B::tile_columns;
    const int next_jump = static_cast<int>(ring.next_stage() - ring.stage() - row_bytes);
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      // First column of the grid: border on the left
      if (first_periods.value && k == group && s == place) {
#pragma unroll
        for (int r = 0; r < 4; ++r) edge.west[r] = border(row + r + 1, penalty);
        edge.corner = border(row, penalty);
      }
      if (s == steps - 3) ring.look(k);
      if (s == steps - 1) {
        // One branch for both that may keep a walk waiting
        if (__any_sync(all, link.missing(edge.west[3]) | ring.missing())) {
          link.await();
          ring.await();
        }
        ring.left();
        link.take(incoming);
        link.give(given_column);
      }
      // The next step's ref, and what lane 0 continues then
      const unsigned now = at + 16 * s;
      const int t = (s + 1) % steps;
      at += (s + 1 < steps ? jump : next_jump) * enters[t];
      if (t == 0) at += row_bytes;
      const unsigned then = at + 16 * t;
      ring.fetched(then);
      int next[4][4];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const Quad q = load_quad(then + r * row_bytes);
#pragma unroll
        for (int c = 0; c < 4; ++c) next[r][c] = q.v[c];
      }
      const Quad coming = load_quad(coming_from + 16 * t);
      // 4 x 4 cells, the bottom ones to the lane below
      int from_above[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        advance_column(edge, c, north, ref, penalty);
        from_above[c] = __shfl_up_sync(all, ref[3][c], 1);
      }
      edge.corner = north[3];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        async::store16(now + r * row_bytes, int4{ref[r][0], ref[r][1], ref[r][2], ref[r][3]});
      }
#pragma unroll
      for (int c = 0; c < 4; ++c) north[c] = from_above[c] * below + coming.v[c];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
#pragma unroll
        for (int c = 0; c < 4; ++c) ref[r][c] = next[r][c];
      }
      // The last lane has finished the last tile of stage k - 1
      if (s == steps - 2) link.pick(given_row);
    }
    jump = next_jump;
    ring.done(k);
  };
  const int first = periods < B::groups ? periods : B::groups;  // in which lanes meet the border
#pragma unroll 1
  for (int k = 0; k < first; ++k) {
    if (k > 0) ring.wait();
    period(k, std::true_type{});
  }
#pragma unroll 1
  for (int k = first; k < periods; ++k) {
    ring.wait();
    period(k, std::false_type{});
  }
  ring.finish();
}

}  // namespace amasia::nw
