// lud/drop_off: the elements of C that a thread updates are read by nobody else, so they travel to
// a slot of its own while the product is computed, and the thread waits for them alone (Svedin et
// al. 2021, algorithm 3). The panels are shared by the block; they move as in overlap.
#include "apps/lud/rodinia.cuh"
#include "apps/lud/staged.cuh"
#include "variants/copies/tile.cuh"

namespace amasia::lud {
namespace {

// iso: in the diagonal and perimeter kernels a warp is the block, and a lane's columns are its own
// when it starts; what others wrote it never reads before a barrier of the computation.
__global__ void __launch_bounds__(32) rodinia_diagonal(RodiniaStep s) {
  __shared__ alignas(16) float slot[tile_elements];
  __shared__ alignas(16) float own[tile_elements];
  const int lane = threadIdx.x;
  async::copy_tile<RodiniaTile, 32>(slot, s.source(), {s.first, s.first}, lane);
  async::commit();
  async::wait<0>();
  for (int e = lane; e < RodiniaTile::chunks; e += 32) {  // its own chunks, nobody else's
    reinterpret_cast<float4*>(own)[e] = reinterpret_cast<const float4*>(slot)[e];
  }
  __syncthreads();
  factor_tile(own, s.size(), lane);
  store_rows(s, {s.first, s.first}, own, lane, 32);
}

__global__ void __launch_bounds__(32) rodinia_perimeter(RodiniaStep s) {
  __shared__ alignas(16) float diagonal_tile[tile_elements];
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  __shared__ float slots[tile][tile];  // (rows, lanes): private columns of `beside`
  const int lane = threadIdx.x, i = static_cast<int>(blockIdx.x);
  async::copy_tile<RodiniaTile, 32>(diagonal_tile, s.source(), {s.first, s.first}, lane);
  async::copy_tile<RodiniaTile, 32>(below, s.source(), s.below(i), lane);
  async::commit();
  const TileOrigin to = s.beside(i);
  const bool owns = lane < tile && to.column + lane < s.m.columns;
#pragma unroll
  for (int r = 0; r < tile; ++r) {
    if (owns) async::copy<4>(&slots[r][lane], &s.m.at(to.row + r, to.column + lane));
  }
  async::commit();
  async::wait<0>();
#pragma unroll
  for (int r = 0; r < tile; ++r) {
    if (lane < tile) beside[r * tile + lane] = owns ? slots[r][lane] : 0.0f;
  }
  __syncthreads();
  solve_perimeter(diagonal_tile, beside, below, lane);
  __syncthreads();
  store_rows(s, s.beside(i), beside, lane, 32);
  store_rows(s, s.below(i), below, lane, 32);
}

// A thread's element of C in its slot; walking, U's next tile and the next element come meanwhile.
template <class Schedule>
__global__ void __launch_bounds__(internal_threads) rodinia_internal(RodiniaStep s) {
  constexpr int stages = Schedule::tiles > 1 ? 2 : 1;
  constexpr int ahead = Schedule::tiles > 1 ? 2 : 0;           // groups of the next tile
  __shared__ alignas(16) float beside[stages][tile_elements];  // (stages, 16, 16)
  __shared__ alignas(16) float below[tile_elements];
  __shared__ float slots[stages][internal_threads];  // each thread's element of C
  const int thread = threadIdx.x, row = thread / tile, column = thread % tile;
  const RowOfTiles<Schedule> tiles(s);
  const std::int64_t r = s.next() + std::int64_t{blockIdx.y} * tile + row;
  const auto place = [&](int i) { return s.next() + std::int64_t{i} * tile + column; };
  const auto inside = [&](int i) {
    return i < tiles.end && r < s.m.rows && place(i) < s.m.columns;
  };
  const auto copy = [&](int i) {  // two groups: the tile, the element
    if (i < tiles.end) {
      async::copy_tile<RodiniaTile, internal_threads>(beside[i % stages], s.source(), s.beside(i),
                                                      thread);
    }
    async::commit();
    if (inside(i)) async::copy<4>(&slots[i % stages][thread], &s.m.at(r, place(i)));
    async::commit();
  };

  // Prologue
  async::copy_tile<RodiniaTile, internal_threads>(
      below, s.source(), s.below(static_cast<int>(blockIdx.y)), thread ^ RodiniaTile::chunks);
  copy(tiles.begin);

  // Main loop
  for (int i = tiles.begin; i < tiles.end; ++i) {
    async::wait<1>();  // the tiles; the element is still on its way
    __syncthreads();   // tile i is there, and tile i - 1 is read
    if (ahead > 0) copy(i + 1);
    const float product = inner_product(below, beside[i % stages], row, column);
    async::wait<ahead>();  // its own element, nobody else's
    if (inside(i)) s.m.at(r, place(i)) = slots[i % stages][thread] - product;
  }
}

/// Each thread waits for its own chunks of the diagonal block, pads them, and publishes them.
struct OwnChunks {
  static constexpr int cluster = 1;
  static constexpr bool pads = true;
  static __device__ bool load(unsigned char* shared, const Problem& p, int first, int size,
                              int thread) {
    float* const lu = reinterpret_cast<DiagonalBlock*>(shared)->lu;
    copy_block(lu, p, first, size, thread);
    async::commit();
    async::wait<0>();
    for (int e = thread; e < panel_width * panel_width / 4; e += block_threads) {
      const int row = e / (panel_width / 4), column = e % (panel_width / 4) * 4;
      pad_chunk(lu + row * block_pitch, row, column, size);
    }
    __syncthreads();
    return true;
  }
};

/// A thread's copies of the next slice, which were started a slice ago, are waited for before the
/// last chunk of this one; acquire() has them published.
template <class TileT>
struct OwnSlots : SliceRing<TileT> {
  using Tile = TileT;
  using Diagonal = OwnChunks;
  using Panel = CopiedPanel<Ask::early>;
  using Feed = NoFeed;

  __device__ OwnSlots(unsigned char* shared, WithoutMaps::View view, const Problem& p,
                      const TileProduct& tile, int thread)
      : SliceRing<Tile>(shared, view, p, tile, thread) {
    async::wait<SliceRing<Tile>::stages - 2>();
  }
  __device__ void acquire() const { __syncthreads(); }
  __device__ void between(int chunk) {
    this->copy(chunk);
    if (chunk == Tile::chunks - 1 && this->left_to_copy >= 0) async::wait<0>();
  }
  __device__ void between_all() {
#pragma unroll 1
    for (int chunk = 0; chunk < Tile::chunks; ++chunk) between(chunk);
  }
};

template <class Schedule>
ConfigOf<Problem> original() {
  return rodinia_config<Schedule>(rodinia_diagonal, rodinia_perimeter, rodinia_internal<Schedule>,
                                  Schedule::tiles > 1 ? 2 : 1, 3 * RodiniaTile::bytes);
}

std::vector<Declined> declined() {
  std::vector<Declined> all;
  for (std::string_view name : blocked_names(Arithmetic::tf32x3)) {
    all.push_back({std::string(name),
                   "wgmma reads rows that no single thread owns: a thread would use what others "
                   "have copied, which is overlap"});
  }
  return all;
}

const bool registered = register_variant<Problem>(
    "lud", Strategy::drop_off, configs<OwnSlots>(original<Iso>(), original<IsoWalk>()), declined());

}  // namespace
}  // namespace amasia::lud
