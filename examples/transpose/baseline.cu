// transpose/baseline: a thread loads the blocks of 4 x 4 that it turns into registers, those of the
// next tile before it turns these. Nobody needs another's, so nothing is stored to shared memory.
// Configs "/shared" load in the order of bytes, through registers into shared memory, as the other
// strategies have it there. They have two stages, so that one barrier per tile is enough.
#include "kernel.cuh"
#include "tiles.cuh"

namespace amasia::transpose {
namespace {

template <class S, int N>
struct InRegisters {
  using Arguments = Plain;
  const Problem& p;
  std::int64_t next = 0, step = 0;  // tile to be asked for
  float4 held[S::per_thread][4], now[S::per_thread][4];

  __device__ explicit InRegisters(const Arguments& a) : p(a.problem) {}

  __device__ void ask() {
    const float4* const tile = reinterpret_cast<const float4*>(p.in) + next * S::tile_chunks;
#pragma unroll
    for (int m = 0; m < S::per_thread; ++m) {
      const Place at = place_of_thread<S, N>(m);
      if (next * S::template matrices<N> + at.matrix >= p.count) continue;
      const float4* const from = tile + chunk_in_memory<N>(at);
#pragma unroll
      for (int k = 0; k < 4; ++k) held[m][k] = __ldg(from + k * (N / 4));
    }
    next += step;
  }
  __device__ void start(std::int64_t first, std::int64_t tiles) {
    next = first;
    step = tiles;
    ask();
  }
  __device__ void bring() {
#pragma unroll
    for (int m = 0; m < S::per_thread; ++m) {
#pragma unroll
      for (int k = 0; k < 4; ++k) now[m][k] = held[m][k];
    }
    ask();
  }
  __device__ float4 read(int m, Place, int k) const { return now[m][k]; }
  __device__ void done() const {}
};

template <class S, int N>
struct ThroughShared : TileInShared<S, N> {
  using Arguments = Plain;
  Copies<S, N> copies;
  float4* stages;
  int current = 1;
  float4 held[Copies<S, N>::count];

  __device__ explicit ThroughShared(const Arguments& a)
      : copies(a.problem), stages(stages_of_block<S>()) {}

  __device__ void ask() {
    copies.each([&](int c, const float4* from) { held[c] = __ldg(from); });
  }
  __device__ void start(std::int64_t first, std::int64_t tiles) {
    copies.next = first;
    copies.step = tiles;
    ask();
  }
  __device__ void bring() {
    current ^= 1;
    float4* const stage = stages + current * S::tile_chunks;
#pragma unroll
    for (int c = 0; c < copies.count; ++c) stage[copies.first() + c * copies.apart] = held[c];
    ask();
    __syncthreads();
    this->tile = stage;
  }
  __device__ void done() const {}
};

template <class S>
ConfigOf<Problem> in_registers() {
  return config<S, InRegisters>(1, 0, 1);
}
template <class S>
ConfigOf<Problem> through_shared() {
  return config<S, ThroughShared>(2, 2 * S::tile_bytes, 1, "/shared");
}

const bool registered = register_variant<Problem>(
    "transpose", Strategy::baseline,
    {in_registers<Iso>(), in_registers<Two>(), in_registers<Half>(), through_shared<Iso>(),
     through_shared<Two>(), through_shared<Half>()});

}  // namespace
}  // namespace amasia::transpose
