// One pass over an array, x -> x/2 + 1/2 repeated for each element, with the tiles brought to
// shared memory in seven ways (Svedin et al. 2021, section 4.1; the pattern is their Overlap):
//
// `direct`: no shared memory, as an element-wise kernel would do it. For comparison.
// `plain`: global -> register -> shared, block barrier ("standard" in the paper).
// `register_bypass`: `cp.async`, waited for at once, block barrier.
// `pipeline`: `cuda::pipeline` of STAGES tiles, one block barrier per tile.
// `barrier`: `cp.async` and arrive/wait barriers, a full and an empty one per stage.
// `drop_off`: `cp.async` into slots of the thread's own, `wait_group`, no barrier.
// `bulk`: one thread starts one `cp.async.bulk` per tile; a full and an empty barrier.
//
// A block takes every gridDim.x-th tile. Only the way in differs: all compute on CHUNKS float4 in
// registers, read from shared memory, and all store with ordinary stores. Except in direct and
// drop_off a thread computes on chunks that another warp copied, so that a missing barrier is a
// wrong result. While tile i is computed on, at most STAGES - 1 tiles behind it are in flight.
#pragma once

#include <cuda/pipeline>

#include "microbench/async_copy/pass.cuh"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::async_copy {

enum class Mechanism { direct, plain, register_bypass, pipeline, barrier, drop_off, bulk };

template <int CHUNKS>
__device__ void run_direct(const Pass<CHUNKS>& pass) {
  const int thread = static_cast<int>(threadIdx.x);
  const int count = pass.count();
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    float4 v[CHUNKS];
    pass.load(v, pass.in + pass.first_chunk(i), thread);
    __syncwarp();  // keeps the compiler from making one loop per case of `iterations`
    pass.compute_and_store(v, i, thread);
  }
}

template <int CHUNKS, bool BYPASS>
__device__ void run_synchronous(const Pass<CHUNKS>& pass) {
  const Ring<CHUNKS, 1> ring;
  const int partner = pass.partner();
  const int count = pass.count();
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    float4 v[CHUNKS];
    if constexpr (BYPASS) {
      pass.copy_async(ring.tiles, i);
      async::commit();
      async::wait<0>();
    } else {
      pass.load(v, pass.in + pass.first_chunk(i), static_cast<int>(threadIdx.x));
      pass.store(v, ring.tiles, static_cast<int>(threadIdx.x));
    }
    __syncthreads();
    pass.load(v, ring.tiles, partner);
    __syncthreads();  // read by everybody: the next tile may come
    pass.compute_and_store(v, i, partner);
  }
}

/// The API for one thread: its stages are commit groups. (With thread_scope_block it is made of
/// arrive/wait barriers, the next mechanism.)
template <int CHUNKS, int STAGES>
__device__ void run_pipeline(const Pass<CHUNKS>& pass) {
  const Ring<CHUNKS, STAGES> ring;
  const int partner = pass.partner();
  const int count = pass.count();
  auto pipe = cuda::make_pipeline();
  const auto issue = [&](int i, int stage) {
    pipe.producer_acquire();
    if (i < count) {
      float4* const to = ring.tile(stage) + threadIdx.x;
      const float4* const from = pass.in + pass.first_chunk(i) + threadIdx.x;
#pragma unroll
      for (int k = 0; k < CHUNKS; ++k) {
        cuda::memcpy_async(to + k * blockDim.x, from + k * static_cast<int>(blockDim.x),
                           cuda::aligned_size_t<16>(16), pipe);
      }
    }
    pipe.producer_commit();
  };
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) issue(s, s);
  int stage = 0;
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    cuda::pipeline_consumer_wait_prior<STAGES - 2>(pipe);
    __syncthreads();  // tile i is there for everybody, and tile i - 1 read by everybody
    issue(i + STAGES - 1, stage == 0 ? STAGES - 1 : stage - 1);
    float4 v[CHUNKS];
    pass.load(v, ring.tile(stage), partner);
    pipe.consumer_release();
    pass.compute_and_store(v, i, partner);
    if (++stage == STAGES) stage = 0;
  }
}

template <int CHUNKS, int STAGES>
__device__ void run_drop_off(const Pass<CHUNKS>& pass) {
  const Ring<CHUNKS, STAGES> ring;
  const int thread = static_cast<int>(threadIdx.x);
  const int count = pass.count();
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < count) pass.copy_async(ring.tile(s), s);
    async::commit();
  }
  int stage = 0;
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    if (i + STAGES - 1 < count) {
      pass.copy_async(ring.tile(stage == 0 ? STAGES - 1 : stage - 1), i + STAGES - 1);
    }
    async::commit();
    async::wait<STAGES - 1>();
    float4 v[CHUNKS];
    pass.load(v, ring.tile(stage), thread);
    pass.compute_and_store(v, i, thread);
    if (++stage == STAGES) stage = 0;
  }
}

/// BULK: one thread copies the tile, else every thread its chunks. The slot of tile i - 1 is filled
/// again as soon as every warp has read it, before anybody waits for tile i.
template <int CHUNKS, int STAGES, bool BULK>
__device__ void run_barriers(const Pass<CHUNKS>& pass) {
  const Ring<CHUNKS, STAGES> ring;
  const int partner = pass.partner();
  const int count = pass.count();
  const unsigned tile_bytes = 16U * static_cast<unsigned>(pass.tile_chunks());
  if (threadIdx.x == 0) {
#pragma unroll
    for (int s = 0; s < STAGES; ++s) {
      init(ring.full + s, BULK ? 1 : blockDim.x);
      init(ring.empty + s, blockDim.x / 32);  // one arrival per warp
    }
    if constexpr (BULK) tma::fence_init();
  }
  __syncthreads();
  const auto issue = [&](int i, int stage) {
    if constexpr (BULK) {
      tma::expect(ring.full + stage, tile_bytes);
      tma::load_bytes(ring.tile(stage), pass.in + pass.first_chunk(i), tile_bytes,
                      ring.full + stage);
    } else {
      pass.copy_async(ring.tile(stage), i);
      arrive_with_copies(ring.full + stage);
    }
  };
  const bool issues = !BULK || threadIdx.x == 0;
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    if (issues && s < count) issue(s, s);
  }
  int stage = 0;
  unsigned parity = 0;  // of the full barrier of `stage`
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    if (issues && i + STAGES - 1 < count) {
      const int before = stage == 0 ? STAGES - 1 : stage - 1;
      // The slot held tile i - 1; at i = 0 it has not held any.
      if (i > 0) wait(ring.empty + before, stage == 0 ? parity ^ 1U : parity);
      issue(i + STAGES - 1, before);
    }
    wait(ring.full + stage, parity);
    float4 v[CHUNKS];
    pass.load(v, ring.tile(stage), partner);
    // The copy engine does not queue behind loads from shared memory that are still on their way.
    // Without this fence an H200 overwrote 64 to 320 of 2^28 elements before they were read.
    if constexpr (BULK) tma::fence_async_proxy();
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(ring.empty + stage);
    pass.compute_and_store(v, i, partner);
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1U;
    }
  }
}

/// `taken`: the span of the first thread of the grid.
template <Mechanism MECHANISM, int CHUNKS, int STAGES>
__global__ void __launch_bounds__(1024)
    pass_over(const float4* in, float4* out, long long tiles, Iterations iterations, Stamp* taken) {
  const Stopwatch watch;
  const Pass<CHUNKS> pass{in, out, tiles, iterations};
  if constexpr (MECHANISM == Mechanism::direct) run_direct(pass);
  if constexpr (MECHANISM == Mechanism::plain) run_synchronous<CHUNKS, false>(pass);
  if constexpr (MECHANISM == Mechanism::register_bypass) run_synchronous<CHUNKS, true>(pass);
  if constexpr (MECHANISM == Mechanism::pipeline) run_pipeline<CHUNKS, STAGES>(pass);
  if constexpr (MECHANISM == Mechanism::barrier) run_barriers<CHUNKS, STAGES, false>(pass);
  if constexpr (MECHANISM == Mechanism::drop_off) run_drop_off<CHUNKS, STAGES>(pass);
  if constexpr (MECHANISM == Mechanism::bulk) run_barriers<CHUNKS, STAGES, true>(pass);
  if (blockIdx.x == 0 && threadIdx.x == 0) watch.stop(*taken);
}

}  // namespace amasia::async_copy
