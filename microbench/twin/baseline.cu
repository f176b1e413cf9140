// twin/baseline: global -> register -> shared, block barriers around it. Nothing is under way while
// the block computes; other blocks of the SM are.

#include "microbench/twin/way.hpp"

namespace amasia::twin {
namespace {

template <int CHUNKS>
struct Mover : SharedTile {
  const Work& work;
  TileWalk walk = walk_of_block(work);
  /// Loads that a thread has under way at once: a tile with its halo has some more chunks than
  /// results. Of 8 chunks the halo comes in a second round: the registers do not suffice.
  static constexpr int held_chunks = CHUNKS == 8 ? 8 : CHUNKS + (CHUNKS + 1) / 2;

  __device__ explicit Mover(const Work& w) : SharedTile{stages_of_block()}, work(w) {}
  __device__ void start() {}

  __device__ void bring(int n) {
    const Shape& s = work.shape;
    const std::int64_t tile = walk.tile(n);
    const int threads = static_cast<int>(blockDim.x);
    bool read_by_all = false;
#pragma unroll 1
    for (int first = static_cast<int>(threadIdx.x);
         first - static_cast<int>(threadIdx.x) < s.chunks(); first += held_chunks * threads) {
      float4 held[held_chunks];
#pragma unroll
      for (int h = 0; h < held_chunks; ++h) {
        const int i = first + h * threads;
        if (i < s.chunks()) held[h] = __ldg(work.in + s.source(tile, i, work.numbers));
      }
      if (!read_by_all) __syncthreads();  // everybody has read the tile before
      read_by_all = true;
#pragma unroll
      for (int h = 0; h < held_chunks; ++h) {
        const int i = first + h * threads;
        if (i < s.chunks()) stages_of_block()[i] = held[h];
      }
    }
    __syncthreads();
  }

  __device__ float4 read(int, int i, int k) const { return SharedTile::read(work.shape, i, k); }
  __device__ void release() {}
};

template <int CHUNKS>
__global__ void __launch_bounds__(most_threads(CHUNKS), 1)
    twin_baseline(const __grid_constant__ Work work, const __grid_constant__ CUtensorMap) {
  Mover<CHUNKS> mover(work);
  walk_tiles<CHUNKS>(work, mover);
}

}  // namespace

Way baseline_way() {
  return {Strategy::baseline,
          {twin_baseline<1>, twin_baseline<2>, twin_baseline<4>, twin_baseline<8>},
          whole_tiles,
          one_stage,
          1,
          false,
          0,
          no_objection,
          {{"LDG", "ld.global", 1, false, 0, -1, true},
           {"STS", "st.shared", 1, false, 0, -1, true},
           {"LDGSTS", "cp.async", 0, false}}};
}

}  // namespace amasia::twin
