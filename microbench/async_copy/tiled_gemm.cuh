// The kernels of async_copy/tiled_gemm: tiles through registers between two barriers, and by a
// pipeline of two stages.
#pragma once

#include <cuda/pipeline>

#include <cstddef>

namespace amasia::async_copy {

constexpr int inner = 2048;  // width of A, height of B

/// Row-major: A (rows, inner), B (inner, columns), C (rows, columns); sizes are multiples of EDGE.
struct Matrices {
  const float* a;
  const float* b;
  float* c;
  int columns;
};

template <int EDGE>
struct Tiles {
  float a[EDGE][EDGE];  // (row, k)
  float b[EDGE][EDGE];  // (k, column)

  __device__ float dot(float sum) const {
#pragma unroll
    for (int k = 0; k < EDGE; ++k) sum = fmaf(a[threadIdx.y][k], b[k][threadIdx.x], sum);
    return sum;
  }
};

/// The element of A's and of B's tile that a thread brings, and the step to the next tile.
template <int EDGE>
struct Source {
  const float* a;
  const float* b;
  std::size_t b_step;

  __device__ explicit Source(const Matrices& m)
      : a(m.a + std::size_t{blockIdx.y * EDGE + threadIdx.y} * inner + threadIdx.x),
        b(m.b + std::size_t{threadIdx.y} * m.columns + blockIdx.x * EDGE + threadIdx.x),
        b_step(std::size_t{EDGE} * m.columns) {}
  __device__ void advance() {
    a += EDGE;
    b += b_step;
  }
};

template <int EDGE>
__device__ void store_result(const Matrices& m, float sum) {
  m.c[std::size_t{blockIdx.y * EDGE + threadIdx.y} * m.columns + blockIdx.x * EDGE + threadIdx.x] =
      sum;
}

template <int EDGE>
__global__ void __launch_bounds__(EDGE* EDGE) sync_share(Matrices m) {
  __shared__ Tiles<EDGE> tiles;
  Source<EDGE> source(m);
  float sum = 0;
#pragma unroll 1
  for (int step = 0; step < inner / EDGE; ++step) {
    tiles.a[threadIdx.y][threadIdx.x] = *source.a;
    tiles.b[threadIdx.y][threadIdx.x] = *source.b;
    source.advance();
    __syncthreads();
    sum = tiles.dot(sum);
    __syncthreads();
  }
  store_result<EDGE>(m, sum);
}

template <int EDGE>
__global__ void __launch_bounds__(EDGE* EDGE) async_pipe(Matrices m) {
  constexpr int steps = inner / EDGE;
  constexpr int stages = 2;
  __shared__ Tiles<EDGE> tiles[stages];
  Source<EDGE> source(m);
  auto pipe = cuda::make_pipeline();
  const auto issue = [&](int step) {
    pipe.producer_acquire();
    if (step < steps) {
      Tiles<EDGE>& to = tiles[step % stages];
      constexpr cuda::aligned_size_t<4> one(sizeof(float));
      cuda::memcpy_async(&to.a[threadIdx.y][threadIdx.x], source.a, one, pipe);
      cuda::memcpy_async(&to.b[threadIdx.y][threadIdx.x], source.b, one, pipe);
      source.advance();
    }
    pipe.producer_commit();
  };
  issue(0);
  float sum = 0;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    issue(step + 1);
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    __syncthreads();  // this step's tiles are there for everybody
    sum = tiles[step % stages].dot(sum);
    pipe.consumer_release();
    __syncthreads();  // and have been read: the step after next may come
  }
  store_result<EDGE>(m, sum);
}

}  // namespace amasia::async_copy
