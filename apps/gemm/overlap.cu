// gemm/overlap: a ring of slices by cp.async; while one is multiplied the next ones are on their
// way (Svedin et al. 2021, algorithm 2).
#include "apps/gemm/mma_tile.cuh"
#include "apps/gemm/original.cuh"
#include "apps/gemm/shared.cuh"
#include "apps/gemm/staged.cuh"

namespace amasia::gemm {
namespace {

struct TwoStages : SharedTiles<2> {
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1, stages = 2;
  static constexpr int shared_bytes = stages * pair_bytes, bytes_in_flight = pair_bytes;
  OwnElements own;
  int tiles;

  __device__ TwoStages(unsigned char* shared, View, const Problem& p, std::int64_t row,
                       std::int64_t column, int count)
      : SharedTiles<2>{reinterpret_cast<float*>(shared)}, own(p, row, column), tiles(count) {
    copy(0);
  }
  __device__ void copy(int s) const {
    if (s < tiles) {
      async::copy<4>(a_tile(s) + threadIdx.x,
                     own.has_a(s) ? &own.a.at(own.row, own.a_column(s)) : own.a.data,
                     own.has_a(s) ? 4 : 0);
      async::copy<4>(b_tile(s) + threadIdx.x,
                     own.has_b(s) ? &own.b.at(own.b_row(s), own.column) : own.b.data,
                     own.has_b(s) ? 4 : 0);
    }
    async::commit();
  }
  __device__ void acquire(int s) const {
    copy(s + 1);
    async::wait<1>();
    __syncthreads();
  }
  __device__ void release(int) const { __syncthreads(); }
};

template <class TileT, class WalkT = Walk>
struct Ring {
  using Tile = TileT;
  using Walk = WalkT;
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1;
  static constexpr std::size_t shared_bytes(int stages) {
    return static_cast<std::size_t>(stages) * Tile::slice_bytes;
  }
  static constexpr int bytes_in_flight(int stages) { return (stages - 1) * Tile::slice_bytes; }

  unsigned ring;
  Copies<Tile, Walk> copies;
  int stages, stage = 0;

  __device__ Ring(unsigned char* shared, View, const Problem& p, const Walk& walk, int count)
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

const bool registered = register_variant<Problem>(
    "gemm", Strategy::overlap,
    {iso<TwoStages>(), shared<Ring<Fp32Tile<128>, SharedWalk>>("128x128-2-shared", 2),
     shared<Ring<MmaTile<Mode::tf32, 128>, SharedWalk>>("tf32-128x128-3-shared", 3),
     shared<Ring<MmaTile<Mode::bf16, 128>, SharedWalk>>("bf16-128x128-3-shared", 3),
     persistent<Ring<Fp32Tile<256>>>("128x256-2", 2),
     persistent<Ring<Fp32Tile<256>>>("128x256-3", 3),
     persistent<Ring<Fp32Tile<256>>>("128x256-4", 4),
     persistent<Ring<Fp32Tile<128>>>("128x128-2", 2),
     persistent<Ring<Fp32Tile<128>>>("128x128-3", 3),
     persistent<Ring<MmaTile<Mode::tf32, 128>>>("tf32-128x128-3", 3),
     persistent<Ring<MmaTile<Mode::tf32, 256>>>("tf32-128x256-3", 3),
     persistent<Ring<MmaTile<Mode::tf32, 256>>>("tf32-128x256-4", 4),
     persistent<Ring<MmaTile<Mode::bf16, 128>>>("bf16-128x128-3", 3),
     persistent<Ring<MmaTile<Mode::bf16, 256>>>("bf16-128x256-3", 3),
     persistent<Ring<MmaTile<Mode::bf16, 256>>>("bf16-128x256-4", 4)});

}  // namespace
}  // namespace amasia::gemm
