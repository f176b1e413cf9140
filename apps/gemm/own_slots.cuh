// Rows of A in slots of the very threads that multiply them (drop_off): no thread reads what
// another one has copied, so only B needs the block's barrier.
#pragma once

#include "apps/gemm/staged.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::gemm {
namespace {

/// Four columns of the thread's eight rows of A per slot; chunk g of the walk is in slot g % slots.
template <class Tile>
struct OwnRows {
  static constexpr int slots = 3;
  static constexpr int slot_bytes = Tile::rows_per_thread * Tile::threads * 16;
  unsigned slot;   // the thread's place in the first one
  unsigned first;  // slot of the slice's first chunk
  __device__ void before(int) const { async::wait<slots - 1>(); }
  __device__ float4 load(int i, int chunk) const {
    const unsigned at = (first + static_cast<unsigned>(chunk)) % slots;
    return async::load_float4(slot + at * slot_bytes +
                              static_cast<unsigned>(i * Tile::threads * 16));
  }
};

template <class Tile>
struct OwnSlots : PieceMover<Tile, WalkOf<Tile>> {
  using Walk = WalkOf<Tile>;
  using Rows = OwnRows<Tile>;
  static constexpr int stages = 3, slots = Rows::slots;
  static constexpr std::size_t shared_bytes(int) {
    return slots * Rows::slot_bytes + stages * Tile::b_bytes;
  }
  static constexpr int bytes_in_flight(int) {
    return (slots - 1) * Rows::slot_bytes + (stages - 1) * Tile::b_bytes;
  }

  const Problem& problem;
  const Walk& walk;
  unsigned slot, ring;
  int thread, stage = 0;
  unsigned first = 0;
  Ahead<Tile, Walk> ahead;  // of B, by `stages - 1` slices
  Target<Tile> target;
  // Of A: `slots` chunks.
  typename Walk::Step step;
  int chunk_of_row = 0, last_chunk, rows_below = 0;
  const unsigned char* a = nullptr;
  unsigned to = 0;

  __device__ OwnSlots(unsigned char* shared, NoMaps, const Problem& p, const Walk& w, int)
      : problem(p),
        walk(w),
        slot(async::held_address(shared) + threadIdx.x * 16),
        ring(async::held_address(shared) + slots * Rows::slot_bytes - Tile::a_bytes),
        thread(static_cast<int>(threadIdx.x)),
        ahead(p, w, thread),
        target(ring, thread),
        step(first_step(w)),
        last_chunk(w.slices * Tile::chunks) {
    enter();
    ahead.skip_a();
    target.enter_b(0);
#pragma unroll 1
    for (int s = 0; s < stages - 1; ++s) {
#pragma unroll 1
      for (int chunk = 0; chunk < Tile::chunks; ++chunk) copy_b();
      end_b();
    }
#pragma unroll 1
    for (int chunk = 0; chunk < slots; ++chunk) copy_a();
    async::wait<slots - 1>();
  }
  __device__ void enter() {
    if (step >= walk.steps()) return;
    const int row = walk.place(step, 0).row * Tile::m + Tile::row(thread, 0);
    const int last = static_cast<int>(problem.m) - 1;
    rows_below = row < last ? last - row : 0;
    a = problem.a.data + (row < last ? row : last) * problem.a.pitch;
  }
  /// Starts the copies of the thread's next chunk and closes the group.
  __device__ void copy_a() {
    if (step < walk.steps()) {
      Source source{a + 16 * chunk_of_row, rows_below, 8, 8 * static_cast<int>(problem.a.pitch)};
#pragma unroll
      for (int i = 0; i < Tile::rows_per_thread; ++i) {
        async::copy16<async::Cache::l1_too>(
            slot + to + static_cast<unsigned>(i * Tile::threads * 16), source.take());
      }
      if (++chunk_of_row == last_chunk) {
        chunk_of_row = 0;
        step += step_stride(walk);
        enter();
      }
    }
    async::commit();
    to += Rows::slot_bytes;
    if (to == slots * Rows::slot_bytes) to = 0;
  }
  /// Starts the copies of the thread's share of B during one chunk; copy_a() closes their group.
  __device__ void copy_b() {
    constexpr int per_chunk = Pieces<Tile>::of_b / Tile::chunks;
    static_assert(per_chunk * Tile::chunks == Pieces<Tile>::of_b);
    if (!ahead.more()) return;
    Source& from = ahead.pieces_from(per_chunk, thread);
    target.template take<per_chunk>([&](unsigned to) { async::copy16(to, from.take()); });
  }
  __device__ void end_b() {
    ahead.next_slice(stages, thread);
    ahead.skip_a();
    target.enter_b(ahead.stage);
  }
  // A thread's copies of B are done before it waited for the chunks of A that it used since.
  __device__ void acquire() const { __syncthreads(); }
  __device__ Rows left(int) const { return {slot, first}; }
  __device__ unsigned b() const {
    return ring + Tile::a_bytes + static_cast<unsigned>(stage * Tile::b_bytes);
  }
  __device__ void between(int) {
    copy_b();
    copy_a();
  }
  __device__ void release() {
    end_b();
    if (++stage == stages) stage = 0;
    first = (first + Tile::chunks) % slots;
  }
  __device__ void leave() const { async::wait<0>(); }
};

}  // namespace
}  // namespace amasia::gemm
