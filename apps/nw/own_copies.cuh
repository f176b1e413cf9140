// Stages of ref that the walker itself copies, each lane its own cells, for drop_off: nobody else
// need know that they have come.
#pragma once

#include "apps/nw/column_copies.cuh"
#include "apps/nw/stages.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::nw {

/// The walker's pipeline when the walker itself does the copying: what it will read `ahead` steps
/// later, to the place where it will be read.
template <class B, class W>
struct PrivatePipeline : BarrierPipeline<B, W> {
  static constexpr bool only_meets_at_barriers = false;  // it waits for its own copies, too
  // A place is free in the third period after its stage's own: in the second the producers store
  // it. The last step of a period already reads for the next, so what is copied in it goes with the
  // chunk before.
  static constexpr int ahead_stages = B::stages - 3;
  static constexpr int ahead = ahead_stages * B::period - 1;

  const BandRun& run;
  const int lane;
  const int chunks;                   // of a row of the grid
  int next = 0;                       // chunk to copy next; negative: before the first
  const int* source = nullptr;        // it, in the lane's first row
  unsigned before = 0;                // shared address of the chunk that was read last
  std::int64_t to_row[B::lane_rows];  // elements from there to the lane's other rows

  __device__ PrivatePipeline(BandSharedStorage<B>& shared, const BandRun& r)
      : BarrierPipeline<B, W>(shared, r),
        run(r),
        lane(threadIdx.x % 32),
        chunks(static_cast<int>(r.ref.pitch / 4)) {}

  __device__ void begin(int band) {
    BarrierPipeline<B, W>::begin(band);
    const std::int64_t row = std::int64_t{band} * B::rows + lane * B::lane_rows;
    const std::int64_t last = run.ref.rows - 1;  // is copied in the place of rows beyond the grid
    const std::int64_t own = row < last ? row : last;
#pragma unroll
    for (int r = 0; r < B::lane_rows; ++r) {
      to_row[r] = ((row + r < last ? row + r : last) - own) * run.ref.pitch;
    }
    // Lane l meets chunk 0 at step l.
    next = -lane;
    source = run.ref.data + own * run.ref.pitch + 4 * next;
    for (int s = 0; s < ahead; ++s) copy(place(s));
    before = place(ahead) - ahead_stages * B::stage_bytes;
  }
  /// Where the lane meets its chunk at step s after the first of a walk.
  __device__ unsigned place(int s) const {
    const int n = s / B::period - !B::entered(s % B::period, lane % B::group_lanes);
    const int chunk = B::chunk(s % B::period, lane % B::group_lanes);
    return this->first + n * B::stage_bytes + lane * (B::lane_rows * 4 * B::tile_columns) +
           16 * chunk;
  }
  __device__ void copy(unsigned to) {
    if (static_cast<unsigned>(next) < static_cast<unsigned>(chunks)) {
#pragma unroll
      for (int r = 0; r < B::lane_rows; ++r) {
        async::copy16<async::Cache::l1_too>(to + r * (4 * B::tile_columns), source + to_row[r]);
      }
    }
    ++next;
    source += 4;
    async::commit();
  }
  /// Before the chunk at `at` is read: the one that is read `ahead` steps later, a few stages
  /// further than the chunk before `at`.
  __device__ void fetched(unsigned at) {
    const unsigned to = before + ahead_stages * B::stage_bytes;
    copy(to >= this->end ? to - B::stages * B::stage_bytes : to);
    before = at;
    async::wait<ahead>();
  }
};

/// The producers only carry scores away.
template <class B, class W>
struct NoLoader {
  static constexpr int parts = 1;
  __device__ NoLoader(BandSharedStorage<B>&, const Chunks<B, W>&) {}
  __device__ void producer_begin() {}
  template <int>
  __device__ void producer_load(int, int*) {}
  __device__ void producer_commit() {}
};

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
