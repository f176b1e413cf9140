// tensor_core/wgmma_sparse: the same as tensor_core/wgmma for products whose A keeps two of four
// elements of k (wgmma.sp; one of two for tf32). Source: Luo et al. 2024, Table IX.
//
// Method: as tensor_core/wgmma; k is that of the whole product, zeros counted as operations, as in
// every published figure. Choices are random and allowed; for the comparison with the CPU they are
// the last two of four everywhere, so that metadata which is not looked at shows.

#include "microbench/tensor_core/wgmma_run.cuh"

namespace amasia::tensor {
namespace {

template <Element E, Sum S>
void add(std::vector<Point>& points, const Device& d, Scope scope) {
  using FromShared = WgmmaRun<Wgmma<E, S, 256>, Mode::sparse, Source::shared>;
  using FromRegisters = WgmmaRun<Wgmma<E, S, 256>, Mode::sparse, Source::registers>;
  FromShared::add_interval(points, d);
  FromShared::add_rate(points, d, Fill::random, 2);
  FromRegisters::add_rate(points, d, Fill::random, 2);
  if (scope == Scope::quick) return;
  FromShared::add_latency(points, d);
  FromShared::add_rate(points, d, Fill::zero, 2);
  FromRegisters::add_latency(points, d);
  FromRegisters::add_interval(points, d);
  FromRegisters::add_rate(points, d, Fill::zero, 2);
  for (const Fill fill : {Fill::random, Fill::zero}) {
    FromShared::add_rate(points, d, fill, 1);
    FromRegisters::add_rate(points, d, fill, 1);
  }
}

std::vector<Point> points(const Device& d, Scope scope) {
  std::vector<Point> all;
  add<Element::f16, Sum::f32>(all, d, scope);
  if (scope == Scope::quick) return all;
  add<Element::f16, Sum::f16>(all, d, scope);
  add<Element::bf16, Sum::f32>(all, d, scope);
  add<Element::tf32, Sum::f32>(all, d, scope);
  add<Element::e4m3, Sum::f16>(all, d, scope);
  add<Element::e4m3, Sum::f32>(all, d, scope);
  add<Element::s8, Sum::s32>(all, d, scope);
  return all;
}

const bool registered = register_microbenchmark(
    {"tensor_core/wgmma_sparse",
     "What does a sparse wgmma cost, and how fast can all SMs multiply?",
     "As tensor_core/wgmma, with an A that keeps two of four elements (one of two for tf32); shape "
     "and operations are those of the whole product, zeros counted.",
     points});

}  // namespace
}  // namespace amasia::tensor
