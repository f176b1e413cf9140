// hotspot/cuda_pipeline: hotspot/overlap implemented with libcu++: cuda::memcpy_async into a
// cuda::pipeline of thread scope, in place of the suite's own PTX. Schedules, stages and the order
// of the copies are overlap's, so only the implementation differs. The library issues the same
// cp.async, and plain copies below sm_80.
#include <cuda/pipeline>

#include "apps/hotspot/tiles.cuh"

namespace amasia::hotspot {
namespace {

using Pipeline = cuda::pipeline<cuda::thread_scope_thread>;

struct LibraryCopy {
  Pipeline& pipeline;
  /// The library takes the width of its instruction from the alignment that comes with the size.
  template <int BYTES>
  __device__ void copy(float* to, const float* from) const {
    cuda::memcpy_async(static_cast<void*>(to), static_cast<const void*>(from),
                       cuda::aligned_size_t<BYTES>(BYTES), pipeline);
  }
};

// 64x64: the power travels while the first step exchanges temperatures.
__device__ void start_square(SquareTile& tile, const Grid<const float>& grid, const Square& s,
                             Pipeline& pipeline) {
  pipeline.producer_acquire();
  copy_square(tile, grid, s, LibraryCopy{pipeline});
  pipeline.producer_commit();
}

__global__ void __launch_bounds__(square_threads, squares_bound) pipeline_square(SquareView v) {
  __shared__ SquareTile temperature, power;
  __shared__ SquareEdges edges;
  const Square s(v);
  Pipeline pipeline = cuda::make_pipeline();
  start_square(temperature, v.temperature, s, pipeline);
  start_square(power, v.power, s, pipeline);
  // Here and below the number of unfinished batches is a constant. consumer_wait() counts them at
  // run time and becomes a branch per number.
  cuda::pipeline_consumer_wait_prior<1>(pipeline);
  __syncthreads();  // a pipeline of thread scope waits for the thread's own copies
  float4 kelvin[patch];
#pragma unroll
  for (int i = 0; i < patch; ++i) kelvin[i] = temperature.rows[s.y * patch + i][s.x];
  pipeline.consumer_release();
  advance_square(edges, s, v, kelvin, [&](int i) {
    if (i == 0) {
      cuda::pipeline_consumer_wait_prior<0>(pipeline);
      __syncthreads();
    }
    return power.rows[s.y * patch + i][s.x];
  });
  pipeline.consumer_release();
}

// Streaming: copy_row_block() of tiles.cuh by the library.
template <class S>
struct PipedAhead : TileReader<S> {
  ChunkSource<S> source;
  const PassView& pass;
  Pipeline pipeline = cuda::make_pipeline();

  __device__ PipedAhead(SharedStorage<S>& shared, const PassView& view, const Place<S>& place)
      : TileReader<S>(shared, view, place), source(view, place), pass(view) {
#pragma unroll
    for (int n = 0; n < S::stages - 1; ++n) start(n, PipelineState<S::stages>::after(n));
  }
  __device__ void start(int n, PipelineState<S::stages> into) {
    pipeline.producer_acquire();
    if (n < this->place.run.blocks) {
      copy_row_block(this->shared.stages[into.index], source, this->place.run.first + n * S::rows,
                     pass, this->place, LibraryCopy{pipeline});
    }
    pipeline.producer_commit();  // an empty batch past the last row-block keeps the count right
  }
  __device__ void consumer_wait(int n) {
    cuda::pipeline_consumer_wait_prior<S::stages - 2>(pipeline);
    __syncthreads();  // visible to the block, and the stage read before is free
    start(n + S::stages - 1, this->state.before());
  }
  __device__ void consumer_release(int) {
    pipeline.consumer_release();
    ++this->state;
  }
};

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all;
  // The schedule of overlap's record at large grids, and that of small ones.
  add_streaming<TileKernels<PipedAhead>, Movement<2>, std::tuple<FourWarps>>(all);
  all.push_back(squares(Start::in_turn, pipeline_square));
  return all;
}

const bool registered =
    register_comparator<Problem>("hotspot", "cuda_pipeline", Strategy::overlap, configs());

}  // namespace
}  // namespace amasia::hotspot
