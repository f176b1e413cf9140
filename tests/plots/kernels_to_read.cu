// Small kernels, each with another way of moving a tile to shared memory: what
// plots/advice/machine_code.py reads of them is known from here. Tiles of 256 x 16 bytes where 256
// threads copy 16 each.
#include <cuda_pipeline_primitives.h>
#include <cstdint>

// 16 bytes per thread through registers; 8 multiply-adds on 4 elements; 2 reads of each byte.
extern "C" __global__ void staged(const float4* in, float4* out, int tiles) {
  __shared__ float4 tile[256];
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    tile[threadIdx.x] = in[t * 256 + threadIdx.x];
    __syncthreads();
    float4 a = tile[threadIdx.x ^ 1];
    const float4 b = tile[threadIdx.x ^ 2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      a.x = fmaf(a.x, b.x, 1.5f);
      a.y = fmaf(a.y, b.y, 1.5f);
      a.z = fmaf(a.z, b.z, 1.5f);
      a.w = fmaf(a.w, b.w, 1.5f);
    }
    __syncthreads();
    out[t * 256 + threadIdx.x] = a;
  }
}

// One tile of 8 bytes per thread, no loop, and nothing written but by one thread in four.
extern "C" __global__ void once(const float2* in, float2* out) {
  __shared__ float2 tile[256];
  tile[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

// cp.async, 4 bytes per thread, and a loop over the tile whose turns only the caller knows.
extern "C" __global__ void asynchronous(const float* in, float* out, int tiles, int turns) {
  extern __shared__ float cells[];
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    __pipeline_memcpy_async(&cells[threadIdx.x], &in[t * 256 + threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < turns; ++i) sum = fmaf(cells[(threadIdx.x + i) & 255], 0.5f, sum);
    __syncthreads();
    out[t * 256 + threadIdx.x] = sum;
  }
}

// No tile: straight through registers.
extern "C" __global__ void copied(const float4* in, float4* out) {
  out[blockIdx.x * 256 + threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
}

#if __CUDA_ARCH__ >= 900
// A bulk copy by one thread for all.
extern "C" __global__ void bulk(const float* in, float* out, int bytes) {
  __shared__ alignas(128) float tile[2048];
  __shared__ alignas(8) uint64_t full;
  const auto address = [](const void* p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
  };
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&full)));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address(&full)),
                 "r"(bytes));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(address(tile)),
        "l"(in), "r"(bytes), "r"(address(&full)));
  }
  __syncthreads();
  int done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(address(&full)));
  }
  out[threadIdx.x] = tile[threadIdx.x] * 2;
}
#endif
