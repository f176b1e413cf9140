// lud/register_bypass: panels and diagonal tiles by cp.async, waited for at once (Svedin et al.
// 2021, algorithm 1). One stage per block; what hides its latency is the other block of the SM.
#include "apps/lud/rodinia_tiles.cuh"
#include "apps/lud/staged.cuh"

namespace amasia::lud {
namespace {

template <class Schedule>
__global__ void __launch_bounds__(internal_threads) rodinia_internal(RodiniaStep s) {
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  const int thread = threadIdx.x, row = thread / tile, column = thread % tile;
  const RowOfTiles<Schedule> tiles(s);
  async::copy_tile<RodiniaTile, internal_threads>(
      below, s.source(), s.below(static_cast<int>(blockIdx.y)), thread ^ RodiniaTile::chunks);
  const std::int64_t r = s.next() + std::int64_t{blockIdx.y} * tile + row;
  for (int i = tiles.begin; i < tiles.end; ++i) {
    async::copy_tile<RodiniaTile, internal_threads>(beside, s.source(), s.beside(i), thread);
    async::commit();
    async::wait<0>();
    __syncthreads();
    const std::int64_t c = s.next() + std::int64_t{i} * tile + column;
    if (r < s.m.rows && c < s.m.columns) s.m.at(r, c) -= inner_product(below, beside, row, column);
    if (Schedule::tiles > 1) __syncthreads();  // the tile has been read
  }
}

template <class TileT>
struct AtOnce : WithoutMaps {
  using Tile = TileT;
  using Diagonal = AsyncChunks;
  using Panel = CopiedPanel<Ask::when_due>;
  using Feed = CopyFeed<1>;
  static constexpr int stages = 1, rows_before = 0;
  static constexpr std::size_t shared_bytes = stages * Tile::slice_bytes;
  static constexpr std::size_t bytes_in_flight = Tile::slice_bytes;

  Stages<Tile> stage;
  Pieces<Tile> pieces;
  const Problem& problem;
  const TileProduct& t;

  __device__ AtOnce(unsigned char* shared, View, const Problem& p, const TileProduct& tile,
                    int thread)
      : stage(shared, stages), pieces(p, tile, thread), problem(p), t(tile) {}
  __device__ void acquire() {
#pragma unroll Tile::shares_unrolled
    for (int chunk = 0; chunk < Tile::chunks; ++chunk) {
      pieces.share(chunk,
                   [&](unsigned to, const float* from) { async::copy16(stage.at(0) + to, from); });
    }
    pieces.next_slice();
    async::commit();
    async::wait<0>();
    __syncthreads();
  }
  __device__ unsigned slice() const { return stage.slice(); }
  __device__ void between(int) const {}
  __device__ void between_all() const {}
  __device__ void release() const { __syncthreads(); }
  __device__ void finish(const typename Tile::Accumulator& acc, int thread) const {
    finish_in_global<Tile>(acc, problem.matrix, t, thread);
  }
};

template <class Schedule>
ConfigOf<Problem> original() {
  return rodinia_with<Schedule, TilesByCpAsync>(rodinia_internal<Schedule>, 1);
}

const bool registered = register_variant<Problem>(
    "lud", Strategy::register_bypass, configs<AtOnce>(original<Iso>(), original<IsoWalk>()));

}  // namespace
}  // namespace amasia::lud
