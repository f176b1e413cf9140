// What the implementations of this folder work with: CUDA where nvcc compiles them, memory of the
// host where they run on the stub device of the tests.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <thread>

/// A function that `amasia bench` calls.
#define IMPLEMENTATION extern "C" __attribute__((visibility("default"))) int

#ifdef __CUDACC__

#include <cuda_runtime.h>
#define ON_DEVICE __device__
using Stream = cudaStream_t;

template <class Work>
__global__ void kernel(int n, Work work) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) work(i);
}

/// Enqueues work(i) for each i below n.
template <class Work>
int each(Stream stream, int n, Work work) {
  kernel<<<static_cast<unsigned>(n + 255) / 256, 256, 0, stream>>>(n, work);
  return cudaGetLastError();
}

/// Runs until work that nobody waits for is still there when the stream has ended.
constexpr int runs_that_last = 100;

inline float* allocate(std::size_t count) {
  void* memory = nullptr;
  return cudaMalloc(&memory, count * sizeof(float)) == cudaSuccess ? static_cast<float*>(memory)
                                                                   : nullptr;
}

inline Stream another_stream() {
  static const Stream side = [] {
    Stream created = nullptr;
    cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking);
    return created;
  }();
  return side;
}

/// Where nobody waits for it: at once, or behind what the stream has so far.
template <class Enqueue>
int beside(Enqueue enqueue) {
  return enqueue(another_stream());
}
template <class Enqueue>
int behind(Stream stream, Enqueue enqueue) {
  static cudaEvent_t event = nullptr;
  if (event == nullptr) cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaEventRecord(event, stream);
  cudaStreamWaitEvent(another_stream(), event);
  return enqueue(another_stream());
}

#else

#define ON_DEVICE
using Stream = void*;

template <class Work>
int each(Stream, int n, Work work) {
  for (int i = 0; i < n; ++i) work(i);
  return 0;
}

constexpr int runs_that_last = 1;  // it begins late enough

inline float* allocate(std::size_t count) {
  return static_cast<float*>(std::malloc(count * sizeof(float)));
}

template <class Enqueue>
int beside(Enqueue enqueue) {
  std::thread([enqueue] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    enqueue(nullptr);
  }).detach();
  return 0;
}
template <class Enqueue>
int behind(Stream, Enqueue enqueue) {
  return beside(enqueue);
}

#endif
