// The computation of softmax, written once: what a block makes of a row that its threads hold in
// registers, the loop over a block's rows, and the launch. A strategy is a pipeline:
//
// `Pipeline<S>(problem, first row, step)`: S is the schedule.
// `start()` asks for the first rows.
// `bring(v)`: this thread's chunks of the next row, in registers.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "harness/variant.hpp"
#include "schedules.hpp"
#include "softmax.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::softmax {

/// Part of the result of a row: its largest element, and the sum of exponentials relative to that.
struct Part {
  float maximum, sum;
};

__device__ inline Part joined(Part a, Part b) {
  const float m = fmaxf(a.maximum, b.maximum);
  // Nothing but padding so far: minus infinity less itself would be no number.
  const float from_a = a.maximum == m ? a.sum : a.sum * __expf(a.maximum - m);
  const float from_b = b.maximum == m ? b.sum : b.sum * __expf(b.maximum - m);
  return {m, from_a + from_b};
}

/// The maximum and sum of this thread's chunks: v becomes the exponentials relative to the maximum
/// of this thread's own elements.
template <int CHUNKS>
__device__ Part exponentials(float4 (&v)[CHUNKS]) {
  float m = -INFINITY;
#pragma unroll
  for (int c = 0; c < CHUNKS; ++c) {
    m = fmaxf(m, fmaxf(fmaxf(v[c].x, v[c].y), fmaxf(v[c].z, v[c].w)));
  }
  if (m == -INFINITY) {  // this thread has padding alone
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) v[c] = {0, 0, 0, 0};
    return {m, 0};
  }
  float sum = 0;
#pragma unroll
  for (int c = 0; c < CHUNKS; ++c) {
    v[c] = {__expf(v[c].x - m), __expf(v[c].y - m), __expf(v[c].z - m), __expf(v[c].w - m)};
    sum += v[c].x + v[c].y + (v[c].z + v[c].w);
  }
  return {m, sum};
}

__device__ inline Part joined_in_warp(Part p) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) {
    p = joined(p, {__shfl_xor_sync(~0U, p.maximum, d), __shfl_xor_sync(~0U, p.sum, d)});
  }
  return p;
}

/// Shared memory of the reduction: two of them, used in turn, so that a row needs one barrier.
template <int WARPS>
struct Parts {
  Part of_warp[2][WARPS];

  __device__ Part joined_in_block(Part own, int turn) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const Part warp = joined_in_warp(own);
    if (lane == 0) of_warp[turn][threadIdx.x / 32] = warp;
    __syncthreads();
    return joined_in_warp(lane < WARPS ? of_warp[turn][lane] : Part{-INFINITY, 0});
  }
};

/// What is to be multiplied with a thread's exponentials, relative to its own maximum.
__device__ inline float scale(Part own, Part all) {
  return own.maximum == -INFINITY ? 0 : __expf(own.maximum - all.maximum) / all.sum;
}

template <class S>
__device__ void write(const Problem& p, std::int64_t row, const float4 (&v)[S::chunks],
                      float factor, int first_chunk) {
  auto* const out = reinterpret_cast<float4*>(p.out.data + row * p.out.pitch);
  const int all = p.row_chunks();
#pragma unroll
  for (int c = 0; c < S::chunks; ++c) {
    const int i = first_chunk + c * S::threads;
    if (i < all) {
      out[i] = {v[c].x * factor, v[c].y * factor, v[c].z * factor, v[c].w * factor};
    }
  }
}

/// What a thread keeps where its row has ended.
__device__ inline float4 nothing() { return {-INFINITY, -INFINITY, -INFINITY, -INFINITY}; }

__device__ inline float4* stages_of_block() {
  extern __shared__ __align__(128) float4 stages[];
  return stages;
}

/// The rows of `group` of `groups`: a block, or a cluster whose blocks have a part of a row each.
/// Its threads are S::threads; `first_chunk` is this thread's first of a row. reduce(part, turn)
/// makes one part of those of all threads. Behind it all that they read of the pipeline is in
/// registers. `turn` alternates.
template <class S, class Pipeline, class Reduce>
__device__ void walk_rows(const Problem& p, Pipeline& pipeline, int first_chunk, std::int64_t group,
                          std::int64_t groups, Reduce reduce) {
  // Prologue
  pipeline.start();

  // Main loop
  int turn = 0;
  for (std::int64_t row = group; row < p.in.rows; row += groups, turn ^= 1) {
    float4 v[S::chunks];
    pipeline.bring(v);
    const Part own = exponentials(v);
    write<S>(p, row, v, scale(own, reduce(own, turn)), first_chunk);
  }
}

template <class S, template <class> class Pipeline>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm)
    softmax_rows(const __grid_constant__ Problem p) {
  __shared__ Parts<S::warps> parts;
  Pipeline<S> pipeline(p, blockIdx.x, gridDim.x);
  walk_rows<S>(p, pipeline, static_cast<int>(threadIdx.x), blockIdx.x, gridDim.x,
               [&](Part own, int turn) { return parts.joined_in_block(own, turn); });
}

/// `stages` as the pipeline has them, `shared_bytes` of dynamic shared memory, `rows_ahead` that a
/// block has asked for and not got, at most. `cluster` blocks have a row together.
template <class S>
ConfigOf<Problem> config_of(void (*kernel)(Problem), int stages, std::size_t shared_bytes,
                            int rows_ahead, const std::string& suffix = "", int cluster = 1) {
  const int threads = S::threads / cluster;
  const auto* const function = reinterpret_cast<const void*>(kernel);
  ConfigOf<Problem> c;
  c.info = {S::name + suffix,
            {{"threads", threads}, {"columns", S::columns}, {"blocks_per_sm", S::blocks_per_sm}},
            {{function, threads, shared_bytes, cluster,
              rows_ahead * (4U * S::columns) / static_cast<unsigned>(cluster)}},
            false,
            S::name,
            {{"stages", stages}}};
  if (cluster > 1) c.info.movement.emplace_back("cluster", cluster);
  c.prepare = [=](const Problem& p, const Device& d) -> Launch {
    LaunchShape shape{dim3(static_cast<unsigned>(cluster)), dim3(static_cast<unsigned>(threads)),
                      shared_bytes, static_cast<unsigned>(cluster)};
    allow_launch(function, shape);
    const int most = S::blocks_per_sm * cluster * d.sm_count;
    const int resident = std::min(most, resident_blocks(function, shape, d.sm_count));
    const std::int64_t groups =
        std::max<std::int64_t>(1, std::min<std::int64_t>(p.in.rows, resident / cluster));
    shape.grid = dim3(static_cast<unsigned>(groups * cluster));
    return [=](Stream stream) { launch(kernel, shape, stream, p); };
  };
  c.unsupported = [](const Problem& p, const Device&) -> std::optional<std::string> {
    if (p.in.columns <= S::columns) return std::nullopt;
    return "a row has at most " + std::to_string(S::columns) + " columns in this schedule";
  };
  return c;
}

template <class S, template <class> class Pipeline>
ConfigOf<Problem> config(int stages, std::size_t shared_bytes, int rows_ahead,
                         const std::string& suffix = "") {
  return config_of<S>(softmax_rows<S, Pipeline>, stages, shared_bytes, rows_ahead, suffix);
}

/// Bytes of a stage that holds the longest row of schedule S.
template <class S>
constexpr std::size_t stage_bytes = 4U * S::columns;

}  // namespace amasia::softmax
