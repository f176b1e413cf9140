// twin/baseline: global -> register -> shared, block barriers around it. Nothing is in flight while
// the block computes, except copies of other blocks of the SM.

#include "microbench/twin/way.hpp"

namespace amasia::twin {
namespace {

template <int CHUNKS>
struct Mover : SharedTile {
  const Work& work;
  TileCursor next;
  OwnCopies<CHUNKS> own;

  __device__ explicit Mover(const Work& w)
      : SharedTile{stages_of_block()}, work(w), next(w.shape, walk_of_block(w)), own(w.shape) {}
  __device__ void start() {}

  __device__ void bring() {
    const Shape& s = work.shape;
    float4 held[own.kept];
#pragma unroll
    for (int h = 0; h < own.kept; ++h) {
      if (own.chunk(h) < s.chunks()) held[h] = load(own.relative[h]);
    }
    __syncthreads();  // everybody has read the tile before
#pragma unroll
    for (int h = 0; h < own.kept; ++h) {
      if (own.chunk(h) < s.chunks()) stages_of_block()[own.chunk(h)] = held[h];
    }
    // What a large halo has beyond the registers.
#pragma unroll 1
    for (int h = own.kept; own.chunk(h) < s.chunks(); ++h) {
      stages_of_block()[own.chunk(h)] = load(s.relative(own.chunk(h)));
    }
    __syncthreads();
    next.advance(s);
  }
  __device__ float4 load(int relative) const {
    return __ldg(work.in + next.source(work.shape, relative, work.numbers));
  }

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
