// `columns-128` with ref by cp.async, for register_bypass and overlap: PENDING stages are in flight
// when the warps that copy look for scores again.
#pragma once

#include "apps/nw/column_copies.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::nw {

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

template <class B, int PENDING>
__global__ void __launch_bounds__(column_threads) async_column_bands(ColumnRun run) {
  extern __shared__ __align__(128) unsigned char memory[];
  move_columns<B, ColumnConsumer<B>, AsyncColumnLoader<B, PENDING>>(
      run, *reinterpret_cast<ColumnStages<B>*>(memory));
}

template <int STAGES, int PENDING>
ConfigOf<Problem> async_columns(const char* name) {
  using B = ColumnBands<STAGES>;
  return columns_config<B>(
      {name, column_threads, sizeof(ColumnStages<B>), column_copiers / 32, PENDING},
      std::vector<ColumnPart<>>{{async_column_bands<B, PENDING>}});
}

}  // namespace amasia::nw
