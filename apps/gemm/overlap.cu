// gemm/overlap: a ring of slices by cp.async; while one is multiplied the next ones are on their
// way (Svedin et al. 2021, algorithm 2, corrected: docs/papers.md).
#include "apps/gemm/mma_tile.cuh"
#include "apps/gemm/original.cuh"
#include "apps/gemm/staged.cuh"
#include "variants/ptx/bulk.cuh"

namespace amasia::gemm {
namespace {

struct TwoStages : SharedTiles<2> {
  static constexpr int shared_bytes = stages * pair_bytes, bytes_in_flight = pair_bytes;
  NextElements own;

  __device__ TwoStages(unsigned char* shared, View, const Problem& p, std::int64_t row,
                       std::int64_t column, int)
      : SharedTiles(shared), own({p, row, column}) {
    copy(0);
  }
  __device__ void copy(int s) {
    async::copy<4>(a_tile(s) + threadIdx.x, own.a.next, own.a.has(s) ? 4 : 0);
    async::copy<4>(b_tile(s) + threadIdx.x, own.b.next, own.b.has(s) ? 4 : 0);
    own.move_on();
    async::commit();
  }
  __device__ void acquire(int s) {
    copy(s + 1);  // nothing, after the last tile
    async::wait<1>();
    __syncthreads();
  }
  __device__ void release(int) const { __syncthreads(); }
  __device__ void leave() const { async::wait<0>(); }
};

template <class Tile, class Walk = WalkOf<Tile>>
struct Ring : PieceMover<Tile, Walk> {
  static constexpr std::size_t shared_bytes(int stages) {
    return static_cast<std::size_t>(stages) * Tile::slice_bytes;
  }
  static constexpr int bytes_in_flight(int stages) { return (stages - 1) * Tile::slice_bytes; }

  unsigned ring;
  Copies<Tile, Walk> copies;
  int stages, stage = 0;

  __device__ Ring(unsigned char* shared, NoMaps, const Problem& p, const Walk& walk, int count)
      : ring(async::held_address(shared)), copies(ring, p, walk, count), stages(count) {
#pragma unroll 1
    for (int s = 0; s < stages - 1; ++s) {
      copies.start_slice();
      copies.end_slice();
    }
  }
  __device__ void acquire() const {
    switch (stages) {  // groups that may be unfinished when the oldest has to be there
      case 2:
        async::wait<0>();
        break;
      case 3:
        async::wait<1>();
        break;
      default:
        async::wait<2>();
    }
    __syncthreads();  // the slice is there for all, and the one before it is read by all
  }
  __device__ unsigned here() const {
    return ring + static_cast<unsigned>(stage * Tile::slice_bytes);
  }
  __device__ typename Tile::Left left(int t) const { return {here(), t}; }
  __device__ unsigned b() const { return here() + Tile::a_bytes; }
  __device__ void between(int chunk) { copies.start_share(chunk); }
  __device__ void release() {
    copies.end_slice();
    if (++stage == stages) stage = 0;
  }
  __device__ void leave() const { async::wait<0>(); }
};

/// The same for wgmma, which reads shared memory as the engine does (the asynchronous proxy), so
/// that each thread fences what it has copied. A slice is read until the next one's multiplication
/// has begun, so copies run two slices less ahead than there are stages.
template <class Tile, class Walk = WalkOf<Tile>>
struct WgmmaRing : PieceMover<Tile, Walk> {
  static constexpr int stages = 4, ahead = stages - 2;
  static constexpr std::size_t shared_bytes(int) { return stages * Tile::slice_bytes; }
  static constexpr int bytes_in_flight(int) { return ahead * Tile::slice_bytes; }

  unsigned char* ring;
  Copies<Tile, Walk> copies;
  int stage = 0;

  __device__ WgmmaRing(unsigned char* shared, NoMaps, const Problem& p, const Walk& walk, int)
      : ring(shared), copies(async::held_address(shared), p, walk, stages) {
#pragma unroll 1
    for (int s = 0; s < ahead; ++s) meanwhile();
  }
  __device__ void acquire() const {
    async::wait<ahead - 1>();
    tma::fence_async_proxy();
    __syncthreads();  // the slice is there for all, and the one two before it is read by all
  }
  __device__ const unsigned char* a_tile() const { return ring + stage * Tile::slice_bytes; }
  __device__ const unsigned char* b_tile() const { return a_tile() + Tile::a_bytes; }
  __device__ void meanwhile() {
    copies.start_slice();
    copies.end_slice();
  }
  __device__ void release() {
    if (++stage == stages) stage = 0;
  }
  __device__ void leave() const { async::wait<0>(); }
};

/// Half the stages are on their way, the others there or being multiplied. Where a slice is read at
/// once there are few of them, and all others are on their way.
template <class Tile>
inline constexpr int slices_ahead = Stages<Tile>::count / 2;
template <>
inline constexpr int slices_ahead<Tf32x3ByProducer> = Stages<Tf32x3ByProducer>::count - 1;
template <class Tile, class Walk>
using Producer = CopyProducer<Tile, Walk, slices_ahead<Tile>>;

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all{iso<TwoStages>()};
  for (int stages : {2, 3}) all.push_back(shared<Ring<Fp32Tile<128>, SharedWalk>>(stages));
  for (int stages : {2, 3, 4}) all.push_back(persistent<Ring<Fp32Tile<256>>>(stages));
  for (int stages : {2, 3}) all.push_back(persistent<Ring<Fp32Tile<128>>>(stages));
  add_wgmma<WgmmaRing>(all, 4);
  add_mma<Ring>(all, {3, 4, 3});
  all.push_back(persistent<Ring<MmaTile<Mode::tf32, 256>, SharedWalk>>(4));
  all.push_back(persistent<Ring<MmaTile<Mode::bf16, 256>, SharedWalk>>(4));
  add_roles<Producer>(all);
  return all;
}

const bool registered = register_variant<Problem>("gemm", Strategy::overlap, configs());

}  // namespace
}  // namespace amasia::gemm
