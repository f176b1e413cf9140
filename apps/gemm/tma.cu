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
  static constexpr int shared_bytes = stages * pair_bytes + stages * 8;
  static constexpr int bytes_in_flight = pair_bytes;
  const View& maps;
  tma::Barrier* arrived;
  int row, column, tiles;

  __device__ TwoBoxes(unsigned char* shared, const View& view, const Problem&, std::int64_t r,
                      std::int64_t c, int count)
      : SharedTiles(shared),
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

/// A block asks for all its boxes.
template <class Tile>
struct OwnBoxes : ForOneBlock {
  static Maps view(const Problem& p) { return box_maps<Tile>(p); }
  template <class Source>
  static __device__ void load(const Source& from, unsigned char* stage, tma::Barrier* barrier) {
    from.load_a(stage, barrier);
    from.load_b(stage, barrier);
  }
};

const bool registered =
    register_variant<Problem>("gemm", Strategy::tma, ByBoxes<OwnBoxes>::configs(iso<TwoBoxes>()),
                              ByBoxes<OwnBoxes>::declined());

}  // namespace
}  // namespace amasia::gemm
