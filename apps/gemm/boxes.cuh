// A ring of slices that boxes of tensor maps fill (tma, dsm): the fetching thread runs ahead of the
// computation; two mbarriers per stage say when a slice has arrived and when all warps have read
// it.
#pragma once

#include "apps/gemm/persistent.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/shared_memory.cuh"
#include "variants/ptx/tensor.cuh"

namespace amasia::gemm {
namespace {

/// Why tma and dsm decline the schedules of mma.sync.
inline const char* const rows_of_b_whole =
    "mma.sync reads rows of B whole, with chunks permuted along all of a row; a box permutes "
    "within "
    "128 bytes of it, which is what wgmma reads";

struct Maps {
  CUtensorMap a, b;
};

/// Boxes of a slice: all rows of A by 128 bytes, permuted; of B `Tile::b_box_columns` columns by
/// `b_rows` rows, side by side until there are Tile::n columns.
template <class Tile>
Maps box_maps(const Problem& p, int b_rows) {
  using Element = typename Tile::Element;
  return {tensor_map(elements<Element>(p.a), Tile::m, Tile::k, Swizzle::bytes128),
          tensor_map(elements<Element>(p.b), b_rows, Tile::b_box_columns, Tile::b_swizzle)};
}

/// A tile of wgmma whose slices are asked for when the multiplication of another is under way. With
/// any other, thread 0 asks before its block may go on: it then waits for the slowest warp to have
/// read a stage, and names five boxes, while its warpgroup has one slice left to multiply.
template <class Tile>
struct FetchedMeanwhile : Tile {};
template <class Tile>
inline constexpr bool fetched_meanwhile = false;
template <class Tile>
inline constexpr bool fetched_meanwhile<FetchedMeanwhile<Tile>> = true;

template <class Tile, class Walk>
struct BoxRing {
  static constexpr std::size_t shared_bytes(int stages) {
    return static_cast<std::size_t>(stages) * (Tile::slice_bytes + 2 * sizeof(tma::Barrier));
  }
  static constexpr int bytes_in_flight(int stages) { return (stages - 1) * Tile::slice_bytes; }
  static constexpr int warps = Tile::threads / 32;
  static constexpr int b_boxes = Tile::n / Tile::b_box_columns;
  static constexpr int b_box_bytes = Tile::b_bytes / b_boxes;

  const Maps& maps;
  const Walk& walk;
  unsigned char* ring;
  unsigned base;          // its shared address
  tma::Barrier* arrived;  // per stage; then as many that count the warps that have read
  int stages;
  // The computation's place in the ring.
  int stage = 0;
  unsigned parity = 0;
  bool started = false;
  // The fetching thread's: its next slice.
  typename Walk::Position at;
  int row = 0, column = 0;  // row and column of the tile, in elements
  int next = 0;
  unsigned next_parity = 1;  // a ring's first round waits for nothing

  __device__ BoxRing(unsigned char* shared, const Maps& m, const Walk& w, int count)
      : maps(m),
        walk(w),
        ring(shared),
        base(async::shared_address(shared)),
        arrived(reinterpret_cast<tma::Barrier*>(shared + count * Tile::slice_bytes)),
        stages(count),
        at(w, first_step(w)) {
    enter();
  }
  /// `readers`: blocks whose warps arrive when they have read a stage.
  __device__ void init(int readers) const {
    if (threadIdx.x != 0) return;
    for (int s = 0; s < stages; ++s) {
      tma::init(arrived + s, 1);
      tma::init(arrived + stages + s, static_cast<unsigned>(readers * warps));
    }
    tma::fence_init();
  }
  __device__ bool more() const { return at.more(walk); }
  __device__ void enter() {
    const TilePlace place = walk.place(at.step, rank_in(walk));
    row = place.row * Tile::m;
    column = place.column * Tile::n;
  }
  __device__ tma::Barrier* arrived_next() const { return arrived + next; }
  __device__ tma::Barrier* read_next() const { return arrived + stages + next; }
  /// Of the slice whose multiplication has ended: this one, or the one before.
  __device__ tma::Barrier* read_here() const {
    if (!Tile::asynchronous) return arrived + stages + stage;
    return arrived + stages + (stage == 0 ? stages : stage) - 1;
  }
  __device__ void wait_until_read() const { tma::wait(read_next(), next_parity); }
  __device__ unsigned char* next_place() const { return ring + next * Tile::slice_bytes; }
  __device__ void load_a(tma::Barrier* barrier) const {
    tma::load_tile(next_place(), &maps.a, at.slice * Tile::k, row, barrier);
  }
  __device__ void load_b(tma::Barrier* barrier) const {
#pragma unroll
    for (int box = 0; box < b_boxes; ++box) {
      tma::load_tile(next_place() + Tile::a_bytes + box * b_box_bytes, &maps.b,
                     column + box * Tile::b_box_columns, at.slice * Tile::k, barrier);
    }
  }
  __device__ void advance() {
    if (++next == stages) next = 0, next_parity ^= 1;
    if (at.advance(walk, step_stride(walk)) && more()) enter();
  }
  __device__ void wait_arrived() const { tma::wait(arrived + stage, parity); }
  __device__ bool has_read() const { return !Tile::asynchronous || started; }
  __device__ void next_stage() {
    started = true;
    if (++stage == stages) stage = 0, parity ^= 1;
  }
  __device__ const unsigned char* a_tile() const { return ring + stage * Tile::slice_bytes; }
  __device__ const unsigned char* b_tile() const { return a_tile() + Tile::a_bytes; }
  __device__ unsigned here() const {
    return base + static_cast<unsigned>(stage * Tile::slice_bytes);
  }
  __device__ auto left(int t) const { return typename Tile::Left{here(), t}; }
  __device__ unsigned b() const { return here() + Tile::a_bytes; }
  __device__ void between(int) const {}
};

}  // namespace
}  // namespace amasia::gemm
