// Stages of ref by cp.async, for register_bypass (waited for in the period in which they are asked
// for) and overlap (several on their way).
#pragma once

#include "apps/nw/stages.cuh"
#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::nw {

/// PENDING stages may still be on their way when the walker is let into a period.
template <class B, class W, int PENDING>
struct AsyncLoader {
  static_assert(PENDING <= B::stages - 4, "the walker holds two, looks into one, one is stored");
  static constexpr int parts = 1;
  BandSharedStorage<B>& shared;
  const Chunks<B, W>& chunks;
  const int filled;

  __device__ AsyncLoader(BandSharedStorage<B>& s, const Chunks<B, W>& c)
      : shared(s), chunks(c), filled(B::filled(c.run.ref.columns)) {}
  __device__ void producer_begin() {
    for (int n = 0; n < B::stages - 2; ++n) producer_load<0>(n, shared.stage[n]);
    producer_commit();
  }
  template <int>
  __device__ void producer_load(int n, int* stage) {
    if (n < filled) {
      const unsigned to_stage = async::shared_address(stage);
      chunks.each(n, [&](int, int to, std::int64_t from) {
        async::copy16(to_stage + 4 * to, chunks.ref + from);
      });
    }
    async::commit();
  }
  __device__ void producer_commit() { async::wait<PENDING>(); }
};

}  // namespace amasia::nw
