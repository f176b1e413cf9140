// histogram/baseline: keys come through registers and are counted where they arrive: no tile is
// stored to shared memory, since no thread reads another's keys. A tile ahead is held in registers.
#include "apps/histogram/counting.cuh"
#include "apps/histogram/original.cuh"
#include "apps/histogram/partition.cuh"

namespace amasia::histogram {
namespace {

// iso: the sample's kernel, a step of 4 bytes per thread; and one of 16.
template <class Keys, int STEP>
__global__ void __launch_bounds__(original_threads) baseline_original(OriginalRun run) {
  auto* const counters = block_memory<unsigned>();
  // Prologue
  admit_successor();
  clear_warp_counters(counters, run);
  __syncthreads();
  // Main loop
  count_directly<Keys, STEP>(run, 0, WarpCounters<Keys>(counters, run));
  // Epilogue
  __syncthreads();
  write_partial(counters, run);
}

/// Two stages in the same registers: whenever a chunk of one tile is taken to be counted, that of
/// the next tile is asked for.
template <class CONFIG, class Source>
struct Pipeline {
  using C = CONFIG;
  struct Storage {};
  static_assert(C::stages == 2);
  const Source& source;
  Storage& none;
  int tiles;
  const uint4* asked = nullptr;
  uint4 held[C::chunks];

  __device__ void produce(int n) {
    asked = n < tiles ? source.template tile<C>(n) + threadIdx.x : nullptr;
  }
  __device__ void fetch(int c) {
    if (asked != nullptr) held[c] = __ldg(asked + c * C::threads);
  }
  __device__ void prologue() {
    produce(0);
#pragma unroll
    for (int c = 0; c < C::chunks; ++c) fetch(c);
  }
  /// Before tile n is counted.
  __device__ void next(int n) { produce(n + 1); }
  __device__ uint4 chunk(int c) {
    const uint4 now = held[c];
    fetch(c);
    return now;
  }
  __device__ void consumer_release() {}
};

const bool registered = register_variant<Problem>(
    "histogram", Strategy::baseline,
    {original<4>(baseline_original<Bytes, 4>, baseline_original<Words, 4>, 1, 0),
     original<16>(baseline_original<Bytes, 16>, baseline_original<Words, 16>, 1, 0),
     original<4>(baseline_original<Bytes, 4>, baseline_original<Words, 4>, 1, 0, 1,
                 Start::dependent),
     walking<Pipeline, One1024, Movement<2, 2>>(), walking<Pipeline, One1024, Movement<2, 4>>(),
     walking<Pipeline, Two512, Movement<2, 4>>(),
     walking<Pipeline, Two512, Movement<2, 4, 0, stage_l2_ahead>>(),
     walking<Pipeline, Four512, Movement<2, 1>>(), walking<Pipeline, Packed, Movement<2, 2>>(),
     walking<Pipeline, Packed, Movement<2, 2, 0, ring_l2_ahead>>(),
     walking<Pipeline, Unseen, Movement<2, 2>>(), partitioned<Pipeline, 2>(),
     partitioned<Pipeline, 2, PartitionedDependent>(),
     walking<Pipeline, Global, Movement<2, 1>>()});

}  // namespace
}  // namespace amasia::histogram
