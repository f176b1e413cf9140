// A ring of slices that boxes of tensor maps fill (tma, dsm): the fetching thread runs ahead of the
// computation; two mbarriers per stage say when a slice has arrived and when all warps have read
// it.
#pragma once

#include "apps/gemm/specialised.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::gemm {
namespace {

/// Of a slice, as the tensor map counts them: Tile::k, but half of it in e4m3, which travels as
/// pairs, because the engine looks at no values.
template <class Tile>
inline constexpr int columns_of_128_bytes = 128 / static_cast<int>(sizeof(typename Tile::Element));

/// How a slice of B is cut into boxes. Layout nn: all its rows by `Tile::b_box_columns` columns,
/// side by side until there are Tile::n columns. Layout tn: all rows by 128 bytes, as one box, or
/// as two where they are more than a box has.
template <class Tile, Layout LAYOUT = Tile::layout>
struct BoxesOfB {
  static constexpr int rows = Tile::k, columns = Tile::b_box_columns, count = Tile::n / columns;
};
template <class Tile>
struct BoxesOfB<Tile, Layout::tn> {
  static constexpr int count = extent_of_b<Tile> > 256 ? 2 : 1;
  static constexpr int rows = extent_of_b<Tile> / count, columns = columns_of_128_bytes<Tile>;
};

/// Boxes of a slice: all rows of A by 128 bytes, permuted; boxes of B of `b_rows` rows.
template <class Tile>
Maps box_maps(const Problem& p, int b_rows = BoxesOfB<Tile>::rows) {
  using Element = typename Tile::Element;
  return {tensor_map(elements<Element>(p.a), rows_of_a<Tile>, columns_of_128_bytes<Tile>,
                     Swizzle::bytes128),
          tensor_map(elements<Element>(p.b), b_rows, BoxesOfB<Tile>::columns, Tile::b_swizzle)};
}

/// The boxes that come next: where the thread that asks for them is in its block's walk.
template <class Tile, class Walk>
struct BoxSource {
  static constexpr int b_boxes = BoxesOfB<Tile>::count;
  static constexpr int b_box_bytes = Tile::b_bytes / b_boxes;

  const Maps& maps;
  const Walk& walk;
  typename Walk::Position at;
  int row = 0, column = 0;  // of the tile, in elements of A and B

  __device__ BoxSource(const Maps& m, const Walk& w) : maps(m), walk(w), at(w, first_step(w)) {
    enter();
  }
  __device__ bool more() const { return at.more(walk); }
  __device__ void enter() {
    const TilePlace place = walk.place(at.step, rank_in(walk));
    row = place.row * rows_of_a<Tile>;
    column = place.column * extent_of_b<Tile>;
  }
  __device__ void load_a(unsigned char* stage, tma::Barrier* barrier) const {
    tma::load_tile(stage, &maps.a, at.slice * columns_of_128_bytes<Tile>, row, barrier);
  }
  /// Where box `box` of the slice of B begins, in the matrix as it is stored.
  __device__ int b_column(int box) const {
    return Tile::layout == Layout::tn ? at.slice * columns_of_128_bytes<Tile>
                                      : column + box * BoxesOfB<Tile>::columns;
  }
  __device__ int b_row(int box) const {
    return Tile::layout == Layout::tn ? column + box * BoxesOfB<Tile>::rows : at.slice * Tile::k;
  }
  __device__ void load_b(unsigned char* stage, tma::Barrier* barrier) const {
#pragma unroll
    for (int box = 0; box < b_boxes; ++box) {
      tma::load_tile(stage + Tile::a_bytes + box * b_box_bytes, &maps.b, b_column(box), b_row(box),
                     barrier);
    }
  }
  __device__ void next_slice() {
    if (at.advance(walk, step_stride(walk)) && more()) enter();
  }
};

// Below, Boxes<Tile> says who brings the boxes of a slice. It is a matrix::SharingBlocks and has
//
// - view(problem): the maps of its boxes.
// - load(source, stage, barrier): those of a slice that this block asks for.

/// The producer (specialised.cuh) whose one thread asks for boxes.
template <class TileT, class WalkT, template <class> class Boxes>
struct BoxProducer : Boxes<TileT> {
  using Tile = TileT;
  using Walk = WalkT;
  using View = Maps;
  static constexpr int registers = 40, arrivals = 1, producer_warps = 1;
  static constexpr int bytes_in_flight = stages_that_fit<Tile> * Tile::slice_bytes;

  static __device__ __forceinline__ void produce(const Stages<Tile>& stages, const Maps& maps,
                                                 const Problem& p, const Walk& walk) {
    if (threadIdx.x != 0) return;
    BoxSource<Tile, Walk> source(maps, walk);
#pragma unroll 1
    for (typename Stages<Tile>::State state; source.more(); ++state, source.next_slice()) {
      stages.acquire(state);
      describe(stages, state, p, walk, source.at);
      tma::expect(stages.full(state), Tile::slice_bytes);
      Boxes<Tile>::load(source, stages.at(state), stages.full(state));
    }
  }
};

template <class TileT, class WalkT, template <class> class Boxes>
struct BoxMover : BoxSource<TileT, WalkT> {
  using Tile = TileT;
  using Walk = WalkT;
  using View = Maps;
  using Source = BoxSource<Tile, Walk>;
  static constexpr int cluster = Boxes<Tile>::cluster;
  static View view(const Problem& p) { return Boxes<Tile>::view(p); }
  static constexpr std::size_t shared_bytes(int stages) {
    return static_cast<std::size_t>(stages) * (Tile::slice_bytes + 2 * sizeof(tma::Barrier));
  }
  static constexpr int bytes_in_flight(int stages) { return (stages - 1) * Tile::slice_bytes; }
  static constexpr int warps = Tile::threads / 32;

  unsigned char* ring;
  unsigned base;          // its shared address
  tma::Barrier* arrived;  // per stage; then as many that count the warps that have read
  int stages;
  // The computation's place in the ring.
  int stage = 0;
  unsigned parity = 0;
  bool started = false;
  int next = 0;              // the fetching thread's place in the ring
  unsigned next_parity = 1;  // a ring's first round waits for nothing

  __device__ BoxMover(unsigned char* shared, const View& m, const Problem&, const Walk& w,
                      int count)
      : Source(m, w),
        ring(shared),
        base(async::shared_address(shared)),
        arrived(reinterpret_cast<tma::Barrier*>(shared + count * Tile::slice_bytes)),
        stages(count) {
    init(cluster);
    Boxes<Tile>::enter();
    if (threadIdx.x == 0) {
      for (int s = 0; s < count - 2; ++s) fetch();
    }
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
  __device__ tma::Barrier* arrived_next() const { return arrived + next; }
  __device__ tma::Barrier* read_next() const { return arrived + stages + next; }
  /// Of the slice whose multiplication has ended: this one, or the one before.
  __device__ tma::Barrier* read_here() const {
    if (!Tile::asynchronous) return arrived + stages + stage;
    return arrived + stages + (stage == 0 ? stages : stage) - 1;
  }
  __device__ void wait_until_read() const { tma::wait(read_next(), next_parity); }
  __device__ unsigned char* next_place() const { return ring + next * Tile::slice_bytes; }
  __device__ void advance() {
    if (++next == stages) next = 0, next_parity ^= 1;
    this->next_slice();
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
  __device__ void fetch() {
    if (!this->more()) return;
    wait_until_read();
    tma::Barrier* const barrier = arrived_next();
    tma::expect(barrier, Tile::slice_bytes);  // all of it, whoever sends it
    Boxes<Tile>::load(*this, next_place(), barrier);
    advance();
  }
  __device__ void acquire() {
    if (!Tile::asynchronous && threadIdx.x == 0) fetch();
    wait_arrived();
  }
  __device__ void meanwhile() {
    if (threadIdx.x == 0) fetch();
  }
  __device__ void release() {
    __syncwarp();
    if (Boxes<Tile>::arrives() && has_read()) Boxes<Tile>::arrive(read_here());
    next_stage();
  }
  __device__ void leave() const { Boxes<Tile>::leave(); }
};

/// The schedules of tma and of dsm. Both decline every one that mma.sync computes.
template <template <class> class Boxes>
struct ByBoxes {
  template <class Tile, class Walk>
  using Ring = BoxMover<Tile, Walk, Boxes>;
  template <class Tile, class Walk>
  using Producer = BoxProducer<Tile, Walk, Boxes>;

  static std::vector<ConfigOf<Problem>> configs(ConfigOf<Problem> iso) {
    std::vector<ConfigOf<Problem>> all{std::move(iso), shared<Ring<Fp32Tile<128>, SharedWalk>>(3),
                                       persistent<Ring<Fp32Tile<256>, matrix::Walk>>(4),
                                       persistent<Ring<Fp32Tile<128>, matrix::Walk>>(3)};
    add_wgmma<Ring>(all, 4);
    add_roles<Producer>(all);
    return all;
  }
  static std::vector<Declined> declined() {
    return decline(mma_schedules(),
                   "mma.sync reads rows of B whole, with chunks permuted along all of a row; a box "
                   "permutes within 128 bytes of it, which is what wgmma reads");
  }
};

}  // namespace
}  // namespace amasia::gemm
