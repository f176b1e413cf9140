// The persistent schedule of all six `best` variants: geometry.hpp says which cells a lane has,
// this file how a warp walks along a band and hands its bottom row to the band below. A variant
// supplies the two things in which strategies differ:
//
//   how stages of ref come and stages of scores go (Ring: at(n) the shared address of stage n for
//   this
//     lane, wait(k) before period k, done(k) after it, fetched() before every chunk is read);
//   how a bottom row gets to the band below: WordLink through global memory, or across a cluster in
//     dsm.cu.
//
// A warp that walks is alone on its scheduler, so every instruction counts: the loop is four steps,
// unrolled, with addresses in registers. Bands are taken in order, by ticket: whoever waits for a
// band waits for one that is already being walked, however many blocks are resident.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "apps/nw/diagonals.cuh"
#include "variants/async.cuh"

namespace amasia::nw {

/// Arguments of a launch.
struct BandRun {
  Grid<const int> ref;
  Grid<int> score;
  int penalty = 0;
  Handover handover;
};

__device__ inline void store_word(unsigned long long* word, int score, unsigned run) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;\n" ::"l"(word),
               "l"(static_cast<unsigned long long>(run) << 32 | static_cast<unsigned>(score))
               : "memory");
}
__device__ inline unsigned long long load_word(const unsigned long long* word) {
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];\n" : "=l"(value) : "l"(word) : "memory");
  return value;
}

/// A barrier of the whole block whose two sides are different code.
template <int THREADS>
__device__ void block_barrier() {
  asm volatile("bar.sync 1, %0;\n" ::"n"(THREADS) : "memory");
}

/// Bottom rows through global memory, 16 columns at a time, by the first 16 lanes. The word for the
/// columns after next is asked for four steps (~400 cycles, an L2 latency) before it is needed.
struct WordLink {
  const BandRun& run;
  unsigned tag;  // of this run
  int lane;
  int band = 0;
  const unsigned long long* from = nullptr;  // this lane's next word of the band above; 0: border
  unsigned long long* to = nullptr;
  unsigned long long asked = 0;

  __device__ WordLink(const BandRun& r, unsigned t) : run(r), tag(t), lane(threadIdx.x % 32) {}

  __device__ void begin(int taken) {
    band = taken;
    from = band > 0 ? run.handover.words + (band - 1) * run.handover.pitch : nullptr;
    to = run.handover.words + band * run.handover.pitch;
    ask(0);
  }
  /// Asks for columns first ... first + 15, if the grid has them.
  __device__ void ask(int first) {
    if (band > 0 && lane < 16 && first < run.handover.pitch) asked = load_word(from + first + lane);
  }
  /// Their scores, once they are there, into `row`; then asks for the next.
  __device__ void take(int first, int* row) {
    if (first < run.handover.pitch && lane < 16) {
      int score;
      if (band == 0) {
        score = border(std::int64_t{first} + lane + 1, run.penalty);
      } else {
        while (static_cast<unsigned>(asked >> 32) != tag) asked = load_word(from + first + lane);
        score = static_cast<int>(asked);
      }
      row[lane] = score;
    }
    ask(first + 16);
    __syncwarp();
  }
  /// Hands on columns first ... first + 15 of the bottom row, in shared memory at `row`.
  __device__ void give(int first, unsigned row) {
    __syncwarp();
    if (lane < 16 && first >= 0 && first < run.handover.pitch) {
      int score;
      asm volatile("ld.shared.s32 %0, [%1];\n" : "=r"(score) : "r"(row + 4 * lane) : "memory");
      store_word(to + first + lane, score, tag);
    }
  }
};

/// Row above the band as lane 0 meets it: 16 columns in use, 16 coming.
struct Above {
  alignas(16) int row[2][16];
};

struct Quad {
  int v[4];
};
__device__ inline Quad load_quad(unsigned shared) {
  const int4 q = async::load16(shared);
  return {{q.x, q.y, q.z, q.w}};
}

/// The walk of one warp along a band.
template <class B, class Ring, class Link>
__device__ __forceinline__ void walk_band(const BandRun& run, int band, Ring& ring, Link& link,
                                          Above& above) {
  constexpr unsigned all = 0xffffffffu;
  constexpr unsigned row_bytes = 4 * B::tile_columns;
  const int lane = threadIdx.x % 32;
  const int place = lane % B::group_lanes, group = lane / B::group_lanes;
  const int periods = B::periods(run.ref.columns);
  const int penalty = run.penalty;
  const std::int64_t row = std::int64_t{band} * B::rows + lane * B::lane_rows;
  const unsigned lane_offset = lane * (B::lane_rows * row_bytes);
  const unsigned bottom_offset = (B::rows - 1) * row_bytes;
  const unsigned incoming = async::held_address(above.row);

  // Prologue: first row above, first stage, first chunk
  link.begin(band);
  ring.begin(band);
  link.take(0, above.row[0]);
  ring.wait(0);
  Edge edge{};
  int north[4];
  {
    const Quad q = load_quad(incoming);
    for (int c = 0; c < 4; ++c) north[c] = q.v[c];
  }
  unsigned entering = ring.stage(), before = ring.stage_before();  // stages k and k - 1
  // A lane that has not entered stage 0 yet idles through the place of stage -1, which is free.
  unsigned at = lane_offset + (place == 0 ? entering : before + 16 * (B::period - place));
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
    const unsigned next_stage = ring.next_stage();
    const int given_tile = B::tile_of(k - 1, B::groups - 1);
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      const int turn = (place - 1 - 4 * half) & (B::period - 1);  // j after which the lane enters
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        // First column of the grid: border on the left
        if (first_periods.value && k == group && 4 * half + j == place) {
#pragma unroll
          for (int r = 0; r < 4; ++r) edge.west[r] = border(row + r + 1, penalty);
          edge.corner = border(row, penalty);
        }
        // The next step's ref, and what lane 0 continues then
        if (j == 3) link.take((k * 2 + half + 1) * 16, above.row[1 - half]);
        const unsigned fresh = (j == 3 && half == 1 ? next_stage : entering) + lane_offset;
        const unsigned then = j == turn ? fresh : at + 16;
        ring.fetched(then);
        int next[4][4];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const Quad q = load_quad(then + r * row_bytes);
#pragma unroll
          for (int c = 0; c < 4; ++c) next[r][c] = q.v[c];
        }
        const Quad coming =
            load_quad(incoming + 64 * (j == 3 ? 1 - half : half) + 16 * ((j + 1) % 4));
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
          async::store16(at + r * row_bytes, int4{ref[r][0], ref[r][1], ref[r][2], ref[r][3]});
        }
#pragma unroll
        for (int c = 0; c < 4; ++c) north[c] = lane == 0 ? coming.v[c] : from_above[c];
        at = then;
#pragma unroll
        for (int r = 0; r < 4; ++r) {
#pragma unroll
          for (int c = 0; c < 4; ++c) ref[r][c] = next[r][c];
        }
        // The last lane has finished 16 columns of stage k - 1
        if (j == 2) {
          link.give(given_tile * B::tile_columns + 16 * half, before + bottom_offset + 64 * half);
        }
      }
    }
    before = entering;
    entering = next_stage;
    ring.done(k);
  };
  const int first = periods < B::groups ? periods : B::groups;  // in which lanes meet the border
#pragma unroll 1
  for (int k = 0; k < first; ++k) {
    if (k > 0) ring.wait(k);
    period(k, std::true_type{});
  }
#pragma unroll 1
  for (int k = first; k < periods; ++k) {
    ring.wait(k);
    period(k, std::false_type{});
  }
}

/// Tickets and the end of a run.
__device__ inline int take_ticket(const BandRun& run) {
  return static_cast<int>(atomicAdd(&run.handover.clock[1], 1u));
}
__device__ inline unsigned run_tag(const BandRun& run) {
  return *static_cast<volatile unsigned*>(run.handover.clock) + 1;
}
/// By one thread of every block (or cluster) after its last band; `parties` of them. The last one
/// moves the clock on.
__device__ inline void finish_run(const BandRun& run, unsigned parties) {
  __threadfence();
  if (atomicAdd(&run.handover.clock[2], 1u) == parties - 1) {
    run.handover.clock[1] = 0;
    run.handover.clock[2] = 0;
    run.handover.clock[0] += 1;
  }
}

/// The config of a band kernel. `arguments` makes what the kernel takes besides the run, as a
/// tuple.
template <class B, class Kernel, class Arguments = NoArguments>
ConfigOf<Problem> bands_config(std::string name, Kernel kernel, int threads,
                               std::size_t shared_bytes, int stages_in_flight,
                               Arguments arguments = {}, unsigned cluster = 1) {
  ConfigOf<Problem> config;
  config.info = {
      std::move(name),
      {{"band_rows", B::rows}, {"stages", B::stages}, {"cluster", cluster}},
      {{reinterpret_cast<const void*>(kernel), threads, shared_bytes, static_cast<int>(cluster),
        static_cast<std::size_t>(B::stage_bytes) * stages_in_flight}}};
  config.prepare = [=](const Problem& p, const Device& device) -> Launch {
    LaunchShape shape;
    shape.block = dim3(threads);
    shape.dynamic_shared_bytes = shared_bytes;
    shape.cluster_blocks = cluster;
    const auto* function = reinterpret_cast<const void*>(kernel);
    shape.grid = dim3(cluster);
    allow_launch(function, shape);
    const long long resident = resident_blocks(function, shape, device.sm_count);
    const long long wanted = round_up(B::bands(p.ref.rows), cluster);
    const long long blocks = wanted < resident ? wanted : resident;
    shape.grid = dim3(static_cast<unsigned>(blocks < cluster ? cluster : blocks));
    return [=, extra = arguments(p)](Stream stream) {
      const BandRun run{p.ref, p.score, p.penalty, p.handover};
      std::apply([&](const auto&... more) { launch(kernel, shape, stream, run, more...); }, extra);
    };
  };
  return config;
}

}  // namespace amasia::nw
