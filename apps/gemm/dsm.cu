// gemm/dsm: two blocks, one below the other, need the same slices of B. Each brings half of every
// one and hands it to both, at iso by stores that travel as messages, in the persistent schedule by
// multicast boxes.
#include "apps/gemm/boxes.cuh"
#include "apps/gemm/half_each.cuh"

namespace amasia::gemm {
namespace {

/// The half of a slice of B that each block brings to both: half the boxes, or, where they are odd
/// in number, half the rows of each.
template <class Tile>
struct HalfOfB {
  static constexpr int all_boxes = BoxesOfB<Tile>::count;
  static constexpr bool splits_rows = all_boxes % pair != 0;
  static constexpr int rows = BoxesOfB<Tile>::rows / (splits_rows ? pair : 1);
  static constexpr int boxes = splits_rows ? all_boxes : all_boxes / pair;
  static constexpr int box_bytes = Tile::b_bytes / all_boxes;
  static constexpr std::uint16_t everyone = (1u << pair) - 1;
  static_assert(boxes >= 1 && box_bytes % 128 == 0 && everyone == 3, "whole rows, for both");

  template <class Source>
  static __device__ void multicast(const Source& from, unsigned char* stage,
                                   tma::Barrier* barrier) {
    const int rank = static_cast<int>(dsm::rank());
    const int first_row = splits_rows ? rank * rows : 0, first_box = splits_rows ? 0 : rank * boxes;
    unsigned char* const half = stage + Tile::a_bytes + first_box * box_bytes +
                                (splits_rows ? rank * (box_bytes / pair) : 0);
#pragma unroll
    for (int box = 0; box < boxes; ++box) {
      tma::load_tile_multicast(half + box * box_bytes, &from.maps.b, from.b_column(first_box + box),
                               from.b_row(first_box + box) + first_row, barrier, everyone);
    }
  }
};

template <class TileT, class WalkT = WalkOf<TileT>>
struct Multicast : BoxRing<TileT, WalkT> {
  using Tile = TileT;
  using Walk = WalkT;
  using View = Maps;
  using Base = BoxRing<TileT, WalkT>;
  static constexpr int cluster = pair;
  static View view(const Problem& p) { return box_maps<Tile>(p, HalfOfB<Tile>::rows); }

  __device__ Multicast(unsigned char* shared, const View& view, const Problem&, const Walk& walk,
                       int stages)
      : Base(shared, view, walk, stages) {
    this->init(pair);
    dsm::cluster_sync();  // before anyone's boxes arrive
    if (threadIdx.x == 0) {
      for (int s = 0; s < stages - 2; ++s) fetch();
    }
  }
  __device__ void fetch() {
    if (!this->more()) return;
    this->wait_until_read();  // by the warps of both blocks
    tma::Barrier* const barrier = this->arrived_next();
    tma::expect(barrier, Tile::slice_bytes);  // both halves of B, whoever sends them
    this->load_a(this->next_place(), barrier);
    HalfOfB<Tile>::multicast(*this, this->next_place(), barrier);
    this->advance();
  }
  __device__ void acquire() {
    if (!Tile::asynchronous && threadIdx.x == 0) fetch();
    this->wait_arrived();
  }
  __device__ void meanwhile() {
    if (threadIdx.x == 0) fetch();
  }
  __device__ void release() {
    __syncwarp();
    if (threadIdx.x % 32 < pair && this->has_read()) {
      dsm::arrive_read(dsm::remote_address(this->read_here(), threadIdx.x % 32));
    }
    this->next_stage();
  }
  __device__ void leave() const { dsm::cluster_sync(); }  // while its barriers are arrived at
};

template <class Tile, class Walk>
struct BoxesForBoth : BoxProducer<Tile, Walk> {
  static constexpr int cluster = pair;
  static Maps view(const Problem& p) { return box_maps<Tile>(p, HalfOfB<Tile>::rows); }
  static __device__ void enter() { dsm::cluster_sync(); }
  static __device__ __forceinline__ void produce(const Stages<Tile>& stages, const Maps& maps,
                                                 const Problem& p, const Walk& walk) {
    produce_boxes(stages, maps, p, walk,
                  [](const auto& source, unsigned char* stage, auto* barrier) {
                    source.load_a(stage, barrier);
                    HalfOfB<Tile>::multicast(source, stage, barrier);
                  });
  }
  /// Half of B in this stage came from the other block, which waits for these warps as well.
  static __device__ void release(tma::Barrier* empty) {
    __syncwarp();
    if (threadIdx.x % 32 < pair) dsm::arrive_read(dsm::remote_address(empty, threadIdx.x % 32));
  }
  static __device__ void leave() { dsm::cluster_sync(); }  // while its barriers are arrived at
};

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all{
      iso<HalfEach>(), shared<Multicast<Fp32Tile<128>, SharedWalk>>(3),
      persistent<Multicast<Fp32Tile<256>>>(4), persistent<Multicast<Fp32Tile<128>>>(3)};
  add_wgmma<Multicast>(all, 4);
  add_roles<BoxesForBoth>(all);
  return all;
}

const bool registered = register_variant<Problem>("gemm", Strategy::dsm, configs(),
                                                  decline(mma_schedules(), rows_of_b_whole));

}  // namespace
}  // namespace amasia::gemm
