// gemm/baseline: pieces of A and B through registers into shared memory. At iso it is the sample's
// kernel; in the persistent schedule a piece of the next slice is fetched while a chunk is
// multiplied and stored while the next chunk is, so that a thread holds two pieces, not twelve.
#include "apps/gemm/original.cuh"
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

template <class TileT>
struct Staging {
  using Tile = TileT;
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1, stages = 2;
  static constexpr int per_chunk = Ahead<Tile>::per_chunk;
  static constexpr std::size_t shared_bytes(int) { return stages * Tile::slice_bytes; }
  static constexpr int bytes_in_flight(int) { return per_chunk * 16 * Tile::threads; }

  Ahead<Tile> ahead;
  unsigned ring;
  int thread, stage = 0;
  int4 held[per_chunk];

  __device__ Staging(unsigned char* shared, View, const Problem& p, const Walk& walk, int)
      : ahead(p, walk, static_cast<int>(threadIdx.x)),
        ring(async::shared_address(shared)),
        thread(static_cast<int>(threadIdx.x)) {
#pragma unroll 1
    for (int chunk = 0; chunk < Tile::chunks; ++chunk) between(chunk);
    finish();
  }
  __device__ void load(int chunk) {
    if (!ahead.more()) return;
#pragma unroll
    for (int i = 0; i < per_chunk; ++i) {
      const int piece = chunk * per_chunk + i;
      if (piece < Pieces<Tile>::count) {
        held[i] = *static_cast<const int4*>(ahead.pieces.global(ahead.slice, piece));
      }
    }
  }
  __device__ void store(int chunk) const {
    if (!ahead.more()) return;
#pragma unroll
    for (int i = 0; i < per_chunk; ++i) {
      const int piece = chunk * per_chunk + i;
      if (piece < Pieces<Tile>::count) {
        async::store16(ahead.place_in(ring) + ahead.pieces.shared(piece, thread), held[i]);
      }
    }
  }
  __device__ void between(int chunk) {
    if (chunk > 0) store(chunk - 1);
    load(chunk);
  }
  __device__ void finish() {
    store(Tile::chunks - 1);
    ahead.advance(stages, thread);
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

const bool registered = register_variant<Problem>(
    "gemm", Strategy::baseline,
    {iso<ThroughRegisters>(), persistent<Staging<Fp32Tile<256>>>("128x256", 2),
     persistent<Staging<Fp32Tile<128>>>("128x128", 2)});

}  // namespace
}  // namespace amasia::gemm
