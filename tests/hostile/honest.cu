// Implementations of y = 2.5 x + y and total = sum of k that are right in unusual ways: each must
// be accepted. On a GPU alone.
#include <cooperative_groups.h>
#include <cublas_v2.h>
#include <thrust/execution_policy.h>
#include <thrust/transform.h>

#include <cub/device/device_reduce.cuh>
#include <map>

#include "tests/hostile/device.hpp"

namespace {

constexpr float factor = 2.5F;

__global__ void saxpy(int n, const float* x, float* y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = factor * x[i] + y[i];
}

using Total = unsigned long long;

__device__ void add_up(int n, const int* k, Total* total) {
  long long sum = 0;
  const int stride = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += stride) {
    sum += k[i];
  }
  atomicAdd(total, static_cast<Total>(sum));
}

__global__ void sum_of(int n, const int* k, Total* total) { add_up(n, k, total); }

__global__ void both_at_once(int n, const float* x, float* y, const int* k, Total* total) {
  const int stride = static_cast<int>(gridDim.x * blockDim.x);
  const int first = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (first == 0) *total = 0;
  for (int i = first; i < n; i += stride) y[i] = factor * x[i] + y[i];
  cooperative_groups::this_grid().sync();
  add_up(n, k, total);
}

struct Call {
  Call(Stream s, void** a)
      : stream(s),
        n(*static_cast<int*>(a[0])),
        x(*static_cast<float**>(a[1])),
        y(*static_cast<float**>(a[2])),
        k(*static_cast<int**>(a[3])),
        total(*static_cast<Total**>(a[4])) {}
  int saxpy_on(Stream on) const {
    saxpy<<<static_cast<unsigned>(n + 255) / 256, 256, 0, on>>>(n, x, y);
    return cudaGetLastError();
  }
  int sum_on(Stream on) const {
    if (cudaMemsetAsync(total, 0, sizeof *total, on) != cudaSuccess) return 1;
    sum_of<<<132, 256, 0, on>>>(n, k, total);
    return cudaGetLastError();
  }
  Stream stream;
  int n;
  float *x, *y;
  int* k;
  Total* total;
};

}  // namespace

IMPLEMENTATION plain(Stream s, void** a) {
  const Call call(s, a);
  return call.saxpy_on(s) + call.sum_on(s);
}

/// Its first call creates, allocates and waits; each forks to a stream of its own and joins it.
IMPLEMENTATION handles_in_the_first_call(Stream s, void** a) {
  static cudaEvent_t forked = nullptr, joined = nullptr;
  const Call call(s, a);
  if (forked == nullptr) {
    cudaEventCreateWithFlags(&forked, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
    if (allocate(1 << 20) == nullptr || cudaDeviceSynchronize() != cudaSuccess) return 1;
  }
  cudaEventRecord(forked, s);
  cudaStreamWaitEvent(another_stream(), forked);
  const int status = call.saxpy_on(s) + call.sum_on(another_stream());
  cudaEventRecord(joined, another_stream());
  return cudaStreamWaitEvent(s, joined) == cudaSuccess ? status : 1;
}

IMPLEMENTATION cublas(Stream s, void** a) {
  static cublasHandle_t handle = nullptr;
  const Call call(s, a);
  if (handle == nullptr && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
  if (cublasSetStream(handle, s) != CUBLAS_STATUS_SUCCESS) return 1;
  if (cublasSaxpy(handle, call.n, &factor, call.x, 1, call.y, 1) != CUBLAS_STATUS_SUCCESS) return 1;
  return call.sum_on(s);
}

IMPLEMENTATION cub_with_scratch(Stream s, void** a) {
  static void* scratch = nullptr;
  static std::size_t bytes = 0;
  const Call call(s, a);
  auto* const total = reinterpret_cast<long long*>(call.total);
  const auto reduce = [&] {
    return cub::DeviceReduce::Reduce(scratch, bytes, call.k, total, call.n, cuda::std::plus<>{},
                                     0LL, s);
  };
  if (scratch == nullptr &&
      (reduce() != cudaSuccess || cudaMalloc(&scratch, bytes) != cudaSuccess)) {
    return 1;
  }
  return call.saxpy_on(s) + reduce();
}

IMPLEMENTATION cooperative(Stream s, void** a) {
  Call call(s, a);
  void* arguments[] = {&call.n, &call.x, &call.y, &call.k, &call.total};
  return cudaLaunchCooperativeKernel(both_at_once, dim3(132), dim3(256), arguments, 0, s);
}

/// Captures itself for each place of its buffers, which changes from call to call. A graph cannot
/// be launched into a capture, which it does not ask for.
IMPLEMENTATION graph_of_its_own(Stream s, void** a) {
  static std::map<const float*, cudaGraphExec_t> graphs;
  const Call call(s, a);
  cudaGraphExec_t& known = graphs[call.x];
  if (known == nullptr) {
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(another_stream(), cudaStreamCaptureModeThreadLocal);
    call.saxpy_on(another_stream());
    call.sum_on(another_stream());
    cudaStreamEndCapture(another_stream(), &graph);
    if (cudaGraphInstantiate(&known, graph, 0) != cudaSuccess) return 1;
    cudaGraphDestroy(graph);
  }
  return cudaGraphLaunch(known, s);
}

struct Saxpy {
  __device__ float operator()(float x, float y) const { return factor * x + y; }
};

IMPLEMENTATION thrust_on_the_stream(Stream s, void** a) {
  const Call call(s, a);
  thrust::transform(thrust::cuda::par_nosync.on(s), call.x, call.x + call.n, call.y, call.y,
                    Saxpy{});
  return call.sum_on(s);
}
