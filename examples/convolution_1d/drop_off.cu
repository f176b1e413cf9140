// convolution_1d/drop_off: a thread's own inputs, and those it keeps of its warp's margin, come by
// cp.async into slots that nobody else reads. It waits for its own copies and passes on what its
// neighbours need by shuffles: no barrier of the block. Schedules whose windows are read from
// shared memory are none for it.
#include "kernel.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::convolution_1d {
namespace {

template <class S, int STAGES>
struct Slots {
  const Problem& p;
  TileWalk next;  // to be asked for
  float4* slots;  // (STAGES, own and margin, chunks, threads)
  const float4* now = nullptr;
  int to = 0, from = 0;  // stages

  static constexpr int stage = 2 * S::chunks * S::threads;

  __device__ Slots(const Problem& problem, const TileWalk& walk)
      : p(problem), next(walk), slots(stages_of_block<S>() + threadIdx.x) {}

  __device__ void ask() {
    if (next.row < p.in.rows) {
      const float4* const global = source<S>(p, next);
      const int thread = static_cast<int>(threadIdx.x);
      const unsigned shared = async::shared_address(slots + to * stage);
#pragma unroll
      for (int c = 0; c < S::chunks; ++c) {
        async::copy16(shared + 16 * c * S::threads, global + own_chunk(thread, c, S::threads));
        if (keeps_margin(thread % 32)) {
          async::copy16(shared + 16 * (S::chunks + c) * S::threads,
                        global + margin_chunk(thread, c, S::threads));
        }
      }
    }
    async::commit();
    ++next;
    to = to + 1 == STAGES ? 0 : to + 1;
  }
  __device__ void start() {
#pragma unroll
    for (int n = 0; n < STAGES - 1; ++n) ask();
  }
  __device__ const float4* bring() {
    async::wait<STAGES - 2>();
    ask();  // into the slots of the tile before
    now = slots + from * stage;
    from = from + 1 == STAGES ? 0 : from + 1;
    return nullptr;
  }
  __device__ float4 own(int c) const { return now[c * S::threads]; }
  __device__ float4 margin(int c) const {
    return keeps_margin(static_cast<int>(threadIdx.x) % 32) ? now[(S::chunks + c) * S::threads]
                                                            : float4{};
  }
  __device__ void done() const {}
};

template <class S>
using ThreeStages = Slots<S, 3>;
template <class S>
using FourStages = Slots<S, 4>;

template <class S>
ConfigOf<Problem> three_stages() {
  return config<S, ThreeStages>(3, 3 * 16U * ThreeStages<S>::stage, 2 * tile_bytes<S>);
}
template <class S>
ConfigOf<Problem> four_stages() {
  return config<S, FourStages>(4, 4 * 16U * FourStages<S>::stage, 3 * tile_bytes<S>, "/4-stages");
}

const char* const reason =
    "a window read from shared memory holds what other threads have copied, and drop_off waits for "
    "nobody";

const bool registered = register_variant<Problem>(
    "convolution_1d", Strategy::drop_off,
    {three_stages<Iso>(), three_stages<Lanes>(), four_stages<Iso>(), four_stages<Lanes>()},
    {{One::name, reason}, {Two::name, reason}, {Four::name, reason}});

}  // namespace
}  // namespace amasia::convolution_1d
