// transpose/drop_off: each thread copies the blocks of 4 x 4 that it turns into slots of its own,
// by cp.async, and waits for nobody else's: there is no barrier at all.
#include "kernel.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::transpose {
namespace {

template <class S, int N, int STAGES>
struct Slots {
  using Arguments = Plain;
  const Problem& p;
  std::int64_t next = 0, step = 0;  // tile to be asked for
  float4* slots;                    // (STAGES, blocks of 4 x 4, rows, threads)
  const float4* now = nullptr;
  int to = 0, from = 0;  // stages

  __device__ explicit Slots(const Arguments& a)
      : p(a.problem), slots(stages_of_block<S>() + threadIdx.x) {}

  __device__ void ask() {
    const float4* const tile = reinterpret_cast<const float4*>(p.in) + next * S::tile_chunks;
    const unsigned shared = async::shared_address(slots + to * S::tile_chunks);
#pragma unroll
    for (int m = 0; m < S::per_thread; ++m) {
      const Place at = place_of_thread<S, N>(m);
      if (next * S::template matrices<N> + at.matrix >= p.count) continue;
      const float4* const global = tile + chunk_in_memory<N>(at);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        async::copy16(shared + 16 * (4 * m + k) * S::threads, global + k * (N / 4));
      }
    }
    async::commit();
    next += step;
    to = to + 1 == STAGES ? 0 : to + 1;
  }
  __device__ void start(std::int64_t first, std::int64_t tiles) {
    next = first;
    step = tiles;
#pragma unroll
    for (int n = 0; n < STAGES - 1; ++n) ask();
  }
  __device__ void bring() {
    async::wait<STAGES - 2>();
    ask();  // into the slots of the tile before
    now = slots + from * S::tile_chunks;
    from = from + 1 == STAGES ? 0 : from + 1;
  }
  __device__ float4 read(int m, Place, int k) const { return now[(4 * m + k) * S::threads]; }
  __device__ void done() const {}
};

template <class S, int N>
using TwoStages = Slots<S, N, 2>;
template <class S, int N>
using ThreeStages = Slots<S, N, 3>;

template <class S>
ConfigOf<Problem> two_stages() {
  return config<S, TwoStages>(2, 2 * S::tile_bytes, 1, "/2-stages");
}
template <class S>
ConfigOf<Problem> three_stages() {
  return config<S, ThreeStages>(3, 3 * S::tile_bytes, 2);
}

const bool registered =
    register_variant<Problem>("transpose", Strategy::drop_off,
                              {three_stages<Iso>(), three_stages<Two>(), three_stages<Half>(),
                               two_stages<Iso>(), two_stages<Two>(), two_stages<Half>()});

}  // namespace
}  // namespace amasia::transpose
