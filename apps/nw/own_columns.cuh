// `columns-128` where the walker itself copies ref, for drop_off.
#pragma once

#include "apps/nw/column_copies.cuh"
#include "variants/ptx/cp_async_if.cuh"

namespace amasia::nw {

/// A lane's own columns of the rows that it meets AHEAD stages later, in the place where it will
/// put their scores. The lanes copy the same row at the same time, 512 bytes, and meet it one after
/// another. The warps that copy elsewhere only carry scores away here; `full` says that a stage's
/// place is free.
template <class B, int AHEAD>
struct OwnColumns : ColumnConsumer<B, AHEAD> {
  static_assert(AHEAD <= B::stages - 4);
  static constexpr int batch = 4;  // rows of a group of copies
  // Of the next step's row and of the batch - 1 behind it all has come
  static constexpr int groups_in_flight = AHEAD * B::stage_rows / batch - 2;
  const int rows, filled;
  unsigned to;         // the place of the row to copy next
  const unsigned end;  // of the ring
  const int* source;   // that row, in the lane's columns
  std::int64_t pitch;  // of a row; 0 where the grid has no such columns
  int next = 0;        // that row
  int stage = 0;       // and its stage

  __device__ OwnColumns(const ColumnRun& run, int band, ColumnStages<B>& shared)
      : ColumnConsumer<B, AHEAD>(run, band, shared),
        rows(static_cast<int>(run.ref.rows)),
        filled(B::filled(run.ref.rows)),
        to(async::held_address(shared.stage) + threadIdx.x % 32 * 16),
        end(to + B::stages * B::stage_bytes) {
    const std::int64_t column = std::int64_t{band} * B::columns + threadIdx.x % 32 * 4;
    pitch = column < run.ref.pitch ? run.ref.pitch : 0;
    source = run.ref.data + (pitch != 0 ? column : 0);
  }
  __device__ void begin() {
    ColumnConsumer<B, AHEAD>::begin();
#pragma unroll 1
    for (int n = 0; n < AHEAD; ++n) {
#pragma unroll
      for (int s = 0; s < B::stage_rows; ++s) step(s);
      entered();
    }
  }
  __device__ void entered() {
    ++stage;
    if (to == end) to -= B::stages * B::stage_bytes;
  }
  /// Rows below the grid become zero.
  __device__ void step(int s) {
    async::copy16_if(stage < filled, to, source, next < rows ? 16 : 0);
    ++next;
    source += next < rows ? pitch : 0;
    to += B::row_bytes;
    if (s % batch == batch - 1) {
      async::commit();
      async::wait<groups_in_flight>();
    }
  }
};

/// The producers only carry scores away.
template <class B>
struct NoColumnLoader {
  static constexpr int pending = 0;
  __device__ NoColumnLoader(const ColumnChunks<B>&, int) {}
  __device__ void begin() {}
  __device__ void load(int, int*) {}
};

}  // namespace amasia::nw
