// The computation of convolution_1d, written once: what a thread makes of its window, the loop over
// a block's tiles, and the launch. A strategy is a pipeline:
//
// `Pipeline<S>(problem, walk)`: S is the schedule.
// `start()` asks for the first tiles.
// `const float4* bring()` returns when the next tile can be read: where its left margin starts.
// `own(c)` and `margin(c)`, where windows come from the lanes of a warp: a thread's own inputs in
// round c, and the chunk of the warp's margin that it keeps.
// `done()`: this thread has read all it needs of the tile.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "convolution_1d.hpp"
#include "harness/variant.hpp"
#include "schedules.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::convolution_1d {

constexpr int window_chunks = 1 + 2 * (radius / 4);  // of 16 bytes, for a chunk of results

/// Four results from the 20 inputs around them.
__device__ inline float4 convolve(const float (&in)[4 * window_chunks], const Filter& f) {
  float sum[4] = {};
#pragma unroll
  for (int k = 0; k < taps; ++k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sum[i] = fmaf(f.tap[k], in[i + k], sum[i]);
  }
  return {sum[0], sum[1], sum[2], sum[3]};
}

__device__ inline void put(float (&window)[4 * window_chunks], int chunk, float4 v) {
  window[4 * chunk] = v.x;
  window[4 * chunk + 1] = v.y;
  window[4 * chunk + 2] = v.z;
  window[4 * chunk + 3] = v.w;
}

__device__ inline float4 shuffled(float4 v, int from) {
  return {__shfl_sync(~0U, v.x, from), __shfl_sync(~0U, v.y, from), __shfl_sync(~0U, v.z, from),
          __shfl_sync(~0U, v.w, from)};
}

/// The window of a lane whose own chunk is `own`, from the other lanes of the warp, whose chunks
/// lie beside each other. The warp's margins: lanes 30 and 31 keep the two chunks on the left of
/// it, lanes 0 and 1 those on the right. A shuffle goes round, and these are the lanes that nobody
/// asks for their own chunk at that distance.
__device__ inline void window_of_lanes(float (&window)[4 * window_chunks], float4 own,
                                       float4 margin) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  put(window, 2, own);
  put(window, 0, shuffled(lane >= 30 ? margin : own, (lane + 30) % 32));
  put(window, 1, shuffled(lane >= 31 ? margin : own, (lane + 31) % 32));
  put(window, 3, shuffled(lane < 1 ? margin : own, (lane + 1) % 32));
  put(window, 4, shuffled(lane < 2 ? margin : own, (lane + 2) % 32));
}

/// Which chunk of the tile, counted from its left margin, a thread computes in round c, and which
/// one it keeps of its warp's margin; lanes 2 to 29 keep none.
AMASIA_HD constexpr int own_chunk(int thread, int c, int threads) {
  return radius / 4 + c * threads + thread;
}
AMASIA_HD constexpr bool keeps_margin(int lane) { return lane < 2 || lane >= 30; }
AMASIA_HD constexpr int margin_chunk(int thread, int c, int threads) {
  const int lane = thread % 32;
  const int first = own_chunk(thread - lane, c, threads);
  return lane < 2 ? first + 32 + lane : first - 32 + lane;
}

/// Where a tile's left margin starts in global memory.
template <class S>
__device__ const float4* source(const Problem& p, const TileWalk& walk) {
  return reinterpret_cast<const float4*>(p.in.data + walk.row * p.in.pitch +
                                         std::int64_t{walk.tile} * S::columns - radius);
}

template <class S>
__device__ float4* stages_of_block() {
  extern __shared__ __align__(128) float4 stages[];
  return stages;
}

template <class S, template <class> class Pipeline>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm)
    convolution(const __grid_constant__ Problem p) {
  TileWalk walk(p.in.columns, S::columns, blockIdx.x, gridDim.x);
  Pipeline<S> pipeline(p, walk);

  // Prologue
  pipeline.start();

  // Main loop
  for (; walk.row < p.in.rows; ++walk) {
    const float4* const tile = pipeline.bring();
    float* const out = p.out.data + walk.row * p.out.pitch;
#pragma unroll
    for (int c = 0; c < S::chunks; ++c) {
      float window[4 * window_chunks];
      const int thread = static_cast<int>(threadIdx.x);
      if constexpr (S::window == Window::lanes) {
        window_of_lanes(window, pipeline.own(c), pipeline.margin(c));
      } else {
#pragma unroll
        for (int k = 0; k < window_chunks; ++k) put(window, k, tile[c * S::threads + thread + k]);
      }
      const std::int64_t column =
          std::int64_t{walk.tile} * S::columns + 4 * (c * S::threads + thread);
      // What lies behind a row's last element in its last chunk is padding.
      if (column < p.out.columns) {
        *reinterpret_cast<float4*>(out + column) = convolve(window, p.filter);
      }
    }
    pipeline.done();
  }
}

/// A tile in shared memory, from which lanes read their own inputs alone.
template <class S>
struct TileInShared {
  const float4* tile = nullptr;
  __device__ float4 own(int c) const {
    return tile[own_chunk(static_cast<int>(threadIdx.x), c, S::threads)];
  }
  __device__ float4 margin(int c) const {
    const int thread = static_cast<int>(threadIdx.x);
    return keeps_margin(thread % 32) ? tile[margin_chunk(thread, c, S::threads)] : float4{};
  }
};

/// A config of schedule S: `stages` as the pipeline has them, `shared_bytes` of dynamic shared
/// memory, `in_flight` bytes that a block has asked for and not got, at most.
template <class S, template <class> class Pipeline>
ConfigOf<Problem> config(int stages, std::size_t shared_bytes, std::size_t in_flight,
                         const std::string& suffix = "") {
  const auto kernel = convolution<S, Pipeline>;
  ConfigOf<Problem> c;
  c.info = {S::name + suffix,
            {{"threads", S::threads}, {"columns", S::columns}, {"blocks_per_sm", S::blocks_per_sm}},
            {{reinterpret_cast<const void*>(kernel), S::threads, shared_bytes, 1, in_flight}},
            false,
            S::name,
            {{"stages", stages}}};
  c.prepare = [=](const Problem& p, const Device& d) -> Launch {
    LaunchShape shape{dim3(1), dim3(S::threads), shared_bytes};
    allow_launch(reinterpret_cast<const void*>(kernel), shape);
    const std::int64_t tiles = p.in.rows * ceil_div(p.in.columns, S::columns);
    const int resident =
        std::min(S::blocks_per_sm * d.sm_count,
                 resident_blocks(reinterpret_cast<const void*>(kernel), shape, d.sm_count));
    shape.grid = dim3(static_cast<unsigned>(std::min<std::int64_t>(tiles, resident)));
    return [=](Stream stream) { launch(kernel, shape, stream, p); };
  };
  return c;
}

template <class S>
constexpr std::size_t stage_bytes = 16U * S::stage_chunks;
template <class S>
constexpr std::size_t tile_bytes = 16U * S::tile_chunks;

}  // namespace amasia::convolution_1d
