// twin/baseline: global -> register -> shared, block barriers around it. Nothing is in flight while
// the block computes, except copies of other blocks of the SM.

#include "microbench/twin/way.hpp"

namespace amasia::twin {
namespace {

template <int CHUNKS>
struct Mover : OneTile<CHUNKS> {
  using OneTile<CHUNKS>::work, OneTile<CHUNKS>::next, OneTile<CHUNKS>::own;

  __device__ Mover(const Work& w, const CUtensorMap&) : OneTile<CHUNKS>(w) {}

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
};

}  // namespace

Way baseline_way() {
  return {Strategy::baseline,
          kernels_of<Mover>(),
          {at_least(1, "LDG", "ld.global", false),
           at_least(1, "STS", "st.shared", false),
           {"LDGSTS", "cp.async", 0, false}},
          whole_tiles,
          one_stage};
}

}  // namespace amasia::twin
