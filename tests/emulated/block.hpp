// Device code on the CPU: a block of threads, with what they have of CUDA as far as the kernels
// under test use it. Threads take turns at barriers, as far apart as barriers allow, so that a
// missing one shows as a read that is too early or too late. It also finds kernels that rely on a
// warp in lockstep, which none may.
// Included before device code, whose "variants/ptx/shared_memory.cuh" is the one beside this file
// (tests/CMakeLists.txt).
#pragma once

#include <ucontext.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>

struct float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

namespace amasia::emulated {

inline constexpr int most_threads = 1024, warp = 32;
alignas(1024) inline unsigned char shared[227 * 1024];

/// What lies at a place of shared memory, in bytes from its beginning.
template <class T>
T load(unsigned place) {
  T value;
  std::memcpy(&value, shared + place, sizeof value);
  return value;
}
template <class T>
void store(unsigned place, T value) {
  std::memcpy(shared + place, &value, sizeof value);
}

/// Where a thread stopped.
enum class At { warp_barrier, block_barrier, end };

struct Thread {
  static constexpr std::size_t stack_bytes = 64 * 1024;
  std::unique_ptr<char[]> stack{new char[stack_bytes]};
  ucontext_t context;
  At at;
};
inline Thread threads_of_block[most_threads];
inline ucontext_t scheduler;
inline const std::function<void(int)>* body_of_block = nullptr;
inline int thread = 0;  // that runs

inline void stop(At at) {
  threads_of_block[thread].at = at;
  swapcontext(&threads_of_block[thread].context, &scheduler);
}
inline At resume(int next) {
  thread = next;
  swapcontext(&scheduler, &threads_of_block[thread].context);
  return threads_of_block[next].at;
}
inline void sync_block() { stop(At::block_barrier); }
inline void sync_warp() { stop(At::warp_barrier); }

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

/// Threads or warps run one after the other, from either end at random, up to the next barrier,
/// which must be the same for all.
template <class Run>
At run_each(int count, const Run& run) {
  static std::minstd_rand random;
  const bool upwards = random() % 2 == 0;
  At common{};
  for (int i = 0; i < count; ++i) {
    const At at = run(upwards ? i : count - 1 - i);
    if (i > 0 && at != common) throw std::logic_error("a barrier that some threads do not reach");
    common = at;
  }
  return common;
}

/// Runs body(thread) for every thread of a block; `threads`: a multiple of 32. A warp runs up to
/// the block's barrier before the next warp does, a thread up to the warp's.
inline void run_block(int threads, const std::function<void(int)>& body) {
  body_of_block = &body;
  for (int i = 0; i < threads; ++i) {
    Thread& t = threads_of_block[i];
    getcontext(&t.context);
    t.context.uc_stack = {t.stack.get(), 0, Thread::stack_bytes};
    const auto run = [] {
      (*body_of_block)(thread);
      stop(At::end);
    };
    makecontext(&t.context, run, 0);
  }
  const auto run_warp = [](int w) {
    At at{};
    do {
      at = run_each(warp, [w](int lane) { return resume(w * warp + lane); });
    } while (at == At::warp_barrier);
    return at;
  };
  while (run_each(threads / warp, run_warp) != At::end) {
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
