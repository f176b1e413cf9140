// Device code on the CPU: a block of threads, with what they have of CUDA as far as the kernels
// under test use it. A device thread is a host thread here, so a missing barrier may well show as a
// read that is too early. It also finds kernels that rely on a warp in lockstep, which none may.
// Included before device code, whose "variants/ptx/shared_memory.cuh" is the one beside this file
// (tests/CMakeLists.txt).
#pragma once

#include <barrier>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

struct float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

namespace amasia::emulated {

inline constexpr int most_threads = 1024, warp = 32;
alignas(1024) inline unsigned char shared[227 * 1024];

inline std::unique_ptr<std::barrier<>> of_block;
inline std::vector<std::unique_ptr<std::barrier<>>> of_warp;
inline thread_local int thread = 0;

inline void sync_block() { of_block->arrive_and_wait(); }
inline void sync_warp() { of_warp[static_cast<std::size_t>(thread / warp)]->arrive_and_wait(); }

/// As __shfl_sync of a whole warp: the value of lane `source` of the own `width` lanes.
template <class T>
T shuffle(unsigned, T value, int source, int width = warp) {
  static T exchanged[most_threads];
  exchanged[thread] = value;
  sync_warp();
  const T found = exchanged[thread / width * width + source % width];
  sync_warp();
  return found;
}

/// Runs body(thread) for every thread of a block; `threads`: a multiple of 32.
inline void run_block(int threads, const std::function<void(int)>& body) {
  of_block = std::make_unique<std::barrier<>>(threads);
  of_warp.clear();
  for (int i = 0; i < threads; i += warp) {
    of_warp.push_back(std::make_unique<std::barrier<>>(warp));
  }
  std::vector<std::jthread> all;
  all.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&body, i] {
      thread = i;
      body(i);
    });
  }
}

}  // namespace amasia::emulated

#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __syncthreads() amasia::emulated::sync_block()
#define __syncwarp() amasia::emulated::sync_warp()
#define __shfl_sync amasia::emulated::shuffle
