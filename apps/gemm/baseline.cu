// gemm/baseline: pieces of A and B through registers into shared memory. At iso it is the sample's
// kernel; in the persistent schedule a piece of the next slice is fetched while a chunk is
// multiplied and stored while the next chunk is, so that a thread holds two pieces, not sixteen.
#include "apps/gemm/mma_tile.cuh"
#include "apps/gemm/original.cuh"
#include "apps/gemm/shared.cuh"
#include "apps/gemm/staged.cuh"

namespace amasia::gemm {
namespace {

struct ThroughRegisters : SharedTiles<1> {
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1, stages = 1;
  static constexpr int shared_bytes = pair_bytes, bytes_in_flight = pair_bytes;
  OwnElements own;

  __device__ ThroughRegisters(unsigned char* shared, View, const Problem& p, std::int64_t row,
                              std::int64_t column, int)
      : SharedTiles<1>{reinterpret_cast<float*>(shared)}, own(p, row, column) {}
  __device__ void acquire(int s) const {
    a_tile(s)[threadIdx.x] = own.has_a(s) ? own.a.at(own.row, own.a_column(s)) : 0.0f;
    b_tile(s)[threadIdx.x] = own.has_b(s) ? own.b.at(own.b_row(s), own.column) : 0.0f;
    __syncthreads();
  }
  __device__ void release(int) const { __syncthreads(); }
};

/// HELD: shares (Pieces::per_chunk) that a thread holds, loaded that many chunks before they are
/// stored.
template <class TileT, class WalkT = Walk, int HELD = 1>
struct Staging {
  using Tile = TileT;
  using Walk = WalkT;
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1, stages = 2;
  static constexpr int per_chunk = Pieces<Tile>::per_chunk;
  static_assert(per_chunk * Tile::chunks == Pieces<Tile>::count, "each chunk brings a share");
  static constexpr std::size_t shared_bytes(int) { return stages * Tile::slice_bytes; }
  static constexpr int bytes_in_flight(int) { return HELD * per_chunk * 16 * Tile::threads; }

  Ahead<Tile, Walk> ahead;
  unsigned ring;
  Target<Tile> target;
  int thread, stage = 0;
  int4 held[HELD][per_chunk];

  __device__ Staging(unsigned char* shared, View, const Problem& p, const Walk& walk, int)
      : ahead(p, walk, static_cast<int>(threadIdx.x)),
        ring(async::shared_address(shared)),
        target(ring, static_cast<int>(threadIdx.x)),
        thread(static_cast<int>(threadIdx.x)) {
    target.enter(0);
#pragma unroll
    for (int chunk = 0; chunk < Tile::chunks; ++chunk) between(chunk);
    finish();
  }
  __device__ static bool due(int chunk) { return Pieces<Tile>::due(chunk); }
  __device__ void load(int slot) {
    Source& from = ahead.pieces_from(per_chunk, thread);
#pragma unroll
    for (int i = 0; i < per_chunk; ++i) held[slot][i] = *static_cast<const int4*>(from.take());
  }
  __device__ void store(int slot) {
    int i = 0;
    target.template take<per_chunk>([&](unsigned to) { async::store16(to, held[slot][i++]); });
  }
  // Without a branch, which would have each load waited for where paths join: behind the last slice
  // it is loaded once more, into the stage that nobody reads.
  __device__ void between(int chunk) {
    if (chunk >= HELD) store(chunk % HELD);
    load(chunk % HELD);
  }
  __device__ void finish() {
#pragma unroll
    for (int chunk = Tile::chunks - HELD; chunk < Tile::chunks; ++chunk) store(chunk % HELD);
    ahead.next_slice(stages, thread);
    target.enter(ahead.stage);
  }
  __device__ unsigned here() const {
    return ring + static_cast<unsigned>(stage * Tile::slice_bytes);
  }
  __device__ typename Tile::Left left(int t) const { return {here(), t}; }
  __device__ unsigned b() const { return here() + Tile::a_bytes; }
  __device__ void acquire() const {
    __syncthreads();
  }  // stored by all, and the other stage is read
  __device__ void release() {
    finish();
    stage ^= 1;
  }
  __device__ void leave() const {}
};

// A chunk takes mma an eighth of the time that it takes FFMA, less than a load: half a slice is
// held, and warps have fewer elements of C to make room.
template <Mode MODE, int N>
using HalfSlice = Staging<MmaTile<MODE, N, 32>, Walk, 4>;

const bool registered = register_variant<Problem>(
    "gemm", Strategy::baseline,
    {iso<ThroughRegisters>(), shared<Staging<Fp32Tile<128>, SharedWalk>>("128x128-shared", 2),
     persistent<Staging<Fp32Tile<128>>>("128x128", 2),
     persistent<HalfSlice<Mode::tf32, 128>>("tf32-128x128", 2),
     persistent<HalfSlice<Mode::bf16, 128>>("bf16-128x128", 2)});

}  // namespace
}  // namespace amasia::gemm
