// lud/baseline: everything through registers. iso is Rodinia's; the blocked configs fetch, while a
// slice is multiplied, the next one, 32 bytes per thread and eighth of the slice: eight registers
// hide the latency where a whole slice would need 64.
#include "apps/lud/blocked.cuh"
#include "apps/lud/rodinia_tiles.cuh"
#include "apps/lud/through_registers.cuh"
#include "variants/ptx/global_memory.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::lud {
namespace {

// Walking, a thread holds its share of U's next tile while this one is multiplied.
template <class Schedule>
__global__ void __launch_bounds__(internal_threads) rodinia_internal(RodiniaStep s) {
  constexpr bool walks = Schedule::tiles > 1;
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  const int thread = threadIdx.x, row = thread / tile, column = thread % tile;
  const RowOfTiles<Schedule> tiles(s);

  // Prologue
  HeldTile held(s, tiles.begin, tiles.end, thread);
  baseline::copy_tile<RodiniaTile, internal_threads>(
      below, s.source(), s.below(static_cast<int>(blockIdx.y)), thread ^ RodiniaTile::chunks);
  const std::int64_t r = s.next() + std::int64_t{blockIdx.y} * tile + row;

  // Main loop
  for (int i = tiles.begin; i < tiles.end; ++i) {
    held.store(beside, thread);
    if (walks) held = HeldTile(s, i + 1, tiles.end, thread);
    __syncthreads();
    const std::int64_t c = s.next() + std::int64_t{i} * tile + column;
    if (r < s.m.rows && c < s.m.columns) s.m.at(r, c) -= inner_product(below, beside, row, column);
    if (walks) __syncthreads();  // the tile has been read
  }
}

/// What a thread holds between loads and stores: the pieces that came with one chunk, if any did,
/// and where in the stage they go.
template <class Tile>
struct Share {
  int4 held[Pieces<Tile>::per_chunk];
  unsigned place;
  bool any = false;

  __device__ void load(Pieces<Tile>& pieces, int chunk) {
    // First from where, then the loads, once: two loads into one register, of which only one is
    // done, would wait for each other.
    const float* sources[Pieces<Tile>::per_chunk];
    int count = 0;
    pieces.share(chunk, [&](unsigned to, const float* from) {
      if (count == 0) place = to;
      sources[count++] = from;
    });
    any = count > 0;
    if (!any) return;
#pragma unroll
    for (int i = 0; i < Pieces<Tile>::per_chunk; ++i) held[i] = global::load16(sources[i]);
  }
  __device__ void store(unsigned stage) const {
    if (!any) return;
#pragma unroll
    for (int i = 0; i < Pieces<Tile>::per_chunk; ++i) {
      async::store16(stage + place + static_cast<unsigned>(i * Pieces<Tile>::stride), held[i]);
    }
  }
};

/// Two stages of shared memory; what is loaded with one chunk is stored with the next.
template <class TileT>
struct ThroughRegisters : WithoutMaps {
  using Tile = TileT;
  using Diagonal = ChunksThroughRegisters;
  using Panel = PanelThroughRegisters;
  using Feed = RegisterFeed;
  static constexpr int stages = 2, rows_before = 1;
  static constexpr std::size_t shared_bytes = stages * Tile::slice_bytes;
  static constexpr std::size_t bytes_in_flight =
      Pieces<Tile>::per_chunk * 16 * Tile::threads;  // in registers

  unsigned ring;
  Pieces<Tile> pieces;
  const Problem& problem;
  const TileProduct& t;
  int left_to_load;  // slices
  int stage = 0;
  unsigned next;  // stage that is filled
  Share<Tile> share;

  __device__ ThroughRegisters(unsigned char* shared, View, const Problem& p,
                              const TileProduct& tile, int thread)
      : ring(async::shared_address(shared)),
        pieces(p, tile, thread),
        problem(p),
        t(tile),
        left_to_load(tile.depth / Tile::k),
        next(ring) {
    bring_slice();  // in the registers of the sums
    go_on();
  }
  // Without a branch where it matters, which would have each load waited for where paths join: only
  // a small tile's last chunks have nothing to load (Pieces). Behind the last slice
  // it is loaded once more, into the stage that nobody reads.
  __device__ void between(int chunk) {
    if (chunk > 0) share.store(next);
    share.load(pieces, chunk);
  }
  /// A wait for every three shares: more are more registers than there are.
  __device__ void between_all() {
    if (left_to_load <= 0) return;
    constexpr int at_once = 3;
#pragma unroll 1
    for (int first = 0; first < Pieces<Tile>::most_chunks; first += at_once) {
      Share<Tile> shares[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i) shares[i].load(pieces, first + i);
#pragma unroll
      for (const Share<Tile>& part : shares) part.store(next);
    }
  }
  /// All shares at once.
  __device__ __forceinline__ void bring_slice() {
    Share<Tile> slice[Pieces<Tile>::most_chunks];
#pragma unroll
    for (int chunk = 0; chunk < Pieces<Tile>::most_chunks; ++chunk) {
      slice[chunk].load(pieces, chunk);
    }
#pragma unroll
    for (const Share<Tile>& part : slice) part.store(next);
  }
  /// To the next slice and stage.
  __device__ void go_on() {
    if (--left_to_load > 0) {
      pieces.next_slice();
    } else {
      pieces.repeat_slice();
    }
    next = ring + static_cast<unsigned>(Tile::slice_bytes) - (next - ring);
  }
  // Stored by all, and the other stage is read.
  __device__ void acquire() const { __syncthreads(); }
  __device__ unsigned slice() const {
    return ring + static_cast<unsigned>(stage * Tile::slice_bytes);
  }
  __device__ void release() {
    share.store(next);
    go_on();
    stage ^= 1;
  }
  __device__ void finish(const typename Tile::Accumulator& acc, int thread) const {
    finish_in_global<Tile>(acc, problem.matrix, t, thread);
  }
};

template <class Schedule>
ConfigOf<Problem> original() {
  return rodinia_with<Schedule, TilesThroughRegisters>(rodinia_internal<Schedule>, 1);
}

const bool registered = register_variant<Problem>(
    "lud", Strategy::baseline, configs<ThroughRegisters>(original<Iso>(), original<IsoWalk>()));

}  // namespace
}  // namespace amasia::lud
