// tensor_core/wgmma: how long a dense wgmma takes until its result is there, how often it can
// start, and how fast all SMs multiply.
//
// Method: m64n256 by type, A from shared memory (SS) or from registers (RS), tiles k-major with the
// 128-byte swizzle. Latency: one warpgroup commits and waits for each multiplication, so that it is
// the time from issue to a readable sum. Issue interval: multiplications of one warpgroup back to
// back, eight to a commit group, waiting for the group before: what published tables call latency.
// Both in cycles as the slope between 800 and 4000 of them. Throughput: one warpgroup on every SM,
// as published, and two, for milliseconds, timed by events, on zeros and on random data; what the
// power limit leaves over seconds is in tensor_core/energy. Every eighth multiplication forgets the
// sum, which so stays bounded; the last sums are held to a CPU product of random data.

#include "microbench/tensor_core/wgmma_run.cuh"

namespace amasia::tensor {
namespace {

template <class Run>
void add_rates(std::vector<Point>& points, const Device& d, Scope scope) {
  for (const int warpgroups : {1, 2}) {
    if (scope == Scope::quick && warpgroups == 1) continue;
    Run::add_rate(points, d, Fill::random, warpgroups);
    Run::add_rate(points, d, Fill::zero, warpgroups);
  }
}

template <Element E, Sum S>
void add(std::vector<Point>& points, const Device& d, Scope scope) {
  using FromShared = WgmmaRun<Wgmma<E, S, 256>, Mode::dense, Source::shared>;
  using FromRegisters = WgmmaRun<Wgmma<E, S, 256>, Mode::dense, Source::registers>;
  FromShared::add_latency(points, d);
  FromShared::add_interval(points, d);
  add_rates<FromShared>(points, d, scope);
  if (scope == Scope::quick) return;
  FromRegisters::add_latency(points, d);
  FromRegisters::add_interval(points, d);
  add_rates<FromRegisters>(points, d, scope);
}

std::vector<Point> points(const Device& d, Scope scope) {
  std::vector<Point> all;
  add<Element::f16, Sum::f32>(all, d, scope);
  add<Element::e4m3, Sum::f32>(all, d, scope);
  if (scope == Scope::quick) return all;
  add<Element::f16, Sum::f16>(all, d, scope);
  add<Element::bf16, Sum::f32>(all, d, scope);
  add<Element::tf32, Sum::f32>(all, d, scope);
  add<Element::e4m3, Sum::f16>(all, d, scope);
  add<Element::e5m2, Sum::f16>(all, d, scope);
  add<Element::e5m2, Sum::f32>(all, d, scope);
  add<Element::s8, Sum::s32>(all, d, scope);
  add<Element::b1, Sum::s32>(all, d, scope);
  // Shape and type of the machine instruction: Luo et al. 2024, Table VI.
  for (Point& p : all) p.copies = p.quantity == "latency" ? wgmma_per_loop : 0;
  return all;
}

const bool registered = register_microbenchmark(
    {"tensor_core/wgmma", "What does a dense wgmma cost, and how fast can all SMs multiply?",
     "m64n256 with A from shared memory or registers; latency: one warpgroup commits and waits for "
     "each, issue interval: back to back, both by slope; throughput of one and of two warpgroups "
     "per SM by events over milliseconds, on zeros and random data; sums are held to a CPU "
     "product.",
     points});

}  // namespace
}  // namespace amasia::tensor
