// hotspot/cuda_pipeline: hotspot/overlap implemented with libcu++: cuda::memcpy_async into a
// cuda::pipeline of thread scope, in place of the suite's own PTX. Schedules, stages and the order
// of the copies are overlap's, so only the implementation differs. The library issues the same
// cp.async, and plain copies below sm_80.
#include <cuda/pipeline>

#include "apps/hotspot/square.cuh"
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
#pragma unroll
  for (int chunk = threadIdx.x; chunk < square * patches; chunk += square_threads) {
    const int row = chunk / patches, x = chunk % patches;
    const std::int64_t column = s.first_column + x * patch;
    if (s.first_row + row < grid.rows && column < grid.columns) {
      LibraryCopy{pipeline}.copy<16>(
          &tile.rows[row][x].x,
          grid.data + (std::int64_t{s.first_row} + row) * grid.pitch + column);
    }
  }
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

template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) pipeline_strip(PassView pass) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<SharedStorage<S>*>(memory);
  const Place<S> place(pass);
  PipedAhead<S> pipeline(shared, pass, place);
  stream<S>(pipeline, place.run.blocks, pass);
}

struct Kernels {
  template <class S>
  static KernelUse use() {
    return {reinterpret_cast<const void*>(pipeline_strip<S>), S::threads, sizeof(SharedStorage<S>),
            1, (S::stages - 1) * sizeof(BlockTile<S>)};
  }
  template <class S>
  static Launch pass(const Problem& problem, const Pass& pass, const Device& device) {
    return enqueue_pass<S>(pipeline_strip<S>, problem, pass, device, sizeof(SharedStorage<S>));
  }
};

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all;
  // The schedule of overlap's record at large grids, and that of small ones.
  add_streaming<Kernels, Movement<2>, std::tuple<FourWarps>>(all);
  all.push_back(squares(Start::in_turn, pipeline_square));
  return all;
}

const bool registered =
    register_comparator<Problem>("hotspot", "cuda_pipeline", Strategy::overlap, configs());

}  // namespace
}  // namespace amasia::hotspot
