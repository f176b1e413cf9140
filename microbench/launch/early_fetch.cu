// launch/early_fetch: what does a dependent launch gain when it fetches its own data before it
// waits for the launch in front of it?
//
// Method: kernels of one block of 256 threads per SM are launched 400 and 1,200 times, each
// dependent on the one before. A block reads 4 or 16 KiB that no other launch wrote, 16 bytes per
// access. It also reads what another block of the launch before it has stored, and stores its
// number. The slope over the number is the time of one launch. `way=plain`: the launch begins when
// the one before it has ended. `way=wait_first`: programmatic dependent launch. The block admits
// its successor at once, waits
//   for its predecessor, and then reads.
// `way=fetch_first`: it reads its own data into registers, then waits.
// `way=prefetch_first`: it prefetches its own data into the L2, waits, and then reads.
// `launch=stream` includes the host's work per launch, `launch=graph` is the device's time. The
// data come from memory: successive launches walk through 1 GiB, an eighth of the memory where that
// is less. A block that reads before its predecessor is done stores a number that fails the check.

#include "microbench/walks.cuh"
#include "variants/device/dependent_launch.cuh"
#include "variants/device/prepared_run.hpp"
#include "variants/ptx/global_memory.cuh"

namespace amasia {
namespace {

constexpr int fetch_threads = 256;
constexpr int few_launches = 400, many_launches = 1200;

enum class Fetch { plain, wait_first, fetch_first, prefetch_first };
constexpr Fetch fetches[] = {Fetch::plain, Fetch::wait_first, Fetch::fetch_first,
                             Fetch::prefetch_first};
constexpr const char* name_of(Fetch f) {
  return f == Fetch::plain         ? "plain"
         : f == Fetch::wait_first  ? "wait_first"
         : f == Fetch::fetch_first ? "fetch_first"
                                   : "prefetch_first";
}

/// `from`: what the blocks of launch number - 1 stored; `to`: what those of this one store. Both
/// have a word per block, and alternate.
template <Fetch FETCH, int WORDS>
__global__ void __launch_bounds__(fetch_threads)
    fetch_and_follow(const std::byte* data, int number, const int* from, int* to) {
  constexpr int line = 128;
  constexpr std::size_t bytes = std::size_t{16} * WORDS * fetch_threads;
  const std::byte* const mine = data + blockIdx.x * bytes;
  uint4 v[WORDS];
  const auto fetch = [&] {
#pragma unroll
    for (int k = 0; k < WORDS; ++k) {
      v[k] = load_past_l1(mine + 16 * (fetch_threads * k + threadIdx.x));
    }
  };
  admit_successor();
  if constexpr (FETCH == Fetch::fetch_first) fetch();
  if constexpr (FETCH == Fetch::prefetch_first) {
    if (threadIdx.x < bytes / line) global::prefetch_line(mine + line * threadIdx.x);
  }
  wait_for_predecessor();
  if constexpr (FETCH != Fetch::fetch_first) fetch();
  unsigned folded = 0;
#pragma unroll
  for (int k = 0; k < WORDS; ++k) folded |= v[k].x | v[k].y | v[k].z | v[k].w;
  const unsigned next = blockIdx.x + 1 == gridDim.x ? 0 : blockIdx.x + 1;
  const int before = *static_cast<const volatile int*>(from + next);
  const bool all_zero = __syncthreads_and(folded == 0);  // as the data are
  if (threadIdx.x == 0) {
    to[blockIdx.x] = all_zero && (number == 1 || before == number - 1) ? number : -1;
  }
}

using FetchKernel = void (*)(const std::byte*, int, const int*, int*);
template <int WORDS>
FetchKernel kernel_of(Fetch f) {
  return f == Fetch::fetch_first      ? fetch_and_follow<Fetch::fetch_first, WORDS>
         : f == Fetch::prefetch_first ? fetch_and_follow<Fetch::prefetch_first, WORDS>
                                      : fetch_and_follow<Fetch::wait_first, WORDS>;
}

/// Time of one launch of a chain of `count`.
class FetchChain {
 public:
  FetchChain(FetchKernel kernel, bool early, std::size_t bytes, LaunchMode mode,
             const Device& device, Stream stream) {
    FollowingShape shape;
    shape.grid = dim3(static_cast<unsigned>(device.sm_count));
    shape.block = dim3(fetch_threads);
    const std::size_t footprint = std::min(std::size_t{1} << 30, device.memory_bytes / 8);
    const std::size_t launch_bytes = bytes * shape.grid.x;
    const std::size_t regions = footprint / launch_bytes;
    auto* const data = reinterpret_cast<std::byte*>(buffer_of(footprint));
    AMASIA_CUDA(cudaMemsetAsync(data, 0, footprint, stream));
    stored_ = std::make_shared<DeviceArray<int>>(2 * shape.grid.x);
    const auto chain = [=, stored = stored_](int count) {
      return std::make_shared<PreparedRun>(
          [=](Stream s) {
            for (int i = 1; i <= count; ++i) {
              FollowingShape one = shape;
              one.early = early && i > 1;
              int* const words = stored->data();
              launch(kernel, one, s, data + (i % regions) * launch_bytes, i,
                     words + (i + 1) % 2 * shape.grid.x, words + i % 2 * shape.grid.x);
            }
          },
          mode, stream);
    };
    shorter_ = chain(few_launches);
    longer_ = chain(many_launches);
  }
  Reading sample(Stream stream) const {
    const double less = time_ns(*shorter_, few_launches, stream);
    const double more = time_ns(*longer_, many_launches, stream);
    const double one = (more - less) / (many_launches - few_launches);
    return of_time(one, 1e-3 * one);
  }

 private:
  double time_ns(const PreparedRun& run, int count, Stream stream) const {
    // Warm, and the host is ahead.
    const double ms = ceilings::warm_milliseconds(stream, [&] { run.enqueue(stream); });
    const std::vector<int> words = downloaded(*stored_);
    const auto half = static_cast<std::ptrdiff_t>(words.size() / 2);
    const auto last = words.begin() + count % 2 * half;
    if (std::count(last, last + half, count) != half) {
      throw std::runtime_error("a block read before the launch in front of it was done");
    }
    return 1e6 * ms;
  }

  std::shared_ptr<DeviceArray<int>> stored_;
  std::shared_ptr<PreparedRun> shorter_, longer_;
};

template <int WORDS>
void add_fetches(std::vector<Point>& all, LaunchMode mode, Fetch way) {
  const FetchKernel kernel = kernel_of<WORDS>(way);
  constexpr int bytes = 16 * WORDS * fetch_threads;
  Point& p = add_point(all,
                       {{"launch", mode == LaunchMode::graph ? "graph" : "stream"},
                        {"way", name_of(way)},
                        {"bytes", std::to_string(bytes)}},
                       "time per launch", "us");
  p.runs_from = way == Fetch::plain ? 0 : 90;
  p.kernels = {kernel_use(kernel, fetch_threads)};
  p.claims = {{"LDG", "ld.global", WORDS + 1, false}};
  if (way != Fetch::plain) p.claims.push_back({"ACQBULK", "griddepcontrol.wait", 1, false});
  if (way == Fetch::prefetch_first) p.claims.push_back({"CCTL", "prefetch", 1, false});
  p.prepare = [=](const Device& d, Stream stream) -> Sampling {
    const auto chain =
        std::make_shared<FetchChain>(kernel, way != Fetch::plain, bytes, mode, d, stream);
    return [=] { return chain->sample(stream); };
  };
}

std::vector<Point> points(const Device&, Scope scope) {
  std::vector<Point> all;
  for (const LaunchMode mode : {LaunchMode::stream, LaunchMode::graph}) {
    if (scope == Scope::quick && mode == LaunchMode::stream) continue;
    for (const Fetch way : fetches) {
      add_fetches<1>(all, mode, way);
      add_fetches<4>(all, mode, way);
    }
  }
  return all;
}

const bool registered = register_microbenchmark(
    {"launch/early_fetch",
     "What does a dependent launch gain when it fetches its own data before it waits?",
     "Kernels that read 4 or 16 KiB per SM from memory and what their predecessor stored, launched "
     "plainly or as programmatic dependents that fetch or prefetch before they wait; slope over "
     "400 and 1,200 launches. Every block checks that its predecessor was done.",
     points});

}  // namespace
}  // namespace amasia
