// Source of the listings beside this file, which tests/harness/evidence/evidence_test.cpp reads.
// Made (CUDA 13.0, cuobjdump 13.2) with
//   nvcc -std=c++17 -arch=sm_90 -cubin kernels.cu && cuobjdump -sass kernels.cubin >
//   kernels.sm_90.sass nvcc -std=c++17 -arch=sm_90 -ptx kernels.cu -o kernels.sm_90.ptx
#include <cstdint>

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Global to shared past the registers, 16 and 4 bytes at once.
extern "C" __global__ void asynchronous(const float* in, float* out) {
  __shared__ float4 tile[256];
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(tile + threadIdx.x)),
      "l"(in + 4 * threadIdx.x));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(tile)), "l"(in),
               "r"(0));
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  const float4 v = tile[255 - threadIdx.x];
  out[threadIdx.x] = v.x * v.y + v.z;
}

#if __CUDA_ARCH__ >= 900
// Bulk and tensor copies by the copy engine, both ways, and a reduction.
extern "C" __global__ void bulk(const void* map, float* out) {
  __shared__ alignas(128) float tile[1024];
  __shared__ uint64_t barrier;
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %2}], [%3];" ::"r"(shared_address(tile)),
      "l"(map), "r"(0), "r"(shared_address(&barrier))
      : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::
          "r"(shared_address(tile)),
      "l"(out), "r"(shared_address(&barrier))
      : "memory");
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n@!done bra again;\n}" ::"r"(
          shared_address(&barrier))
      : "memory");
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %1}], [%2];" ::"l"(map),
      "r"(0), "r"(shared_address(tile))
      : "memory");
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 1024;" ::"l"(out),
      "r"(shared_address(tile))
      : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}
#endif
