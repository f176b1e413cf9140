// Stages of ref by cp.async, for register_bypass (waited for in the period in which they are asked
// for) and overlap (several on their way).
#pragma once

#include "apps/nw/stages.cuh"
#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::nw {

/// PENDING stages may still be on their way when the walker is let into a period.
template <class B, int PENDING>
struct AsyncLoader {
  static_assert(PENDING <= B::stages - 4, "the walker holds two, looks into one, one is stored");
  StageMemory<B>& memory;
  const Chunks<B>& chunks;
  int filled;

  __device__ AsyncLoader(StageMemory<B>& m, const Chunks<B>& c, int f)
      : memory(m), chunks(c), filled(f) {}
  __device__ void begin() {
    for (int n = 0; n < B::stages - 2; ++n) load(n);
    ready();
  }
  __device__ void load(int n) {
    if (n < filled) {
      const unsigned stage = async::shared_address(memory.stage[n % B::stages]);
      chunks.each(n, [&](int, int to, std::int64_t from) {
        async::copy16(stage + 4 * to, chunks.ref + from);
      });
    }
    async::commit();
  }
  __device__ void ready() { async::wait<PENDING>(); }
};

}  // namespace amasia::nw
