// convolution_1d/tma: a tile and its margins are one run of bytes, which one thread asks the copy
// engine for; an mbarrier counts them. The stages are as in overlap.
#include "kernel.cuh"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/bulk.cuh"

namespace amasia::convolution_1d {
namespace {

template <class S, int STAGES>
struct BulkTiles : TileInShared<S> {
  const Problem& p;
  TileWalk next;  // to be asked for
  float4* stages;
  tma::Barrier* full;  // (STAGES), behind the stages
  PipelineState<STAGES> to, from;

  __device__ BulkTiles(const Problem& problem, const TileWalk& walk)
      : p(problem),
        next(walk),
        stages(stages_of_block<S>()),
        full(reinterpret_cast<tma::Barrier*>(stages + STAGES * S::stage_chunks)) {}

  __device__ void ask() {
    if (threadIdx.x == 0 && next.row < p.in.rows) {
      tma::expect(full + to.index, tile_bytes<S>);
      tma::load_bytes(stages + to.index * S::stage_chunks, source<S>(p, next), tile_bytes<S>,
                      full + to.index);
    }
    ++next;
    ++to;
  }
  __device__ void start() {
    if (threadIdx.x == 0) {
      for (int s = 0; s < STAGES; ++s) tma::init(full + s, 1);
      tma::fence_init();
    }
    __syncthreads();
#pragma unroll
    for (int n = 0; n < STAGES - 1; ++n) ask();
  }
  __device__ const float4* bring() {
    tma::wait(full + from.index, from.phase);
    __syncthreads();  // all have read the tile before
    ask();
    this->tile = stages + from.index * S::stage_chunks;
    ++from;
    return this->tile;
  }
  /// The copy engine does not queue behind loads from shared memory that are still on their way.
  __device__ void done() const { tma::fence_async_proxy(); }
};

template <class S>
using ThreeStages = BulkTiles<S, 3>;
template <class S>
using FourStages = BulkTiles<S, 4>;

template <class S, int STAGES>
constexpr std::size_t shared_bytes = STAGES*(stage_bytes<S> + sizeof(tma::Barrier));

template <class S>
ConfigOf<Problem> three_stages() {
  return config<S, ThreeStages>(3, shared_bytes<S, 3>, 2 * tile_bytes<S>);
}
template <class S>
ConfigOf<Problem> four_stages() {
  return config<S, FourStages>(4, shared_bytes<S, 4>, 3 * tile_bytes<S>, "/4-stages");
}

const bool registered = register_variant<Problem>(
    "convolution_1d", Strategy::tma,
    {three_stages<Iso>(), three_stages<Lanes>(), three_stages<One>(), three_stages<Two>(),
     three_stages<Four>(), four_stages<Lanes>(), four_stages<One>(), four_stages<Two>()});

}  // namespace
}  // namespace amasia::convolution_1d
