// tensor_core/mma: how long mma.sync takes, how often it can start, and how fast all SMs multiply.
//
// Method: fragments in registers, by type and shape of the source documents' tables. Latency: one
// warp adds product after product to one sum, cycles per mma as the slope between 1024 and 5120 of
// them. Issue interval: the same with eight independent sums: what a scheduler's one warp can
// start, not what it waits for. Throughput: all SMs, 16 warps each of eight sums, launches of
// milliseconds timed by events, on random data and on zeros (random data takes more power). Two B's
// and their negatives take turns, so that sums stay bounded; integer sums wrap around. Each
// instruction is first held to a CPU product of random data. What ptxas makes of it is counted: a
// GPU without the unit gets conversions or a subroutine, and the row says "emulated".

#include "microbench/tensor_core/mma_points.cuh"

namespace amasia::tensor {

#if CUDART_VERSION >= 12080  // PTX ISA 8.7
AMASIA_DENSE(AMASIA_MMA_FP8_ASM, e4m3, f16, 32, "f16.e4m3.e4m3.f16", 4, 2, 2);
#endif

namespace {

template <Element E, Sum S, int K>
using Dense = Mma<E, S, K, Mode::dense>;

std::vector<Point> points(const Device& d, Scope scope) {
  std::vector<Point> all;
  if (scope == Scope::full) {
    add_mma<Dense<Element::f16, Sum::f16, 8>>(all, d, scope);
    add_mma<Dense<Element::f16, Sum::f32, 8>>(all, d, scope);
    add_mma<Dense<Element::tf32, Sum::f32, 4>>(all, d, scope);
    add_mma<Dense<Element::s8, Sum::s32, 16>>(all, d, scope);
  }
  add_mma<Dense<Element::f16, Sum::f16, 16>>(all, d, scope);
  add_mma<Dense<Element::f16, Sum::f32, 16>>(all, d, scope);
  add_mma<Dense<Element::bf16, Sum::f32, 16>>(all, d, scope);
  add_mma<Dense<Element::tf32, Sum::f32, 8>>(all, d, scope);
  add_mma<Dense<Element::s8, Sum::s32, 32>>(all, d, scope);
  add_mma<Dense<Element::s4, Sum::s32, 64>>(all, d, scope);
  add_mma<Dense<Element::b1, Sum::s32, 256>>(all, d, scope);
  add_mma<Dense<Element::e4m3, Sum::f32, 32>>(all, d, scope);
  add_mma<Dense<Element::e5m2, Sum::f32, 32>>(all, d, scope);
#if CUDART_VERSION >= 12080
  add_mma<Dense<Element::e4m3, Sum::f16, 32>>(all, d, scope);
#endif
  // Shape and type of the machine instructions: Luo et al. 2024, Table VI.
  for (Point& p : all) p.copies = p.quantity == "latency" ? mma_per_loop : 0;
  return all;
}

const bool registered = register_microbenchmark(
    {"tensor_core/mma", "What does mma.sync cost, and how fast can it multiply?",
     "Fragments in registers; latency as the slope over dependent mma of one warp, issue interval "
     "over eight independent sums, throughput of 16 warps per SM by events over milliseconds, on "
     "random data and zeros; each instruction is first held to a CPU product.",
     points});

}  // namespace
}  // namespace amasia::tensor
