// Slices that pass through registers (baseline): a thread loads pieces and stores them later, while
// a tile is multiplied or as one of a producing warpgroup.
#pragma once

#include "apps/gemm/staged.cuh"
#include "variants/ptx/bulk.cuh"

namespace amasia::gemm {
namespace {

/// HELD: shares (Pieces::per_chunk) that a thread holds, loaded that many chunks before they are
/// stored.
template <class Tile, class Walk = WalkOf<Tile>, int HELD = 1>
struct Staging : PieceMover<Tile, Walk> {
  static constexpr int stages = 2;
  static constexpr int per_chunk = Pieces<Tile>::per_chunk;
  static_assert(per_chunk * Tile::chunks == Pieces<Tile>::count, "each chunk brings a share");
  static constexpr std::size_t shared_bytes(int) { return stages * Tile::slice_bytes; }
  static constexpr int bytes_in_flight(int) { return HELD * per_chunk * 16 * Tile::threads; }

  Ahead<Tile, Walk> ahead;
  unsigned ring;
  Target<Tile> target;
  int thread, stage = 0;
  int4 held[HELD][per_chunk];

  __device__ Staging(unsigned char* shared, NoMaps, const Problem& p, const Walk& walk, int)
      : ahead(p, walk, static_cast<int>(threadIdx.x)),
        ring(async::shared_address(shared)),
        target(ring, static_cast<int>(threadIdx.x)),
        thread(static_cast<int>(threadIdx.x)) {
    target.enter(0);
#pragma unroll
    for (int chunk = 0; chunk < Tile::chunks; ++chunk) between(chunk);
    finish();
  }
  __device__ static bool due(int chunk) { return Pieces<Tile>::due(chunk); }
  __device__ void load(int slot, Source& from) {
#pragma unroll
    for (int i = 0; i < per_chunk; ++i) held[slot][i] = *static_cast<const int4*>(from.take());
  }
  __device__ void store(int slot) {
    int i = 0;
    target.template take<per_chunk>([&](unsigned to) { async::store16(to, held[slot][i++]); });
  }
  // Without a branch, which would have each load waited for where paths join: behind the last slice
  // it is loaded once more, into the stage that nobody reads.
  __device__ void between(int chunk) {
    Source& from = ahead.pieces_from(per_chunk, thread);
    if (chunk >= HELD) store(chunk % HELD);
    load(chunk % HELD, from);
  }
  __device__ void finish() {
#pragma unroll
    for (int chunk = Tile::chunks - HELD; chunk < Tile::chunks; ++chunk) store(chunk % HELD);
    ahead.next_slice(stages, thread);
    target.enter(ahead.stage);
  }
  __device__ unsigned here() const {
    return ring + static_cast<unsigned>(stage * Tile::slice_bytes);
  }
  __device__ typename Tile::Left left(int t) const { return {here(), t}; }
  __device__ unsigned b() const { return here() + Tile::a_bytes; }
  __device__ void acquire() const {
    __syncthreads();
  }  // stored by all, and the other stage is read
  __device__ void release() {
    finish();
    stage ^= 1;
  }
  __device__ void leave() const {}
};

/// The same for wgmma, which reads shared memory as the engine does, so that each thread fences
/// what it has stored. While a slice is multiplied, the next one is stored, which a thread held
/// since the slice before, and the one after it is loaded.
template <class Tile, class Walk = WalkOf<Tile>>
struct WgmmaStaging : PieceMover<Tile, Walk> {
  // The third is of the slice that was multiplied last and may still be read.
  static constexpr int stages = 3;
  static constexpr int per_chunk = Pieces<Tile>::per_chunk, count = Pieces<Tile>::count;
  static_assert(per_chunk * Tile::chunks == count);
  static constexpr std::size_t shared_bytes(int) { return stages * Tile::slice_bytes; }
  static constexpr int bytes_in_flight(int) { return Tile::slice_bytes; }

  unsigned char* ring;
  Ahead<Tile, Walk> ahead;
  Target<Tile> target;
  int thread, stage = 0, filled = 0;
  int4 held[count];

  __device__ WgmmaStaging(unsigned char* shared, NoMaps, const Problem& p, const Walk& walk, int)
      : ring(shared),
        ahead(p, walk, static_cast<int>(threadIdx.x)),
        target(async::held_address(shared), static_cast<int>(threadIdx.x)),
        thread(static_cast<int>(threadIdx.x)) {
    load();
    meanwhile();
  }
  __device__ void load() {
#pragma unroll
    for (int first = 0; first < count; first += per_chunk) {
      Source& from = ahead.pieces_from(per_chunk, thread);
#pragma unroll
      for (int i = first; i < first + per_chunk; ++i) {
        held[i] = *static_cast<const int4*>(from.take());
      }
    }
  }
  __device__ void store() {
    target.enter(filled);
    int i = 0;
#pragma unroll
    for (int chunk = 0; chunk < Tile::chunks; ++chunk) {
      target.template take<per_chunk>([&](unsigned to) { async::store16(to, held[i++]); });
    }
    if (++filled == stages) filled = 0;
  }
  __device__ void acquire() const {
    tma::fence_async_proxy();
    __syncthreads();  // stored by all, and the slice two before this one is read by all
  }
  __device__ const unsigned char* a_tile() const { return ring + stage * Tile::slice_bytes; }
  __device__ const unsigned char* b_tile() const { return a_tile() + Tile::a_bytes; }
  // Nothing branches while loads are on their way: they would be waited for where the ways join.
  // Behind the last slice a thread loads what it need not, into a stage that nobody reads.
  __device__ void meanwhile() {
    store();
    ahead.next_slice(stages, thread);
    load();
  }
  __device__ void release() {
    if (++stage == stages) stage = 0;
  }
  __device__ void leave() const {}
};

/// A producing warpgroup whose threads load pieces and store them: all of a slice, or half of it
/// where those that multiply need the registers. Less would not keep tensor cores fed.
template <class Tile, class Walk>
struct RegisterProducer : PieceProducer<Tile, Walk> {
  using Base = PieceProducer<Tile, Walk>;
  using Fed = typename Base::Fed;
  static constexpr int count = Pieces<Fed>::count, at_once = 4;
  static constexpr int others = 40;  // registers, besides those of pieces
  static constexpr bool whole = 4 * count + others <= producer_registers(Tile::registers);
  static constexpr int share = whole ? count : count / 2;
  static constexpr int bytes_in_flight = share * 16 * warpgroup;
  static constexpr int registers = (bytes_in_flight / (4 * warpgroup) + others) / 8 * 8;

  static __device__ __forceinline__ void produce(const Stages<Tile>& stages, NoMaps,
                                                 const Problem& p, const Walk& walk) {
    static_assert(Pieces<Fed>::per_chunk % at_once == 0 && share % at_once == 0,
                  "all from one operand");
    const int thread = static_cast<int>(threadIdx.x);
    Ahead<Fed, Walk> ahead(p, walk, thread);
    Target<Fed> target(async::shared_address(stages.slices), thread);
#pragma unroll 1
    for (typename Stages<Tile>::State state; ahead.more(); ++state) {
#pragma unroll
      for (int first = 0; first < count; first += share) {
        int4 held[share];
#pragma unroll
        for (int i = 0; i < share; ++i) {
          if (i % at_once == 0) ahead.pieces_from(at_once, thread);
          held[i] = *static_cast<const int4*>(ahead.source.take());
        }
        if (first + share == count) ahead.next_slice(Stages<Tile>::count, thread);
        if (first == 0) {
          stages.acquire(state);
          target.enter(state.index);
        }
        int i = 0;
#pragma unroll
        for (int part = 0; part < share / at_once; ++part) {
          target.template take<at_once>([&](unsigned to) { async::store16(to, held[i++]); });
        }
      }
      hand_over<Tile::asynchronous>(stages.full(state));
    }
  }
};

}  // namespace
}  // namespace amasia::gemm
