// Stages of ref by cp.async, for register_bypass (waited for in the period in which they are asked
// for) and overlap (several on their way).
#pragma once

#include "apps/nw/column_copies.cuh"
#include "apps/nw/stages.cuh"
#include "variants/ptx/cp_async.cuh"

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

template <int BATCH, int STAGES, int PENDING, int PRODUCERS>
ConfigOf<Problem> async_bands(const char* name) {
  using B = Bands<Bands128x32, BATCH, STAGES>;
  using W = Warps<PRODUCERS>;
  return copied_bands_config<B, W, BarrierPipeline<B, W>, AsyncLoader<B, W, PENDING>>(
      name, PRODUCERS, PENDING + 1);
}

/// `columns-128`: PENDING stages are in flight when the warps that copy look for scores again.
template <class B, int PENDING>
struct AsyncColumnLoader {
  static constexpr int pending = PENDING;
  static_assert(PENDING <= B::stages - 4, "the walker holds two, looks into one, one is stored");
  const ColumnChunks<B>& chunks;
  const int filled;

  __device__ AsyncColumnLoader(const ColumnChunks<B>& c, int stages) : chunks(c), filled(stages) {}
  __device__ void begin() {}
  __device__ void load(int n, int* stage) {
    if (n < filled) {
      chunks.each(n, [&](int, unsigned to, std::int64_t from, bool has) {
        async::copy<16>(stage + to, chunks.ref + (has ? from : 0), has ? 16 : 0);
      });
    }
    async::commit();
    async::wait<PENDING>();
  }
};

template <int STAGES, int PENDING>
ConfigOf<Problem> async_columns(const char* name) {
  using B = ColumnBands<STAGES>;
  return copied_columns_config<B, ColumnConsumer<B>, AsyncColumnLoader<B, PENDING>>(
      name, column_copiers / 32, PENDING);
}

}  // namespace amasia::nw
