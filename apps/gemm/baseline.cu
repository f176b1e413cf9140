// gemm/baseline: pieces of A and B through registers into shared memory. At iso it is the sample's
// kernel; in the persistent schedule a piece of the next slice is fetched while a chunk is
// multiplied and stored while the next chunk is, so that a thread holds two pieces, not sixteen.
#include "apps/gemm/mma_tile.cuh"
#include "apps/gemm/own_elements.cuh"
#include "apps/gemm/staged.cuh"
#include "variants/ptx/bulk.cuh"

namespace amasia::gemm {
namespace {

struct ThroughRegisters : SharedTiles<1> {
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1, stages = 1;
  static constexpr int shared_bytes = pair_bytes, bytes_in_flight = pair_bytes;
  NextElements own;

  __device__ ThroughRegisters(unsigned char* shared, View, const Problem& p, std::int64_t row,
                              std::int64_t column, int)
      : SharedTiles<1>{reinterpret_cast<float*>(shared)}, own({p, row, column}) {}
  __device__ void acquire(int s) {
    a_tile(s)[threadIdx.x] = own.a.has(s) ? *own.a.next : 0.0f;
    b_tile(s)[threadIdx.x] = own.b.has(s) ? *own.b.next : 0.0f;
    own.move_on();
    __syncthreads();
  }
  __device__ void release(int) const { __syncthreads(); }
};

/// HELD: shares (Pieces::per_chunk) that a thread holds, loaded that many chunks before they are
/// stored.
template <class TileT, class WalkT = WalkOf<TileT>, int HELD = 1>
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
  __device__ void load(int slot, Source& from) {
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
    Source& from = ahead.pieces_from(per_chunk, thread);
    if (chunk >= HELD) store(chunk % HELD);
    load(chunk % HELD, from);
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

/// The same for wgmma, which reads shared memory as the engine does, so that each thread fences
/// what it has stored. While a slice is multiplied, the next one is stored, which a thread held
/// since the slice before, and the one after it is loaded.
template <class TileT, class WalkT = WalkOf<TileT>>
struct WgmmaStaging {
  using Tile = TileT;
  using Walk = WalkT;
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  // The third is of the slice that was multiplied last and may still be read.
  static constexpr int cluster = 1, stages = 3;
  static constexpr int per_chunk = Pieces<Tile>::per_chunk, count = Pieces<Tile>::count;
  static_assert(per_chunk * Tile::chunks == count);
  static constexpr std::size_t shared_bytes(int) { return stages * Tile::slice_bytes; }
  static constexpr int bytes_in_flight(int) { return Tile::slice_bytes; }

  unsigned char* ring;
  Ahead<Tile, Walk> ahead;
  Target<Tile> target;
  int thread, stage = 0, filled = 0;
  int4 held[count];

  __device__ WgmmaStaging(unsigned char* shared, View, const Problem& p, const Walk& walk, int)
      : ring(shared),
        ahead(p, walk, static_cast<int>(threadIdx.x)),
        target(async::held_address(shared), static_cast<int>(threadIdx.x)),
        thread(static_cast<int>(threadIdx.x)) {
    load();
    meanwhile();
  }
  __device__ void load() {
#pragma unroll
    for (int first = 0; first < count; first += per_chunk) {
      Source& from = ahead.pieces_from(per_chunk, thread);
#pragma unroll
      for (int i = first; i < first + per_chunk; ++i) {
        held[i] = *static_cast<const int4*>(from.take());
      }
    }
  }
  __device__ void store() {
    target.enter(filled);
    int i = 0;
#pragma unroll
    for (int chunk = 0; chunk < Tile::chunks; ++chunk) {
      target.template take<per_chunk>([&](unsigned to) { async::store16(to, held[i++]); });
    }
    if (++filled == stages) filled = 0;
  }
  __device__ void acquire() const {
    tma::fence_async_proxy();
    __syncthreads();  // stored by all, and the slice two before this one is read by all
  }
  __device__ const unsigned char* a_tile() const { return ring + stage * Tile::slice_bytes; }
  __device__ const unsigned char* b_tile() const { return a_tile() + Tile::a_bytes; }
  // Nothing branches while loads are on their way: they would be waited for where the ways join.
  // Behind the last slice a thread loads what it need not, into a stage that nobody reads.
  __device__ void meanwhile() {
    store();
    ahead.next_slice(stages, thread);
    load();
  }
  __device__ void release() {
    if (++stage == stages) stage = 0;
  }
  __device__ void leave() const {}
};

/// A producing warpgroup whose threads load pieces and store them: all of a slice, or, where those
/// that multiply need most registers, a share at a time.
template <class Tile, class Walk>
struct RegisterProducer : PieceProducer<Tile, Walk> {
  using Base = PieceProducer<Tile, Walk>;
  using Fed = typename Base::Fed;
  static constexpr int count = Pieces<Fed>::count, at_once = 4;
  static_assert(Pieces<Fed>::per_chunk % at_once == 0, "all from one operand");
  static constexpr int left = producer_registers(Tile::registers), others = 40;
  static constexpr int pieces_held() {
    int pieces = count;
    while (pieces > at_once && (4 * pieces + others > left || count % pieces != 0)) {
      pieces -= at_once;
    }
    return pieces;
  }
  static constexpr int share = pieces_held();
  static constexpr int bytes_in_flight = share * 16 * warpgroup;
  static constexpr int registers = (bytes_in_flight / (4 * warpgroup) + others) / 8 * 8;

  static __device__ __forceinline__ void produce(const Stages<Tile>& stages, NoMaps,
                                                 const Problem& p, const Walk& walk) {
    const int thread = static_cast<int>(threadIdx.x);
    Ahead<Fed, Walk> ahead(p, walk, thread);
    Target<Fed> target(async::shared_address(stages.slices), thread);
#pragma unroll 1
    for (typename Stages<Tile>::State state; ahead.more(); ++state) {
#pragma unroll
      for (int first = 0; first < count; first += share) {
        int4 held[share];
#pragma unroll
        for (int i = 0; i < share; ++i) {
          if (i % at_once == 0) ahead.pieces_from(at_once, thread);
          held[i] = *static_cast<const int4*>(ahead.source.take());
        }
        if (first + share == count) ahead.next_slice(Stages<Tile>::count, thread);
        if (first == 0) {
          stages.acquire(state);
          target.enter(state.index);
        }
        int i = 0;
#pragma unroll
        for (int part = 0; part < share / at_once; ++part) {
          target.template take<at_once>([&](unsigned to) { async::store16(to, held[i++]); });
        }
      }
      Base::hand_over(stages.full(state));
    }
  }
};

// A chunk takes mma an eighth of the time that it takes FFMA, less than a load: with 8 warps, which
// have fewer elements of C, a thread holds half a slice.
template <Mode MODE>
using HalfSlice = Staging<MmaTile<MODE, 128, 32>, SharedWalk, 4>;

const char* const uneven =
    "a thread's 12 pieces of a slice do not divide evenly over its 8 chunks, and a load under a "
    "condition is waited for where the ways join";

const char* const few_registers =
    "beside 128 elements of C a thread has registers for a quarter of a slice, which mma.sync is "
    "done "
    "with before the loads are: 8 warps of 64 x 32 hold half a slice";

const char* const no_registers =
    "FFMA with 128 elements of C a thread leaves a producing thread 40 registers, which hold the "
    "places of its pieces and no four pieces besides: ptxas spills, and half of the FFMA wait for "
    "a "
    "register bank";

std::vector<Declined> declined() {
  auto all = decline({ffma_128x256.whole, tf32_mma_128x256.whole, bf16_mma_128x256.whole}, uneven);
  for (const TileSchedule& t : {tf32_mma_128x128, bf16_mma_128x128}) {
    for (Declined& d : decline({t.whole, t.shared}, few_registers)) all.push_back(std::move(d));
  }
  all.push_back({std::string(ffma_producer_128x256.whole), no_registers});
  return all;
}

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all{iso<ThroughRegisters>(),
                                     shared<Staging<Fp32Tile<128>, SharedWalk>>(2),
                                     persistent<Staging<Fp32Tile<128>>>(2)};
  add_wgmma<WgmmaStaging>(all, 3);
  all.push_back(persistent<HalfSlice<Mode::tf32>>(2));
  all.push_back(persistent<HalfSlice<Mode::bf16>>(2));
  add_roles<RegisterProducer>(all);
  return all;
}

const bool registered =
    register_variant<Problem>("gemm", Strategy::baseline, configs(), declined());

}  // namespace
}  // namespace amasia::gemm
