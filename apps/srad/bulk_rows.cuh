// The rows of a block's tile as bulk copies (tma).
#pragma once

#include "apps/srad/tile_rows.cuh"
#include "variants/ptx/bulk.cuh"

namespace amasia::srad {

/// A row is a run of bytes. L2_AHEAD groups before their copy, rows come to the L2.
template <int L2_AHEAD>
struct BulkRows {
  static constexpr int stage_rows = 4, stages = 3, l2_ahead = L2_AHEAD, cluster = 1;
  struct Storage {
    TileRow ring[stages][stage_rows];
    tma::Barrier full[stages];
  };
  static constexpr std::size_t shared_bytes = sizeof(Storage),
                               bytes_in_flight = stages * stage_rows * sizeof(TileRow);

  template <bool UPWARDS>
  struct Mover {
    Storage& shared;
    const StripView& view;
    const Place& place;
    Pieces pieces;
    __device__ Mover(unsigned char* memory, const StripView& v, const Place& p)
        : shared(*reinterpret_cast<Storage*>(memory)), view(v), place(p), pieces(v, p) {
      if (threadIdx.x == 0) {
        for (tma::Barrier& barrier : shared.full) tma::init(&barrier, 1);
        tma::fence_init();
        for (int n = 0; n < stages; ++n) copy(n);
      }
      __syncthreads();  // the barriers are initialised
    }
    /// Calls use(i, first byte, bytes) for the rows of a group.
    template <class Use>
    __device__ void each_row(int n, const Use& use) const {
      if (n * stage_rows >= place.row_count) return;
      for (int i = 0; i < stage_rows; ++i) {
        use(i, pieces.source(view, place.row<UPWARDS>(n * stage_rows + i), pieces.begin),
            static_cast<unsigned>(16 * (pieces.end - pieces.begin)));
      }
    }
    __device__ void copy(int n) {
      if (n * stage_rows >= place.row_count) return;
      tma::Barrier* full = &shared.full[n % stages];
      tma::expect(full, static_cast<unsigned>(stage_rows * 16 * (pieces.end - pieces.begin)));
      each_row(n, [&](int i, const float* from, unsigned bytes) {
        tma::load_bytes(&shared.ring[n % stages][i][4 * pieces.begin], from, bytes, full);
      });
      if (l2_ahead == 0) return;
      each_row(n + l2_ahead,
               [](int, const float* from, unsigned bytes) { tma::prefetch_bytes(from, bytes); });
    }
    __device__ void wait(int n) {
      tma::wait(&shared.full[n % stages], static_cast<unsigned>(n / stages) & 1);
    }
    __device__ float4 row(int n, int i) const {
      return *reinterpret_cast<const float4*>(&shared.ring[n % stages][i][tile_place()]);
    }
    __device__ void release(int n) {
      tma::fence_async_proxy();
      __syncthreads();  // the group has been read
      if (threadIdx.x == 0) copy(n + stages);
    }
    __device__ void finish() {}
  };
};

}  // namespace amasia::srad
