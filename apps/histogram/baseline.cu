// histogram/baseline: keys come through registers and are counted where they arrive: no tile is
// stored to shared memory, since no thread reads another's keys. A tile ahead is held in registers.
#include "apps/histogram/counting.cuh"
#include "apps/histogram/original.cuh"

namespace amasia::histogram {
namespace {

// iso: the sample's kernel, a word per thread and step.
template <class Keys>
__global__ void __launch_bounds__(original_threads) baseline_original(OriginalRun run) {
  extern __shared__ unsigned counters[];
  clear_warp_counters(counters, run);
  __syncthreads();
  WarpCounters<Keys>(counters, run).add_directly(run, 0);
  __syncthreads();
  write_partial(counters, run);
}

template <class S>
struct RegisterTiles {
  const Run& run;
  int tiles = 0;
  uint4 now[S::chunks], next[S::chunks];

  __device__ void fetch(int n) {
    if (n >= tiles) return;
    const uint4* tile = run.tile<S>(n);
#pragma unroll
    for (int c = 0; c < S::chunks; ++c) next[c] = __ldg(tile + c * S::threads + threadIdx.x);
  }
  __device__ void begin(int count) {
    tiles = count;
    fetch(0);
  }
  __device__ void acquire(int n) {
#pragma unroll
    for (int c = 0; c < S::chunks; ++c) now[c] = next[c];
    fetch(n + 1);
  }
  __device__ uint4 chunk(int c) const { return now[c]; }
  __device__ void release(int) {}
};

template <class Keys, class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) baseline(Run run) {
  extern __shared__ __align__(16) unsigned counters[];
  clear_counters(counters, run.plan, S::threads);
  __syncthreads();
  RegisterTiles<S> mover{run};
  count_tiles<Keys, S>(run, mover, counters);
  __syncthreads();
  add_to_result<Keys, S>(run, counters);
}

// global-atomics: no counters in shared memory, an addition in L2 per key. What the others are to
// be compared with where bins are many (seed 000: the crossover). Where a warp's keys are all in
// one bin, one lane adds for all: without it, equal keys would queue up at one word of L2.
struct GlobalCounters {
  const Run& run;

  __device__ void add(unsigned bin) const {
    const unsigned all = __activemask();
    const unsigned leader = __ffs(all) - 1;
    const bool agreed = __all_sync(all, bin == __shfl_sync(all, bin, leader));
    if (!agreed) {
      atomicAdd(run.counts + bin, 1u);
    } else if (threadIdx.x % 32 == leader) {
      atomicAdd(run.counts + bin, static_cast<unsigned>(__popc(all)));
    }
  }
};

template <class Keys, class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) global_atomics(Run run) {
  const GlobalCounters result{run};
  const auto add = [&](unsigned counter) {
    result.add(Keys::bin_of_counter(counter, run.binning));
  };
  RegisterTiles<S> mover{run};
  const int tiles = run.block_tiles();
  mover.begin(tiles);
  for (int n = 0; n < tiles; ++n) {
    mover.acquire(n);
#pragma unroll
    for (int c = 0; c < S::chunks; ++c) {
      const uint4 words = mover.chunk(c);
      Keys::visit(words.x, run.binning, add);
      Keys::visit(words.y, run.binning, add);
      Keys::visit(words.z, run.binning, add);
      Keys::visit(words.w, run.binning, add);
    }
  }
  constexpr std::int64_t tile_keys = std::int64_t{S::tile_chunks} * 4 * Keys::per_word;
  for (std::int64_t i = run.tiles * tile_keys + blockIdx.x * S::threads + threadIdx.x;
       i < run.count; i += std::int64_t{run.groups} * S::threads) {
    add(Keys::counter_at(run.keys, i, run.binning));
  }
}

template <class S>
ConfigOf<Problem> global_config() {
  ConfigOf<Problem> config;
  config.info = {"global-atomics",
                 {{"threads", S::threads}, {"tile_bytes", S::tile_bytes}},
                 {{reinterpret_cast<const void*>(global_atomics<Words, S>), S::threads},
                  {reinterpret_cast<const void*>(global_atomics<Bytes, S>), S::threads}}};
  config.prepare = [](const Problem& p, const Device& device) -> Launch {
    const CountKernel kernel =
        p.type == KeyType::uint8 ? global_atomics<Bytes, S> : global_atomics<Words, S>;
    LaunchShape shape;
    shape.block = dim3(S::threads);
    Run run = make_run<S>(p, {});
    run.groups = resident_blocks(reinterpret_cast<const void*>(kernel), shape, device.sm_count);
    shape.grid = dim3(static_cast<unsigned>(run.groups));
    return clear_then(p, [=](Stream stream) { launch(kernel, shape, stream, run); });
  };
  return config;
}

template <class S>
ConfigOf<Problem> config(const char* name) {
  return counting<S>(name, {baseline<Bytes, S>, baseline<Words, S>, baseline<Sliced<Words>, S>}, 0,
                     S::tile_bytes);
}

//    threads, chunks, stages, blocks per SM
const bool registered = register_variant<Problem>(
    "histogram", Strategy::baseline,
    {original(baseline_original<Bytes>, baseline_original<Words>, 0, 4 * original_threads),
     config<Shape<1024, 2, 2, 1>>("1024-threads-2-chunks"),
     config<Shape<512, 4, 2, 2>>("512-threads-4-chunks"),
     config<Shape<1024, 1, 2, 2>>("1024-threads-twice"), global_config<Shape<1024, 1, 2, 2>>()});

}  // namespace
}  // namespace amasia::histogram
