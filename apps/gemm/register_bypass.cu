// gemm/register_bypass: slices by cp.async, waited for at once (Svedin et al. 2021, algorithm 1).
// One stage per block; what hides its latency is the other block of the SM.
#include "apps/gemm/mma_tile.cuh"
#include "apps/gemm/original.cuh"
#include "apps/gemm/shared.cuh"
#include "apps/gemm/staged.cuh"

namespace amasia::gemm {
namespace {

struct AtOnceTiles : SharedTiles<1> {
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1, stages = 1;
  static constexpr int shared_bytes = pair_bytes, bytes_in_flight = pair_bytes;
  OwnElements own;

  __device__ AtOnceTiles(unsigned char* shared, View, const Problem& p, std::int64_t row,
                         std::int64_t column, int)
      : SharedTiles<1>{reinterpret_cast<float*>(shared)}, own(p, row, column) {}
  __device__ void acquire(int s) const {
    async::copy<4>(a_tile(s) + threadIdx.x,
                   own.has_a(s) ? &own.a.at(own.row, own.a_column(s)) : own.a.data,
                   own.has_a(s) ? 4 : 0);
    async::copy<4>(b_tile(s) + threadIdx.x,
                   own.has_b(s) ? &own.b.at(own.b_row(s), own.column) : own.b.data,
                   own.has_b(s) ? 4 : 0);
    async::commit();
    async::wait<0>();
    __syncthreads();
  }
  __device__ void release(int) const { __syncthreads(); }
};

template <class TileT, class WalkT = Walk>
struct AtOnce {
  using Tile = TileT;
  using Walk = WalkT;
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1;
  static constexpr std::size_t shared_bytes(int) { return Tile::slice_bytes; }
  static constexpr int bytes_in_flight(int) { return Tile::slice_bytes; }

  unsigned stage;
  Copies<Tile, Walk> copies;

  __device__ AtOnce(unsigned char* shared, View, const Problem& p, const Walk& walk, int)
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

const bool registered = register_variant<Problem>(
    "gemm", Strategy::register_bypass,
    {iso<AtOnceTiles>(), shared<AtOnce<Fp32Tile<128>, SharedWalk>>("128x128-shared", 1),
     persistent<AtOnce<Fp32Tile<128>>>("128x128", 1),
     persistent<AtOnce<Fp32Tile<256>>>("128x256", 1),
     persistent<AtOnce<MmaTile<Mode::tf32, 128>>>("tf32-128x128", 1),
     persistent<AtOnce<MmaTile<Mode::tf32, 256>>>("tf32-128x256", 1),
     persistent<AtOnce<MmaTile<Mode::bf16, 128>>>("bf16-128x128", 1),
     persistent<AtOnce<MmaTile<Mode::bf16, 256>>>("bf16-128x256", 1)});

}  // namespace
}  // namespace amasia::gemm
