// The computation of transpose, written once: what a thread makes of the blocks of 4 x 4 that it
// holds in registers, the loop over a block's tiles, and the launch. A strategy is a pipeline:
//
// `Pipeline<S, N>(problem)`: S is the schedule, N the rows of a matrix.
// `start(tile, step)` asks for the first tiles.
// `bring()` returns when the next tile can be read.
// `read(m, place, k)`: row k of the thread's m-th block of 4 x 4, which is at `place`.
// `done()`: this thread has read all it needs of the tile.
#pragma once

#include <algorithm>
#include <string>

#include "harness/variant.hpp"
#include "schedules.hpp"
#include "transpose.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::transpose {

/// Tiles of the batch, the last of which may lack matrices.
template <class S, int N>
AMASIA_HD constexpr std::int64_t tiles_of(std::int64_t count) {
  return ceil_div(count, S::template matrices<N>);
}

/// The place of a thread's m-th block of 4 x 4.
template <class S, int N>
__device__ Place place_of_thread(int m) {
  const int thread = static_cast<int>(threadIdx.x);
  return place_of<N>(m * S::warps + thread / 32, thread % 32);
}

/// Where that block's first row starts in the tile in global memory, in chunks.
template <int N>
__device__ int chunk_in_memory(Place at) {
  return (at.matrix * N + 4 * at.r) * (N / 4) + at.c;
}

template <class S>
__device__ float4* stages_of_block() {
  extern __shared__ __align__(1024) float4 stages[];
  return stages;
}

template <class S, int N, template <class, int> class Pipeline>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm)
    transpose_tiles(const __grid_constant__ typename Pipeline<S, N>::Arguments arguments) {
  const Problem& p = arguments.problem;
  constexpr int matrices = S::template matrices<N>;
  Pipeline<S, N> pipeline(arguments);

  // Prologue
  pipeline.start(blockIdx.x, gridDim.x);

  // Main loop
  for (std::int64_t tile = blockIdx.x; tile < tiles_of<S, N>(p.count); tile += gridDim.x) {
    pipeline.bring();
#pragma unroll
    for (int m = 0; m < S::per_thread; ++m) {
      const Place at = place_of_thread<S, N>(m);
      const float4 v[4] = {pipeline.read(m, at, 0), pipeline.read(m, at, 1),
                           pipeline.read(m, at, 2), pipeline.read(m, at, 3)};
      const std::int64_t matrix = tile * matrices + at.matrix;
      if (matrix < p.count) {
        auto* const out =
            reinterpret_cast<float4*>(p.out + matrix * N * N) + 4 * at.c * (N / 4) + at.r;
        out[0 * (N / 4)] = {v[0].x, v[1].x, v[2].x, v[3].x};
        out[1 * (N / 4)] = {v[0].y, v[1].y, v[2].y, v[3].y};
        out[2 * (N / 4)] = {v[0].z, v[1].z, v[2].z, v[3].z};
        out[3 * (N / 4)] = {v[0].w, v[1].w, v[2].w, v[3].w};
      }
    }
    pipeline.done();
  }
}

/// A tile in the panels of shared memory.
template <class S, int N>
struct TileInShared {
  const float4* tile = nullptr;
  __device__ float4 read(int, Place at, int k) const {
    return tile[shared_chunk(at.matrix * N + 4 * at.r + k, at.c, S::template rows<N>)];
  }
};

/// What a pipeline's kernel is given, unless it needs more.
struct Plain {
  Problem problem;
  template <class S, int N>
  static Plain of(const Problem& p) {
    return {p};
  }
};

template <class S, int N, template <class, int> class Pipeline>
Launch prepared(const Problem& p, const Device& d, std::size_t shared_bytes) {
  const auto kernel = transpose_tiles<S, N, Pipeline>;
  const auto* const function = reinterpret_cast<const void*>(kernel);
  LaunchShape shape{dim3(1), dim3(S::threads), shared_bytes};
  allow_launch(function, shape);
  const int resident =
      std::min(S::blocks_per_sm * d.sm_count, resident_blocks(function, shape, d.sm_count));
  shape.grid =
      dim3(static_cast<unsigned>(std::min<std::int64_t>(tiles_of<S, N>(p.count), resident)));
  const auto arguments = Pipeline<S, N>::Arguments::template of<S, N>(p);
  return [=](Stream stream) { launch(kernel, shape, stream, arguments); };
}

/// A config of schedule S: `stages` as the pipeline has them, `shared_bytes` of dynamic shared
/// memory, `tiles_ahead` that a block has asked for and not got, at most.
template <class S, template <class, int> class Pipeline>
ConfigOf<Problem> config(int stages, std::size_t shared_bytes, int tiles_ahead,
                         const std::string& suffix = "") {
  const auto use = [=](const void* function) {
    return KernelUse{function, S::threads, shared_bytes, 1,
                     static_cast<std::size_t>(tiles_ahead * S::tile_bytes)};
  };
  ConfigOf<Problem> c;
  c.info = {
      S::name + suffix,
      {{"threads", S::threads}, {"tile_bytes", S::tile_bytes}, {"blocks_per_sm", S::blocks_per_sm}},
      {use(reinterpret_cast<const void*>(transpose_tiles<S, 32, Pipeline>)),
       use(reinterpret_cast<const void*>(transpose_tiles<S, 64, Pipeline>))},
      false,
      S::name,
      {{"stages", stages}}};
  c.prepare = [=](const Problem& p, const Device& d) -> Launch {
    return p.n == 32 ? prepared<S, 32, Pipeline>(p, d, shared_bytes)
                     : prepared<S, 64, Pipeline>(p, d, shared_bytes);
  };
  return c;
}

}  // namespace amasia::transpose
