// Device code on the CPU: a block of threads, with what they have of CUDA as far as the kernels
// under test use it. A device thread is a fiber here, which runs until it waits at a barrier. Who
// runs next is random, so a missing barrier shows as a read that is too early, and so does a kernel
// that relies on a warp in lockstep, which none may.
// Included before device code, whose "variants/ptx/shared_memory.cuh" is the one beside this file
// (tests/CMakeLists.txt).
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

struct float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

namespace amasia::emulated {

inline constexpr int most_threads = 1024, warp = 32;
alignas(1024) inline unsigned char shared[227 * 1024];

struct Barrier {
  int expected = 0, arrived = 0, phase = 0;
};
struct Fiber {
  static constexpr std::size_t stack_bytes = 256 << 10;

  ucontext_t context{};
  std::unique_ptr<std::byte[]> stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
  const Barrier* barrier = nullptr;  // that it waits at, for the end of `phase`
  int phase = 0;
  bool ended = false;

  bool can_run() const { return !ended && (barrier == nullptr || barrier->phase != phase); }
};

inline Barrier of_block;
inline std::vector<Barrier> of_warp;
inline std::vector<Fiber> fibers;  // by thread; kept from block to block, for their stacks
inline ucontext_t scheduler;
inline const std::function<void(int)>* running = nullptr;
inline int thread = 0;

inline void wait_at(Barrier& barrier) {
  if (++barrier.arrived == barrier.expected) {
    barrier.arrived = 0;
    ++barrier.phase;
    return;
  }
  Fiber& own = fibers[static_cast<std::size_t>(thread)];
  own.barrier = &barrier;
  own.phase = barrier.phase;
  ::swapcontext(&own.context, &scheduler);
  own.barrier = nullptr;
}
inline void sync_block() { wait_at(of_block); }
inline void sync_warp() { wait_at(of_warp[static_cast<std::size_t>(thread / warp)]); }

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

inline void run_fiber() {
  (*running)(thread);
  fibers[static_cast<std::size_t>(thread)].ended = true;
}

/// Runs body(thread) for every thread of a block; `threads`: a multiple of 32. Throws
/// std::logic_error when all that are left wait at barriers that others never reach.
inline void run_block(int threads, const std::function<void(int)>& body) {
  running = &body;
  of_block = {threads};
  of_warp.assign(static_cast<std::size_t>(threads / warp), {warp});
  fibers.resize(static_cast<std::size_t>(threads));
  for (Fiber& f : fibers) {
    f.barrier = nullptr;
    f.ended = false;
    ::getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = Fiber::stack_bytes;
    f.context.uc_link = &scheduler;
    ::makecontext(&f.context, run_fiber, 0);
  }
  std::vector<int> order(static_cast<std::size_t>(threads));
  std::iota(order.begin(), order.end(), 0);
  std::minstd_rand random(1);
  bool any_ran = true;
  while (any_ran) {
    any_ran = false;
    std::shuffle(order.begin(), order.end(), random);
    for (const int i : order) {
      Fiber& f = fibers[static_cast<std::size_t>(i)];
      if (!f.can_run()) continue;
      thread = i;
      any_ran = true;
      ::swapcontext(&scheduler, &f.context);
    }
  }
  if (std::any_of(fibers.begin(), fibers.end(), [](const Fiber& f) { return !f.ended; })) {
    throw std::logic_error("a barrier that not every thread reaches");
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
