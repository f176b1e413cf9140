// gemm/dsm: two blocks, one below the other, need the same slices of B. Each brings half of every
// one and hands it to both, at iso by remote stores, in the persistent schedule by multicast boxes.
#include "apps/gemm/boxes.cuh"
#include "apps/gemm/original.cuh"
#include "apps/gemm/shared.cuh"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::gemm {
namespace {

inline constexpr int pair = 2;

struct HalfEach : SharedTiles<2> {
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = pair, stages = 2;
  static constexpr int shared_bytes = stages * pair_bytes, bytes_in_flight = pair_bytes;
  OwnElements own;

  __device__ HalfEach(unsigned char* shared, View, const Problem& p, std::int64_t row,
                      std::int64_t column, int)
      : SharedTiles<2>{reinterpret_cast<float*>(shared)}, own(p, row, column) {
    dsm::cluster_sync();  // nobody stores into a block that has not begun
  }
  __device__ void acquire(int s) const {
    a_tile(s)[threadIdx.x] = own.has_a(s) ? own.a.at(own.row, own.a_column(s)) : 0.0f;
    if (tile_row() / (side / pair) == static_cast<int>(dsm::rank())) {
      const float b = own.has_b(s) ? own.b.at(own.b_row(s), own.column) : 0.0f;
#pragma unroll
      for (unsigned peer = 0; peer < pair; ++peer) {
        dsm::store(dsm::remote_address(b_tile(s) + threadIdx.x, peer), b);
      }
    }
    dsm::cluster_sync();  // the tiles are whole; those of s - 1 are read by all
  }
  __device__ void release(int) const {}
  // Nobody stores into a block that has left: the last stores are before the last barrier.
};

template <class TileT, class WalkT = Walk>
struct Multicast : BoxRing<TileT, WalkT> {
  using Tile = TileT;
  using Walk = WalkT;
  using View = Maps;
  using Base = BoxRing<TileT, WalkT>;
  static constexpr int cluster = pair;
  // The half of B that each block brings: half its boxes, or, where there is one, half its rows.
  static constexpr bool splits_rows = Base::b_boxes == 1;
  static constexpr int b_rows = splits_rows ? Tile::k / pair : Tile::k;
  static constexpr int b_boxes = splits_rows ? 1 : Base::b_boxes / pair;
  static constexpr std::uint16_t everyone = (1u << pair) - 1;
  static View view(const Problem& p) { return box_maps<Tile>(p, b_rows); }

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
    this->load_a(barrier);
    const int rank = static_cast<int>(dsm::rank());
    const int line = this->at.slice * Tile::k + (splits_rows ? rank * b_rows : 0);
    unsigned char* const half = this->next_place() + Tile::a_bytes + rank * (Tile::b_bytes / pair);
#pragma unroll
    for (int box = 0; box < b_boxes; ++box) {
      const int columns = (splits_rows ? 0 : rank * b_boxes + box) * Tile::b_box_columns;
      tma::load_tile_multicast(half + box * Base::b_box_bytes, &this->maps.b,
                               this->column + columns, line, barrier, everyone);
    }
    this->advance();
  }
  __device__ void acquire() {
    if (!fetched_meanwhile<Tile> && threadIdx.x == 0) fetch();
    this->wait_arrived();
  }
  __device__ void meanwhile() {
    if (fetched_meanwhile<Tile> && threadIdx.x == 0) fetch();
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

const bool registered = register_variant<Problem>(
    "gemm", Strategy::dsm,
    {iso<HalfEach>(), shared<Multicast<Fp32Tile<128>, SharedWalk>>({3}),
     shared<Multicast<WgmmaBf16Tile, SharedWalk>>({4}),
     shared<Multicast<WgmmaTf32Tile, SharedWalk>>({4}),
     shared<Multicast<FetchedMeanwhile<WgmmaBf16Tile>, SharedWalk>>({4, "meanwhile"}),
     shared<Multicast<FetchedMeanwhile<WgmmaTf32Tile>, SharedWalk>>({4, "meanwhile"}),
     persistent<Multicast<Fp32Tile<256>>>({4}), persistent<Multicast<Fp32Tile<128>>>({3}),
     persistent<Multicast<WgmmaBf16Tile>>({4}), persistent<Multicast<WgmmaTf32Tile>>({4})},
    decline(mma_schedules(), rows_of_b_whole));

}  // namespace
}  // namespace amasia::gemm
