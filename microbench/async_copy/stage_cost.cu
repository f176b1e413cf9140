// async_copy/stage_cost: how much longer a chain takes because the stages that it computes on are
// brought meanwhile, by who brings them.
//
// Method: one block on an otherwise empty device. `warps` warps compute: 32 rows of a stage, of
// each a word per lane and four dependent operations of two instructions each, which together take
// longer than a copy from L2, so that no copy is waited for. Beside that the next stage of `bytes`
// comes, from 1 MiB that L1 does not hold. The value is cycles of a stage, the slope between two
// numbers of stages; what a way costs is the difference to way=none, which computes on one stage
// again and again. Ways: `registers`, the warps that compute load before and store behind their
// rows, __syncthreads(); `registers_producer`, `producers` other warps do, and stages are handed
// over at named barriers; `cp_async` and `cp_async_producer`, the same by cp.async; `bulk`, one
// thread of those that compute asks for a bulk copy, an mbarrier tells that it is there and
// __syncthreads() that the stage may be overwritten; `bulk_producer`, a thread of another warp
// asks, and another mbarrier tells it that the stage was read. What few threads would have to hold
// in more than 64 registers is left out. All lanes' results must be what the CPU computes.

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "microbench/walks.cuh"
#include "variants/device/launch.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/global_memory.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/named_stages.cuh"

namespace amasia::stage_cost {
namespace {

constexpr int shorter = 16, longer = 144;  // stages of a walk
constexpr int rows = 32;                   // of a stage
constexpr int depth = 2;                   // stages in shared memory
constexpr int operations = 4;              // of a row
constexpr std::size_t source_bytes = std::size_t{1} << 20;

enum class Way {
  none,
  registers,
  registers_producer,
  cp_async,
  cp_async_producer,
  bulk,
  bulk_producer
};
constexpr std::array ways{Way::none,         Way::registers,         Way::registers_producer,
                          Way::cp_async,     Way::cp_async_producer, Way::bulk,
                          Way::bulk_producer};
constexpr const char* name_of(Way w) {
  constexpr std::array names{"none",         "registers",         "registers_producer",
                             "cp_async",     "cp_async_producer", "bulk",
                             "bulk_producer"};
  return names[static_cast<std::size_t>(w)];
}
constexpr bool has_producer(Way w) {
  return w == Way::registers_producer || w == Way::cp_async_producer || w == Way::bulk_producer;
}
constexpr bool through_registers(Way w) {
  return w == Way::registers || w == Way::registers_producer;
}

/// A point: so many warps compute on stages of so many bytes, and so many others bring them.
struct Case {
  Way way;
  int warps;
  int bytes;
  int producers;
};
constexpr int threads_of(const Case& c) { return 32 * (c.warps + c.producers); }
/// Chunks of 16 bytes that a thread of those that copy brings of a stage.
constexpr int chunks_of(const Case& c) {
  const int copying = 32 * (c.producers > 0 ? c.producers : c.warps);
  return (c.bytes / 16 + copying - 1) / copying;
}
constexpr int most_held = 16;  // chunks that a thread has registers for
/// One thread asks the copy engine, so that a second warp would have nothing to do.
constexpr bool exists(const Case& c) {
  if (!has_producer(c.way))
    return c.producers == 0 && (!through_registers(c.way) || chunks_of(c) <= most_held);
  if (c.way == Way::bulk_producer) return c.producers == 1;
  return c.producers > 0 && (!through_registers(c.way) || chunks_of(c) <= most_held);
}
constexpr std::array all_warps{2, 4};
constexpr std::array all_bytes{1024, 4096, 8192, 16384, 32768};
constexpr std::array all_producers{0, 1, 4};

AMASIA_HD constexpr unsigned word_at(std::size_t i) {
  return static_cast<unsigned>(i) * 2654435761U ^ 0x9E3779B9U;
}
/// A row: exclusive or and multiplication in turn, which no compiler makes one.
AMASIA_HD inline unsigned row_of(unsigned x, unsigned word) {
  x += word;
  for (int i = 0; i < operations; ++i) x = (x ^ 0x85EBCA6BU) * 5U;
  return x;
}
/// The word of a stage that thread `thread` of `warps` warps needs in row `row`: of the first
/// kilobyte, so that the way there is the same for all stages.
AMASIA_HD constexpr int place_of(int row, int thread, int warps) {
  return row % (8 / warps) * 32 * warps + thread;
}

__global__ void fill(unsigned* words) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  words[i] = word_at(i);
}

/// Whatever brings the stage, nothing of it is read before.
template <int WARPS>
__device__ __forceinline__ unsigned computed(unsigned x, const unsigned* stage) {
  asm volatile("" ::: "memory");
#pragma unroll 8
  for (int r = 0; r < rows; ++r) {
    x = row_of(x, stage[place_of(r, static_cast<int>(threadIdx.x), WARPS)]);
  }
  return x;
}

template <int THREADS, int BYTES, class Copy>
__device__ void each_chunk(int thread, Copy copy) {
#pragma unroll
  for (int c = 0; c < (BYTES / 16 + THREADS - 1) / THREADS; ++c) {
    const int at = 16 * (c * THREADS + thread);
    if (BYTES / 16 % THREADS == 0 || at < BYTES) copy(c, at);
  }
}

template <int COUNT>
struct Held {
  int4 chunk[COUNT];
};

template <Way WAY, int WARPS, int BYTES, int PRODUCERS>
__global__ void __launch_bounds__(32 * (WARPS + PRODUCERS))
    compute_stages(const std::byte* source, Walks walks, Stamp* taken, unsigned* results) {
  constexpr Case self{WAY, WARPS, BYTES, PRODUCERS};
  constexpr int threads = threads_of(self);
  constexpr int copying = 32 * (PRODUCERS > 0 ? PRODUCERS : WARPS);
  using Share = Held<chunks_of(self)>;
  using Stages = block::NamedStages<depth, threads>;
  extern __shared__ __align__(128) std::byte stages[];
  constexpr bool engine = WAY == Way::bulk || WAY == Way::bulk_producer;
  __shared__ tma::Barrier full[depth], empty[depth];
  const int thread = static_cast<int>(threadIdx.x);
  const bool produces = has_producer(WAY) && thread >= 32 * WARPS;
  const int copier = produces ? thread - 32 * WARPS : thread;
  const auto stage = [](int n) { return stages + n % depth * BYTES; };
  const auto from = [source](int n) {
    return source + static_cast<std::size_t>(n) * BYTES % source_bytes;
  };
  const auto load = [&](Share& held, int n) {
    each_chunk<copying, BYTES>(
        copier, [&](int c, int at) { held.chunk[c] = global::load16(from(n) + at); });
  };
  const auto store = [&](const Share& held, int n) {
    each_chunk<copying, BYTES>(
        copier, [&](int c, int at) { *reinterpret_cast<int4*>(stage(n) + at) = held.chunk[c]; });
  };
  const auto copy = [&](int n) {
    each_chunk<copying, BYTES>(copier,
                               [&](int, int at) { async::copy<16>(stage(n) + at, from(n) + at); });
    async::commit();
  };
  const auto ask = [&](int n) {
    if (copier != 0) return;
    tma::expect(&full[n % depth], BYTES);
    tma::load_bytes(stage(n), from(n), BYTES, &full[n % depth]);
  };

  unsigned x = 0;
  if constexpr (engine) {
    if (thread == 0) {
      for (tma::Barrier& b : full) tma::init(&b, 1);
      for (tma::Barrier& b : empty) tma::init(&b, WARPS);
      tma::fence_init();
    }
    __syncthreads();
  }
  int first = 0;  // stage of the walk
  PipelineState<depth> state;
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    const int end = first + walks.links[w];
    const unsigned long long begin_ns = nanoseconds_now();
    const long long begin = clock_now();
    // The first stage of a walk is waited for.
    if constexpr (!has_producer(WAY)) {
      Share held;
      if constexpr (WAY == Way::cp_async) {
        copy(first);
        async::wait<0>();
      } else if constexpr (WAY == Way::bulk) {
        ask(first);
      } else {
        load(held, first);
        store(held, first);
      }
      __syncthreads();
#pragma unroll 1
      for (int n = first; n < end; ++n) {
        const bool more = n + 1 < end;
        if constexpr (WAY == Way::registers) {
          if (more) load(held, n + 1);
        } else if constexpr (WAY == Way::cp_async) {
          if (more) copy(n + 1);
        } else if constexpr (WAY == Way::bulk) {
          if (more) ask(n + 1);
          tma::wait(&full[state.index], state.phase);
          ++state;
        }
        const int current = WAY == Way::none ? first : n;
        x = computed<WARPS>(x, reinterpret_cast<const unsigned*>(stage(current)));
        if constexpr (WAY == Way::registers) {
          if (more) store(held, n + 1);
        } else if constexpr (WAY == Way::cp_async) {
          async::wait<0>();
        }
        if constexpr (WAY != Way::none) __syncthreads();
      }
    } else if (produces) {
#pragma unroll 1
      for (int n = first; n < end; ++n) {
        if constexpr (WAY == Way::registers_producer) {
          Share held;
          load(held, n);
          Stages::producer_acquire(n - first, state);
          store(held, n);
          Stages::producer_commit(state);
        } else if constexpr (engine) {
          tma::wait(&empty[state.index], state.phase ^ 1);
          ask(n);
        } else {
          Stages::producer_acquire(n - first, state);
          copy(n);
          async::wait<0>();
          Stages::producer_commit(state);
        }
        ++state;
      }
    } else {
#pragma unroll 1
      for (int n = first; n < end; ++n) {
        if constexpr (engine) {
          tma::wait(&full[state.index], state.phase);
        } else {
          Stages::consumer_wait(state);
        }
        x = computed<WARPS>(x, reinterpret_cast<const unsigned*>(stage(n)));
        if constexpr (engine) {
          __syncwarp();
          if (thread % 32 == 0) tma::arrive(&empty[state.index]);
        } else {
          Stages::consumer_release(n - first, state, end - first);
        }
        ++state;
      }
    }
    first = end;
    if (thread == 0) {
      taken[w].cycles = clock_now() - begin;
      taken[w].nanoseconds = nanoseconds_now() - begin_ns;
    }
    __syncthreads();
  }
  if (!produces) results[thread] = x;
}

using StageKernel = void (*)(const std::byte*, Walks, Stamp*, unsigned*);

/// The kernel of the case that `c` is, among all those that a list of values spans.
template <std::size_t WAY, std::size_t WARPS, std::size_t BYTES, std::size_t PRODUCERS>
void look_at(const Case& c, StageKernel& found) {
  constexpr Case it{ways[WAY], all_warps[WARPS], all_bytes[BYTES], all_producers[PRODUCERS]};
  if constexpr (exists(it)) {
    if (c.way == it.way && c.warps == it.warps && c.bytes == it.bytes &&
        c.producers == it.producers) {
      found = compute_stages<it.way, it.warps, it.bytes, it.producers>;
    }
  }
}
template <std::size_t... EACH>
StageKernel kernel_among(const Case& c, std::index_sequence<EACH...>) {
  constexpr std::size_t p = all_producers.size(), b = all_bytes.size(), w = all_warps.size();
  StageKernel found = nullptr;
  (look_at<EACH / p / b / w, EACH / p / b % w, EACH / p % b, EACH % p>(c, found), ...);
  if (found == nullptr) throw std::logic_error("kernel_of: no such case");
  return found;
}
StageKernel kernel_of(const Case& c) {
  constexpr std::size_t count =
      ways.size() * all_warps.size() * all_bytes.size() * all_producers.size();
  return kernel_among(c, std::make_index_sequence<count>());
}

/// What each thread that computes must have at the end.
std::vector<unsigned> expected_of(const Case& c) {
  std::vector<unsigned> x(static_cast<std::size_t>(32 * c.warps));
  for (std::size_t t = 0; t < x.size(); ++t) {
    int first = 0;
    for (const int stages : {shorter, shorter, longer}) {
      for (int n = first; n < first + stages; ++n) {
        const int current = c.way == Way::none ? first : n;
        const std::size_t from =
            static_cast<std::size_t>(current) * static_cast<std::size_t>(c.bytes) % source_bytes;
        for (int r = 0; r < rows; ++r) {
          const int place = place_of(r, static_cast<int>(t), c.warps);
          x[t] = row_of(x[t], word_at(from / 4 + static_cast<std::size_t>(place)));
        }
      }
      first += stages;
    }
  }
  return x;
}

Sampling walked(const Case& c, Stream stream) {
  const StageKernel kernel = kernel_of(c);
  LaunchShape shape;
  shape.grid = dim3(1);
  shape.block = dim3(static_cast<unsigned>(threads_of(c)));
  shape.dynamic_shared_bytes = static_cast<std::size_t>(depth * c.bytes);
  allow_launch(reinterpret_cast<const void*>(kernel), shape);
  auto source = std::make_shared<DeviceArray<unsigned>>(source_bytes / sizeof(unsigned));
  auto taken = std::make_shared<DeviceArray<Stamp>>(max_walks);
  auto results = std::make_shared<DeviceArray<unsigned>>(static_cast<std::size_t>(32 * c.warps));
  LaunchShape filling;
  filling.block = dim3(256);
  filling.grid = dim3(static_cast<unsigned>(source_bytes / sizeof(unsigned) / 256));
  launch(fill, filling, stream, source->data());
  auto expected = std::make_shared<const std::vector<unsigned>>(expected_of(c));
  return [=] {
    AMASIA_CUDA(cudaMemsetAsync(results->data(), 0, results->bytes(), stream));
    launch(kernel, shape, stream, reinterpret_cast<const std::byte*>(source->data()),
           Walks{{shorter, shorter, longer}}, taken->data(), results->data());
    AMASIA_CUDA(cudaStreamSynchronize(stream));
    std::vector<unsigned> found(expected->size());
    results->download(found.data());
    for (std::size_t t = 0; t < found.size(); ++t) {
      if (found[t] != (*expected)[t]) {
        throw std::runtime_error("thread " + std::to_string(t) + " has computed " +
                                 std::to_string(found[t]) + ", not " +
                                 std::to_string((*expected)[t]));
      }
    }
    Stamp host[max_walks];
    taken->download(host);
    return slope_between(host[1], shorter, host[2], longer);
  };
}

std::vector<Claim> claims_of(Way w) {
  switch (w) {
    case Way::none:
      return {{"LDGSTS", "cp.async", 0, false}, {"UBLKCP", "cp.async.bulk", 0, false}};
    case Way::registers:
    case Way::registers_producer:
      return {{"LDG", "ld.global", 1, true, 0, -1, true},
              {"STS", "st.shared", 1, true, 0, -1, true},
              {"LDGSTS", "cp.async", 0, false}};
    case Way::cp_async:
    case Way::cp_async_producer:
      return {{"LDGSTS", "cp.async", 1, true, 0, -1, true}, {"UBLKCP", "cp.async.bulk", 0, false}};
    case Way::bulk:
    case Way::bulk_producer:
      return {{"UBLKCP", "cp.async.bulk", 1, true, 0, -1, true}, {"LDGSTS", "cp.async", 0, false}};
  }
  throw std::logic_error("claims_of: no such way");
}

std::vector<Point> points(const Device&, Scope scope) {
  std::vector<Point> all;
  for (const int warps : all_warps) {
    for (const int bytes : all_bytes) {
      for (const Way way : ways) {
        for (const int producers : all_producers) {
          const Case c{way, warps, bytes, producers};
          if (!exists(c)) continue;
          if (scope == Scope::quick && (warps != 2 || bytes != 4096 || producers > 1)) continue;
          Point p;
          p.at = {{"way", name_of(way)},
                  {"warps", std::to_string(warps)},
                  {"bytes", std::to_string(bytes)},
                  {"producers", std::to_string(producers)}};
          p.quantity = "latency";
          p.unit = "cycles";
          const bool asynchronous = way == Way::cp_async || way == Way::cp_async_producer;
          const bool engine = way == Way::bulk || way == Way::bulk_producer;
          p.runs_from = engine ? 90 : asynchronous ? 80 : 0;
          p.kernels = {{reinterpret_cast<const void*>(kernel_of(c)), threads_of(c),
                        static_cast<std::size_t>(depth * bytes)}};
          p.claims = claims_of(way);
          p.prepare = [c](const Device&, Stream stream) { return walked(c, stream); };
          all.push_back(std::move(p));
        }
      }
    }
  }
  return all;
}

/// What each way costs beside computing.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  for (const MeasuredPoint& p : measured) {
    if (value_of(p.at, "way") == name_of(Way::none)) continue;
    Coordinates beside = p.at;
    for (auto& [name, value] : beside) {
      if (name == "way") value = name_of(Way::none);
      if (name == "producers") value = "0";
    }
    for (const MeasuredPoint& none : measured) {
      if (none.at != beside) continue;
      const double cost = p.value - none.value;
      found.push_back({p.at, "cost", p.unit, cost, cost, cost,
                       "Cycles by which a stage takes longer than where none is brought"});
    }
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"async_copy/stage_cost",
     "How much longer does a chain take because its stages are brought meanwhile?",
     "Warps compute row by row what takes longer than a copy from L2, while the next stage comes: "
     "through registers, by cp.async or by a bulk copy, which they or warps beside them see to; "
     "cycles of a stage, the slope over two numbers of stages. The cost of a "
     "way is the difference to none. Every thread's result is checked.",
     points, findings});

}  // namespace
}  // namespace amasia::stage_cost
