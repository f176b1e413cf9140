// softmax/baseline: a row comes into the registers in which it is computed; the next one is asked
// for before that and travels meanwhile. Nothing is stored to shared memory but the reduction,
// since no thread reads another's elements.
#include "kernel.cuh"

namespace amasia::softmax {
namespace {

template <class S>
struct InRegisters {
  const Problem& p;
  std::int64_t next, step;  // row to be asked for
  float4 held[S::chunks];

  __device__ InRegisters(const Problem& problem, std::int64_t first, std::int64_t rows)
      : p(problem), next(first), step(rows) {}

  __device__ void start() {
    if (next < p.in.rows) {
      const auto* const from = reinterpret_cast<const float4*>(p.in.data + next * p.in.pitch);
      const int all = p.row_chunks();
#pragma unroll
      for (int c = 0; c < S::chunks; ++c) {
        const int i = c * S::threads + static_cast<int>(threadIdx.x);
        held[c] = i < all ? __ldg(from + i) : nothing();
      }
    }
    next += step;
  }
  __device__ void bring(float4 (&v)[S::chunks]) {
#pragma unroll
    for (int c = 0; c < S::chunks; ++c) v[c] = held[c];
    start();
  }
};

template <class S>
ConfigOf<Problem> in_registers() {
  return config<S, InRegisters>(1, 0, 1);
}

const bool registered = register_variant<Problem>(
    "softmax", Strategy::baseline,
    {in_registers<Iso>(), in_registers<Narrow>(), in_registers<Middle>(), in_registers<Wide>()});

}  // namespace
}  // namespace amasia::softmax
