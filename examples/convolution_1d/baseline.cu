// convolution_1d/baseline: a tile comes through registers into shared memory, and the next one is
// asked for before this one is computed, so that it travels meanwhile. Two stages: one barrier per
// tile says both that it is there and that the one before has been read.
// Windows from the lanes of a warp: nothing is stored to shared memory, since a thread reads no
// other's inputs there; what the next tile brings waits in registers all the same.
#include "kernel.cuh"

namespace amasia::convolution_1d {
namespace {

template <class S>
struct ThroughShared {
  const Problem& p;
  TileWalk next;  // to be asked for
  float4* stages;
  int current = 1;
  float4 held[S::chunks + 1];

  __device__ ThroughShared(const Problem& problem, const TileWalk& walk)
      : p(problem), next(walk), stages(stages_of_block<S>()) {}

  /// Does this thread bring a chunk in round c? The last round is that of the margins.
  __device__ static bool brings(int c) {
    return c < S::chunks || threadIdx.x < 2 * S::margin_chunks;
  }
  __device__ void start() {
    if (next.row < p.in.rows) {
      const float4* const from = source<S>(p, next);
#pragma unroll
      for (int c = 0; c <= S::chunks; ++c) {
        if (brings(c)) held[c] = __ldg(from + c * S::threads + threadIdx.x);
      }
    }
    ++next;
  }
  __device__ const float4* bring() {
    current ^= 1;
    float4* const stage = stages + current * S::stage_chunks;
#pragma unroll
    for (int c = 0; c <= S::chunks; ++c) {
      if (brings(c)) stage[c * S::threads + threadIdx.x] = held[c];
    }
    start();
    __syncthreads();
    return stage;
  }
  __device__ void done() const {}
};

template <class S>
struct InRegisters {
  const Problem& p;
  TileWalk next;
  float4 held[S::chunks], margins[S::chunks];  // of the next tile
  float4 now[S::chunks], margins_now[S::chunks];

  __device__ InRegisters(const Problem& problem, const TileWalk& walk) : p(problem), next(walk) {}

  __device__ void start() {
    if (next.row < p.in.rows) {
      const float4* const from = source<S>(p, next);
      const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
      for (int c = 0; c < S::chunks; ++c) {
        held[c] = __ldg(from + own_chunk(thread, c, S::threads));
        margins[c] = keeps_margin(thread % 32) ? __ldg(from + margin_chunk(thread, c, S::threads))
                                               : float4{};
      }
    }
    ++next;
  }
  __device__ const float4* bring() {
#pragma unroll
    for (int c = 0; c < S::chunks; ++c) {
      now[c] = held[c];
      margins_now[c] = margins[c];
    }
    start();
    return nullptr;
  }
  __device__ float4 own(int c) const { return now[c]; }
  __device__ float4 margin(int c) const { return margins_now[c]; }
  __device__ void done() const {}
};

template <class S>
ConfigOf<Problem> through_shared() {
  return config<S, ThroughShared>(2, 2 * stage_bytes<S>, tile_bytes<S>);
}

template <class S>
ConfigOf<Problem> in_registers() {
  return config<S, InRegisters>(1, 0, tile_bytes<S>);
}

const bool registered =
    register_variant<Problem>("convolution_1d", Strategy::baseline,
                              {in_registers<Iso>(), in_registers<Lanes>(), through_shared<One>(),
                               through_shared<Two>(), through_shared<Four>()});

}  // namespace
}  // namespace amasia::convolution_1d
