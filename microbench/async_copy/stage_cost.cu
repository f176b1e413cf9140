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

#include "microbench/walks.cuh"
#include "variants/device/launch.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/global_memory.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/named_barrier.cuh"

namespace amasia::stage_cost {
namespace {

constexpr int shorter = 16, longer = 144;  // stages of a walk
constexpr int rows = 32;                   // of a stage
constexpr int depth = 2;                   // stages in shared memory
constexpr int operations = 4;              // of a row
constexpr std::size_t source_bytes = std::size_t{1} << 20;

enum class Carrier { none, registers, cp_async, bulk };
constexpr std::array carriers{Carrier::none, Carrier::registers, Carrier::cp_async, Carrier::bulk};

/// A point: so many warps compute on stages of so many bytes. So many others bring them; 0: those
/// that compute do.
struct Case {
  Carrier carrier;
  int warps;
  int bytes;
  int producers;
};
std::string way_of(const Case& c) {
  constexpr std::array names{"none", "registers", "cp_async", "bulk"};
  return std::string(names[static_cast<std::size_t>(c.carrier)]) +
         (c.producers > 0 ? "_producer" : "");
}
constexpr int threads_of(const Case& c) { return 32 * (c.warps + c.producers); }
/// Chunks of 16 bytes that a thread of those that copy brings of a stage.
constexpr int chunks_of(const Case& c) {
  const int copying = 32 * (c.producers > 0 ? c.producers : c.warps);
  return (c.bytes / 16 + copying - 1) / copying;
}
constexpr int most_held = 16;  // chunks that a thread has registers for
constexpr bool exists(const Case& c) {
  if (c.carrier == Carrier::none) return c.producers == 0;
  // One thread asks the copy engine, so that a second warp would have nothing to do.
  if (c.carrier == Carrier::bulk) return c.producers <= 1;
  return c.carrier == Carrier::cp_async || chunks_of(c) <= most_held;
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

template <Carrier CARRIER, int WARPS, int BYTES, int PRODUCERS>
__global__ void __launch_bounds__(32 * (WARPS + PRODUCERS))
    compute_stages(const std::byte* source, Walks walks, Stamp* taken, unsigned* results) {
  constexpr Case self{CARRIER, WARPS, BYTES, PRODUCERS};
  constexpr int threads = threads_of(self);
  constexpr int copying = 32 * (PRODUCERS > 0 ? PRODUCERS : WARPS);
  using Share = Held<chunks_of(self)>;
  using Stages = block::NamedStages<depth, threads>;
  extern __shared__ __align__(128) std::byte stages[];
  constexpr bool engine = CARRIER == Carrier::bulk;
  __shared__ tma::Barrier full[depth], empty[depth];
  const int thread = static_cast<int>(threadIdx.x);
  const bool produces = PRODUCERS > 0 && thread >= 32 * WARPS;
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
    if constexpr (PRODUCERS == 0) {
      Share held;
      if constexpr (CARRIER == Carrier::cp_async) {
        copy(first);
        async::wait<0>();
      } else if constexpr (engine) {
        ask(first);
      } else {
        load(held, first);
        store(held, first);
      }
      __syncthreads();
#pragma unroll 1
      for (int n = first; n < end; ++n) {
        const bool more = n + 1 < end;
        if constexpr (CARRIER == Carrier::registers) {
          if (more) load(held, n + 1);
        } else if constexpr (CARRIER == Carrier::cp_async) {
          if (more) copy(n + 1);
        } else if constexpr (engine) {
          if (more) ask(n + 1);
          tma::wait(&full[state.index], state.phase);
          ++state;
        }
        const int current = CARRIER == Carrier::none ? first : n;
        x = computed<WARPS>(x, reinterpret_cast<const unsigned*>(stage(current)));
        if constexpr (CARRIER == Carrier::registers) {
          if (more) store(held, n + 1);
        } else if constexpr (CARRIER == Carrier::cp_async) {
          async::wait<0>();
        }
        if constexpr (CARRIER != Carrier::none) __syncthreads();
      }
    } else if (produces) {
#pragma unroll 1
      for (int n = first; n < end; ++n) {
        if constexpr (CARRIER == Carrier::registers) {
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

StageKernel kernel_of(const Case& c) {
  StageKernel found = nullptr;
  const auto look_at = [&](auto warps, auto bytes, auto producers) {
    with_constant<0, 1, 2, 3>(static_cast<int>(c.carrier), [&](auto carrier) {
      constexpr Case it{static_cast<Carrier>(carrier.value), warps.value, bytes.value,
                        producers.value};
      if constexpr (exists(it)) {
        found = compute_stages<it.carrier, it.warps, it.bytes, it.producers>;
      }
    });
  };
  with_constant<2, 4>(c.warps, [&](auto warps) {
    with_constant<1024, 4096, 8192, 16384, 32768>(c.bytes, [&](auto bytes) {
      with_constant<0, 1, 4>(c.producers,
                             [&](auto producers) { look_at(warps, bytes, producers); });
    });
  });
  if (found == nullptr) throw std::logic_error("kernel_of: no such case");
  return found;
}

/// What each thread that computes must have at the end.
std::vector<unsigned> expected_of(const Case& c) {
  std::vector<unsigned> x(static_cast<std::size_t>(32 * c.warps));
  for (std::size_t t = 0; t < x.size(); ++t) {
    int first = 0;
    for (const int stages : {shorter, shorter, longer}) {
      for (int n = first; n < first + stages; ++n) {
        const int current = c.carrier == Carrier::none ? first : n;
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
  fill<<<source_bytes / sizeof(unsigned) / 256, 256, 0, stream>>>(source->data());
  AMASIA_CUDA(cudaGetLastError());
  auto expected = std::make_shared<const std::vector<unsigned>>(expected_of(c));
  return [=] {
    AMASIA_CUDA(cudaMemsetAsync(results->data(), 0, results->bytes(), stream));
    const Walks walks{{shorter, shorter, longer}};
    launch(kernel, shape, stream, reinterpret_cast<const std::byte*>(source->data()), walks,
           taken->data(), results->data());
    const Reading reading = slope_of_walks(stream, *taken, walks);
    const std::vector<unsigned> found = downloaded(*results);
    for (std::size_t t = 0; t < found.size(); ++t) {
      if (found[t] != (*expected)[t]) {
        throw std::runtime_error("thread " + std::to_string(t) + " has computed " +
                                 std::to_string(found[t]) + ", not " +
                                 std::to_string((*expected)[t]));
      }
    }
    return reading;
  };
}

std::vector<Claim> claims_of(Carrier carrier) {
  const Claim no_cp_async{"LDGSTS", "cp.async", 0, false};
  const Claim no_bulk{"UBLKCP", "cp.async.bulk", 0, false};
  if (carrier == Carrier::cp_async) return {at_least(1, "LDGSTS", "cp.async"), no_bulk};
  if (carrier == Carrier::bulk) return {at_least(1, "UBLKCP", "cp.async.bulk"), no_cp_async};
  if (carrier == Carrier::none) return {no_cp_async, no_bulk};
  return {at_least(1, "LDG", "ld.global"), at_least(1, "STS", "st.shared"), no_cp_async};
}

std::vector<Point> points(const Device&, Scope scope) {
  std::vector<Point> all;
  for (const int warps : all_warps) {
    for (const int bytes : all_bytes) {
      for (const Carrier carrier : carriers) {
        for (const int producers : all_producers) {
          const Case c{carrier, warps, bytes, producers};
          if (!exists(c)) continue;
          if (scope == Scope::quick && (warps != 2 || bytes != 4096 || producers > 1)) continue;
          Point& p = add_point(all,
                               {{"way", way_of(c)},
                                {"warps", std::to_string(warps)},
                                {"bytes", std::to_string(bytes)},
                                {"producers", std::to_string(producers)}},
                               "latency", "cycles");
          p.runs_from = carrier == Carrier::bulk ? 90 : carrier == Carrier::cp_async ? 80 : 0;
          p.kernels = {
              kernel_use(kernel_of(c), threads_of(c), static_cast<std::size_t>(depth * bytes))};
          p.claims = claims_of(carrier);
          p.prepare = [c](const Device&, Stream stream) { return walked(c, stream); };
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
    if (value_of(p.at, "way") == "none") continue;
    Coordinates beside = p.at;
    for (auto& [name, value] : beside) {
      if (name == "way") value = "none";
      if (name == "producers") value = "0";
    }
    if (const double none = value_at(measured, beside); none > 0) {
      found.push_back(
          single_finding(p.at, "cost", p.unit, p.value - none,
                         "Cycles by which a stage takes longer than where none is brought"));
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
