// gemm/tma: one thread names boxes of A and B, an mbarrier per stage counts their bytes; the engine
// permutes the chunks of A on the way. No thread works out an address of A or B.
#include "apps/gemm/boxes.cuh"
#include "apps/gemm/original.cuh"

namespace amasia::gemm {
namespace {

struct TwoBoxes : SharedTiles<2> {
  using View = Maps;
  static View view(const Problem& p) {
    return {tensor_map(elements<float>(p.a), side, side),
            tensor_map(elements<float>(p.b), side, side)};
  }
  static constexpr int cluster = 1, stages = 2;
  static constexpr int shared_bytes = stages * pair_bytes + stages * 8;
  static constexpr int bytes_in_flight = pair_bytes;
  const View& maps;
  tma::Barrier* arrived;
  int row, column, tiles;

  __device__ TwoBoxes(unsigned char* shared, const View& view, const Problem&, std::int64_t r,
                      std::int64_t c, int count)
      : SharedTiles<2>{reinterpret_cast<float*>(shared)},
        maps(view),
        arrived(reinterpret_cast<tma::Barrier*>(shared + stages * pair_bytes)),
        row(static_cast<int>(r)),
        column(static_cast<int>(c)),
        tiles(count) {
    if (threadIdx.x == 0) {
      tma::init(arrived, 1);
      tma::init(arrived + 1, 1);
      tma::fence_init();
    }
    __syncthreads();
    fetch(0);
  }
  __device__ void fetch(int s) const {
    if (threadIdx.x != 0 || s >= tiles) return;
    tma::Barrier* const barrier = arrived + s % stages;
    tma::expect(barrier, pair_bytes);
    tma::load_tile(a_tile(s), &maps.a, s * side, row, barrier);
    tma::load_tile(b_tile(s), &maps.b, column, s * side, barrier);
  }
  __device__ void acquire(int s) const {
    fetch(s + 1);
    tma::wait(arrived + s % stages, s / stages & 1);
  }
  __device__ void release(int) const { __syncthreads(); }
};

template <class TileT, class WalkT = WalkOf<TileT>>
struct Boxes : BoxRing<TileT, WalkT> {
  using Tile = TileT;
  using Walk = WalkT;
  using View = Maps;
  using Base = BoxRing<TileT, WalkT>;
  static View view(const Problem& p) { return box_maps<Tile>(p, BoxesOfB<Tile>::rows); }
  static constexpr int cluster = 1;

  __device__ Boxes(unsigned char* shared, const View& view, const Problem&, const Walk& walk,
                   int stages)
      : Base(shared, view, walk, stages) {
    this->init(1);
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int s = 0; s < stages - 2; ++s) fetch();
    }
  }
  __device__ void fetch() {
    if (!this->more()) return;
    this->wait_until_read();
    tma::Barrier* const barrier = this->arrived_next();
    tma::expect(barrier, Tile::slice_bytes);
    this->load_a(this->next_place(), barrier);
    this->load_b(this->next_place(), barrier);
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
    if (threadIdx.x % 32 == 0 && this->has_read()) tma::arrive(this->read_here());
    this->next_stage();
  }
  __device__ void leave() const {}
};

template <class Tile, class Walk>
struct OwnBoxes : BoxProducer<Tile, Walk>, ForOneBlock {
  static Maps view(const Problem& p) { return box_maps<Tile>(p, BoxesOfB<Tile>::rows); }
  static __device__ __forceinline__ void produce(const Stages<Tile>& stages, const Maps& maps,
                                                 const Problem& p, const Walk& walk) {
    produce_boxes(stages, maps, p, walk,
                  [](const auto& source, unsigned char* stage, auto* barrier) {
                    source.load_a(stage, barrier);
                    source.load_b(stage, barrier);
                  });
  }
};

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all{iso<TwoBoxes>(), shared<Boxes<Fp32Tile<128>, SharedWalk>>(3),
                                     persistent<Boxes<Fp32Tile<256>>>(4),
                                     persistent<Boxes<Fp32Tile<128>>>(3)};
  add_wgmma<Boxes>(all, 4);
  add_roles<OwnBoxes>(all);
  return all;
}

const bool registered = register_variant<Problem>("gemm", Strategy::tma, configs(),
                                                  decline(mma_schedules(), rows_of_b_whole));

}  // namespace
}  // namespace amasia::gemm
