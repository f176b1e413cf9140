// lud/drop_off: the elements of C that a thread updates are read by nobody else, so they travel to
// a slot of its own while the product is computed, and the thread waits for them alone (Svedin et
// al. 2021, algorithm 3). The panels are shared by the block; they move as in overlap. The slots
// are the ring's stages again: when its last slices are being multiplied, the first stages are free
// for C.
#include "apps/lud/rodinia.cuh"
#include "apps/lud/staged.cuh"
#include "variants/copies/tile_by_cp_async.cuh"

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

template <class TileT>
struct OwnSlots {
  using Tile = TileT;
  using Diagonal = OwnChunks;
  using Panel = CopiedPanel<Ask::early>;
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1, stages = 3;
  static constexpr std::size_t shared_bytes = stages * Tile::slice_bytes;
  static constexpr std::size_t bytes_in_flight = (stages - 1) * Tile::slice_bytes;
  // Four of a thread's rows fill a stage: half of a large tile, a whole small one.
  static constexpr int groups = Tile::columns_per_thread / 4;
  static constexpr int rows_per_slot = 4;
  static constexpr int per_chunk = rows_per_slot * groups / Tile::chunks;
  static_assert(rows_per_slot * groups * 16 * Tile::threads <= Tile::slice_bytes &&
                    per_chunk * Tile::chunks == rows_per_slot * groups,
                "a stage takes four rows, and each chunk brings a share of them");

  Stages<Tile> ring;
  Pieces<Tile> pieces;
  const Problem& problem;
  const TileProduct& t;
  int thread;
  int left_to_copy;  // slices; -1, -2: stages of C are under way

  __device__ OwnSlots(unsigned char* shared, View, const Problem& p, const TileProduct& tile,
                      int thread_)
      : ring(shared, stages),
        pieces(p, tile, thread_),
        problem(p),
        t(tile),
        thread(thread_),
        left_to_copy(tile.depth / Tile::k) {
#pragma unroll 1
    for (int s = 0; s < stages - 1; ++s) {
#pragma unroll Tile::shares_unrolled
      for (int chunk = 0; chunk < Tile::chunks; ++chunk) copy(chunk);
      end_slice();
    }
    async::wait<stages - 2>();
  }
  __device__ float* element(int i, int g) const {
    return &problem.matrix.at(Tile::first_row(t, thread) + 8 * i,
                              Tile::first_column(t, thread) + 16 * g);
  }
  /// Pieces of a warp's lanes lie side by side: no bank is asked twice.
  __device__ unsigned slot(unsigned stage, int i, int g) const {
    return stage +
           static_cast<unsigned>(((i % rows_per_slot * groups + g) * Tile::threads + thread) * 16);
  }
  __device__ bool inside(int i, int g) const {
    return Tile::first_row(t, thread) + 8 * i < problem.matrix.rows &&
           Tile::first_column(t, thread) + 16 * g < problem.matrix.pitch;
  }
  /// A share of the next slice, or, behind the last one, of the thread's own elements.
  __device__ void copy(int chunk) {
    const unsigned stage = ring.at(ring.next);
    if (left_to_copy > 0) {
      pieces.share(chunk, [&](unsigned to, const float* from) { async::copy16(stage + to, from); });
    } else if (t.subtract) {
      const int first = -left_to_copy * rows_per_slot;
      if (first >= Tile::rows_per_thread) return;
#pragma unroll
      for (int k = 0; k < per_chunk; ++k) {
        const int piece = chunk * per_chunk + k;
        const int i = first + piece / groups, g = piece % groups;
        if (inside(i, g)) async::copy16(slot(stage, i, g), element(i, g));
      }
    }
  }
  __device__ void end_slice() {
    async::commit();
    pieces.next_slice();
    --left_to_copy;
    ring.step(ring.next);
  }
  __device__ void acquire() const { __syncthreads(); }
  __device__ unsigned slice() const { return ring.slice(); }
  // A thread's copies of the next slice, which were started a slice ago, are waited for before the
  // last chunk of this one; acquire() has them published.
  __device__ void between(int chunk) {
    copy(chunk);
    if (chunk == Tile::chunks - 1 && left_to_copy >= 0) async::wait<0>();
  }
  __device__ void between_all() {
#pragma unroll 1
    for (int chunk = 0; chunk < Tile::chunks; ++chunk) between(chunk);
  }
  __device__ void release() {
    end_slice();
    ring.step(ring.here);
  }
  __device__ void finish(const typename Tile::Accumulator& acc, int) const {
    async::wait<0>();  // this thread's own elements, nobody else's
    // The last two turns of the ring were C's; the second one was idle with a small tile.
    unsigned stage = ring.at((ring.next + 1) % stages);
#pragma unroll
    for (int i = 0; i < Tile::rows_per_thread; ++i) {
      if (i == rows_per_slot) stage = ring.at((ring.next + 2) % stages);
#pragma unroll
      for (int g = 0; g < groups; ++g) {
        const float4 own = async::load_float4(slot(stage, i, g));
        if (inside(i, g)) {
          *reinterpret_cast<float4*>(element(i, g)) =
              less(t.subtract ? own : float4{}, &acc.c[i][4 * g]);
        }
      }
    }
  }
};

template <class Schedule>
ConfigOf<Problem> original() {
  return rodinia_config<Schedule>(rodinia_diagonal, rodinia_perimeter, rodinia_internal<Schedule>,
                                  Schedule::tiles > 1 ? 2 : 1, 3 * RodiniaTile::bytes);
}

const bool registered = register_variant<Problem>(
    "lud", Strategy::drop_off, configs<OwnSlots>(original<Iso>(), original<IsoWalk>()));

}  // namespace
}  // namespace amasia::lud
