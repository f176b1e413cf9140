// lud/overlap: a ring of panel slices; while one is multiplied, cp.async brings the next ones
// (Svedin et al. 2021, algorithm 2, corrected: docs/papers.md). In iso a block has one tile of L
// and one of U: their second halves travel while the first are multiplied. In iso-walk U's next
// tile does.
#include "apps/lud/rodinia_tiles.cuh"
#include "apps/lud/staged.cuh"

namespace amasia::lud {
namespace {

/// Starts the copy of a thread's chunk of L's or U's tile, if it belongs to this half of the depth.
__device__ void copy_half(int half, float* below, float* beside, const RodiniaStep& s, int thread) {
  constexpr int chunks = RodiniaTile::chunks;
  if (thread >= 2 * chunks) return;
  const bool of_left = thread >= chunks;
  const int e = thread % chunks;
  if (half != (of_left ? e % RodiniaTile::chunks_per_row : e / RodiniaTile::chunks_per_row) * 2 /
                  (of_left ? RodiniaTile::chunks_per_row : tile)) {
    return;
  }
  const Grid<const float> m = s.source();
  const Chunk c = chunk_of<RodiniaTile>(
      e, m,
      of_left ? s.below(static_cast<int>(blockIdx.y)) : s.beside(static_cast<int>(blockIdx.x)));
  async::copy<16>((of_left ? below : beside) + c.tile_offset,
                  m.data + (c.inside > 0 ? c.grid_offset : 0),
                  c.inside * static_cast<int>(sizeof(float)));
}

__global__ void __launch_bounds__(internal_threads) rodinia_internal(RodiniaStep s) {
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  const int thread = threadIdx.x, row = thread / tile, column = thread % tile;
  for (int half = 0; half < 2; ++half) {
    copy_half(half, below, beside, s, thread);
    async::commit();
  }
  const std::int64_t r = s.next() + std::int64_t{blockIdx.y} * tile + row;
  const std::int64_t c = s.next() + std::int64_t{blockIdx.x} * tile + column;
  async::wait<1>();
  __syncthreads();
  const float sum = inner_product<0, tile / 2>(below, beside, row, column);
  async::wait<0>();
  __syncthreads();
  if (r < s.m.rows && c < s.m.columns) {
    s.m.at(r, c) -= inner_product<tile / 2, tile>(below, beside, row, column, sum);
  }
}

__global__ void __launch_bounds__(internal_threads) rodinia_internal_walk(RodiniaStep s) {
  __shared__ alignas(16) float beside[2][tile_elements];  // (stages, 16, 16)
  __shared__ alignas(16) float below[tile_elements];
  const int thread = threadIdx.x, row = thread / tile, column = thread % tile;
  const RowOfTiles<IsoWalk> tiles(s);
  const auto prefetch = [&](int i) {
    if (i < tiles.end) {
      async::copy_tile<RodiniaTile, internal_threads>(beside[i % 2], s.source(), s.beside(i),
                                                      thread);
    }
    async::commit();  // an empty group past the last tile keeps the count right
  };
  async::copy_tile<RodiniaTile, internal_threads>(
      below, s.source(), s.below(static_cast<int>(blockIdx.y)), thread ^ RodiniaTile::chunks);
  prefetch(tiles.begin);
  const std::int64_t r = s.next() + std::int64_t{blockIdx.y} * tile + row;
  for (int i = tiles.begin; i < tiles.end; ++i) {
    async::wait<0>();
    __syncthreads();  // tile i is there, and tile i - 1 is read
    prefetch(i + 1);
    const std::int64_t c = s.next() + std::int64_t{i} * tile + column;
    if (r < s.m.rows && c < s.m.columns) {
      s.m.at(r, c) -= inner_product(below, beside[i % 2], row, column);
    }
  }
}

/// A slice is waited for when it is due.
template <class TileT>
struct Ring : SliceRing<TileT> {
  using Tile = TileT;
  using Diagonal = AsyncChunks;
  using Panel = CopiedPanel<Ask::early>;
  using Feed = CopyFeed<TensorStages::count - 1>;
  using SliceRing<Tile>::SliceRing;

  __device__ void acquire() const {
    async::wait<SliceRing<Tile>::stages - 2>();
    __syncthreads();  // the slice is there, and the one before it is read
  }
  __device__ void between(int chunk) { this->copy(chunk); }
  __device__ void between_all() { this->copy_all(); }
};

const bool registered = register_variant<Problem>(
    "lud", Strategy::overlap,
    configs<Ring>(rodinia_with<Iso, TilesByCpAsync>(rodinia_internal, 2),
                  rodinia_with<IsoWalk, TilesByCpAsync>(rodinia_internal_walk, 2)));

}  // namespace
}  // namespace amasia::lud
