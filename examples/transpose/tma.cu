// transpose/tma: one thread asks the copy engine for a tile, a box for each panel of 32 columns,
// which it swizzles on the way; an mbarrier counts the bytes. The stages are as in overlap.
#include "kernel.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/bulk.cuh"

namespace amasia::transpose {
namespace {

struct WithMap {
  Problem problem;
  CUtensorMap map;
  /// The batch as one matrix of N columns; a box is a panel of a tile.
  template <class S, int N>
  static WithMap of(const Problem& p) {
    return {p, tensor_map(Grid<const float>{p.in, p.count * N, N, N}, S::template rows<N>, 32,
                          Swizzle::bytes128)};
  }
};

template <class S, int N, int STAGES>
struct BulkTiles : TileInShared<S, N> {
  using Arguments = WithMap;
  static constexpr int rows = S::template rows<N>;
  const Arguments& a;
  std::int64_t next = 0, step = 0;  // tile to be asked for
  float4* stages;
  tma::Barrier* full;  // (STAGES), behind the stages
  PipelineState<STAGES> to, from;

  __device__ explicit BulkTiles(const Arguments& arguments)
      : a(arguments),
        stages(stages_of_block<S>()),
        full(reinterpret_cast<tma::Barrier*>(stages + STAGES * S::tile_chunks)) {}

  __device__ void ask() {
    if (threadIdx.x == 0 && next < tiles_of<S, N>(a.problem.count)) {
      // Rows behind the last matrix arrive as zeros, and count.
      tma::expect(full + to.index, S::tile_bytes);
#pragma unroll
      for (int panel = 0; panel < N / 32; ++panel) {
        tma::load_tile(stages + to.index * S::tile_chunks + panel * rows * 8, &a.map, 32 * panel,
                       static_cast<int>(next * rows), full + to.index);
      }
    }
    next += step;
    ++to;
  }
  __device__ void start(std::int64_t first, std::int64_t tiles) {
    next = first;
    step = tiles;
    if (threadIdx.x == 0) {
      for (int s = 0; s < STAGES; ++s) tma::init(full + s, 1);
      tma::fence_init();
    }
    __syncthreads();
#pragma unroll
    for (int n = 0; n < STAGES - 1; ++n) ask();
  }
  __device__ void bring() {
    tma::wait(full + from.index, from.phase);
    __syncthreads();  // all have read the tile before
    ask();
    this->tile = stages + from.index * S::tile_chunks;
    ++from;
  }
  /// The copy engine does not queue behind loads from shared memory that are still on their way.
  __device__ void done() const { tma::fence_async_proxy(); }
};

template <class S, int N>
using TwoStages = BulkTiles<S, N, 2>;
template <class S, int N>
using ThreeStages = BulkTiles<S, N, 3>;

template <class S>
constexpr std::size_t shared_bytes(int stages) {
  return static_cast<std::size_t>(stages) * (S::tile_bytes + sizeof(tma::Barrier));
}

template <class S>
ConfigOf<Problem> two_stages() {
  return config<S, TwoStages>(2, shared_bytes<S>(2), 1, "/2-stages");
}
template <class S>
ConfigOf<Problem> three_stages() {
  return config<S, ThreeStages>(3, shared_bytes<S>(3), 2);
}

const bool registered =
    register_variant<Problem>("transpose", Strategy::tma,
                              {three_stages<Iso>(), three_stages<Two>(), three_stages<Half>(),
                               two_stages<Iso>(), two_stages<Two>(), two_stages<Half>()});

}  // namespace
}  // namespace amasia::transpose
