// tensor_core/mma_sparse: the same as tensor_core/mma for products whose A keeps two of four
// elements of k (mma.sp; one of two for tf32). Source: Luo et al. 2024, Table VII.
//
// Method: as tensor_core/mma. The shape is that of the whole product, so that half of A's elements
// are stored and the zeros between count as operations, as in every published figure; choices are
// random and allowed. The comparison with the CPU uses the same choice everywhere, the last two of
// four: it fails if metadata is not looked at.

#include "microbench/tensor_core/mma_points.cuh"

namespace amasia::tensor {
namespace {

template <Element E, Sum S, int K>
using Sparse = Mma<E, S, K, Mode::sparse>;

std::vector<Point> points(const Device& d, Scope scope) {
  std::vector<Point> all;
  if (scope == Scope::full) {
    add_mma<Sparse<Element::f16, Sum::f16, 16>>(all, d, scope);
    add_mma<Sparse<Element::f16, Sum::f32, 16>>(all, d, scope);
    add_mma<Sparse<Element::bf16, Sum::f32, 32>>(all, d, scope);
    add_mma<Sparse<Element::tf32, Sum::f32, 8>>(all, d, scope);
    add_mma<Sparse<Element::s8, Sum::s32, 32>>(all, d, scope);
  }
  add_mma<Sparse<Element::f16, Sum::f16, 32>>(all, d, scope);
  add_mma<Sparse<Element::f16, Sum::f32, 32>>(all, d, scope);
  add_mma<Sparse<Element::tf32, Sum::f32, 16>>(all, d, scope);
  add_mma<Sparse<Element::s8, Sum::s32, 64>>(all, d, scope);
  return all;
}

const bool registered = register_microbenchmark(
    {"tensor_core/mma_sparse", "What does mma.sp cost, and how fast can it multiply?",
     "As tensor_core/mma, with an A that keeps two of four elements (one of two for tf32); shape "
     "and operations are those of the whole product, zeros counted.",
     points});

}  // namespace
}  // namespace amasia::tensor
