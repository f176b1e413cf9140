// gemm/register_bypass: slices by cp.async, waited for at once (Svedin et al. 2021, algorithm 1).
// One stage per block; what hides its latency is the other block of the SM.
#include "apps/gemm/mma_tile.cuh"
#include "apps/gemm/original.cuh"
#include "apps/gemm/staged.cuh"
#include "variants/ptx/bulk.cuh"

namespace amasia::gemm {
namespace {

struct AtOnceTiles : SharedTiles<1> {
  static constexpr int shared_bytes = pair_bytes, bytes_in_flight = pair_bytes;
  NextElements own;

  __device__ AtOnceTiles(unsigned char* shared, View, const Problem& p, std::int64_t row,
                         std::int64_t column, int)
      : SharedTiles(shared), own({p, row, column}) {}
  __device__ void acquire(int s) {
    async::copy<4>(a_tile(s) + threadIdx.x, own.a.next, own.a.has(s) ? 4 : 0);
    async::copy<4>(b_tile(s) + threadIdx.x, own.b.next, own.b.has(s) ? 4 : 0);
    own.move_on();
    async::commit();
    async::wait<0>();
    __syncthreads();
  }
  __device__ void release(int) const { __syncthreads(); }
};

template <class Tile, class Walk = WalkOf<Tile>>
struct AtOnce : PieceMover<Tile, Walk> {
  static constexpr std::size_t shared_bytes(int) { return Tile::slice_bytes; }
  static constexpr int bytes_in_flight(int) { return Tile::slice_bytes; }

  unsigned stage;
  Copies<Tile, Walk> copies;

  __device__ AtOnce(unsigned char* shared, NoMaps, const Problem& p, const Walk& walk, int)
      : stage(async::held_address(shared)), copies(stage, p, walk, 1) {}
  __device__ void acquire() {
    copies.start_slice();
    copies.end_slice();
    async::wait<0>();
    __syncthreads();
  }
  __device__ typename Tile::Left left(int t) const { return {stage, t}; }
  __device__ unsigned b() const { return stage + Tile::a_bytes; }
  __device__ void between(int) const {}
  __device__ void release() const { __syncthreads(); }
  __device__ void leave() const {}
};

/// The same for wgmma, which reads shared memory as the engine does: each thread fences its copies,
/// and the multiplication is waited for before the stage is filled again.
template <class Tile, class Walk = WalkOf<Tile>>
struct WgmmaAtOnce : PieceMover<Tile, Walk> {
  static constexpr std::size_t shared_bytes(int) { return Tile::slice_bytes; }
  static constexpr int bytes_in_flight(int) { return Tile::slice_bytes; }

  unsigned char* stage;
  Copies<Tile, Walk> copies;

  __device__ WgmmaAtOnce(unsigned char* shared, NoMaps, const Problem& p, const Walk& walk, int)
      : stage(shared), copies(async::held_address(shared), p, walk, 1) {}
  __device__ void acquire() {
    copies.start_slice();
    copies.end_slice();
    async::wait<0>();
    tma::fence_async_proxy();
    __syncthreads();
  }
  __device__ const unsigned char* a_tile() const { return stage; }
  __device__ const unsigned char* b_tile() const { return stage + Tile::a_bytes; }
  __device__ void meanwhile() const {}
  __device__ void release() const {
    wgmma::wait<0>();
    __syncthreads();
  }
  __device__ void leave() const {}
};

template <class Tile, class Walk>
using Producer = CopyProducer<Tile, Walk, 1>;

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all{
      iso<AtOnceTiles>(), shared<AtOnce<Fp32Tile<128>, SharedWalk>>(1),
      persistent<AtOnce<Fp32Tile<128>>>(1), persistent<AtOnce<Fp32Tile<256>>>(1)};
  add_wgmma<WgmmaAtOnce>(all, 1);
  add_mma<AtOnce>(all, {1, 1, 1});
  add_roles<Producer>(all);
  return all;
}

const bool registered = register_variant<Problem>("gemm", Strategy::register_bypass, configs());

}  // namespace
}  // namespace amasia::gemm
