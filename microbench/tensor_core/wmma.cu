// tensor_core/wmma: the C++ interface of the tensor cores: how long wmma::mma_sync takes and what
// it becomes.
//
// Method: fragments loaded once, by type and shape of seed 001's Table III. Latency: one warp adds
// product after product to one sum; issue interval: to four sums in turn; both as the slope over
// loops of 16. Throughput: 16 warps per SM of four sums, milliseconds, by events, random data. Two
// B's and their negatives take turns, so that sums stay bounded; integer sums wrap around. The
// product of random data is first held to the CPU's. layout=...: A and B row- or column-major:
// where the machine instruction wants the other one, MOVM transposes the fragment once, outside the
// loop. clock=n: what seed 001 does, n multiplications between two clock reads of one warp, divided
// by n: the read does not wait for the sum, so that with n = 1 it is not a latency.

#include <mma.h>

#include <cuda_bf16.h>

#include <cmath>
#include <memory>
#include <random>

#include <type_traits>

#include "microbench/ceilings/timing.hpp"
#include "microbench/walks.cuh"

namespace amasia::tensor {
namespace {

namespace wmma = nvcuda::wmma;

constexpr int per_loop = 16;
constexpr int matrices = 4;  // B's in turn
constexpr int rate_threads = 512;
constexpr int rate_chains = 4;

// sm_75 lacks bf16, tf32 and f64, and mma.h the name of tf32 there: points start at sm_80.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
using Tf32Name = wmma::precision::tf32;
#else
using Tf32Name = float;
#endif

/// One row of Table III: T as wmma names it, its element in memory, the sum, what it becomes.
template <class T, class S, class C>
struct TypeOf {
  using Type = T;
  using Stored = S;
  using Sum = C;
};
struct F16 : TypeOf<half, half, half> {
  static constexpr const char *name = "f16", *sum = "f16", *group = "HMMA";
  static constexpr int machine = 2;
};
struct F16F32 : TypeOf<half, half, float> {
  static constexpr const char *name = "f16", *sum = "f32", *group = "HMMA";
  static constexpr int machine = 2;
};
struct Bf16 : TypeOf<__nv_bfloat16, __nv_bfloat16, float> {
  static constexpr const char *name = "bf16", *sum = "f32", *group = "HMMA";
  static constexpr int machine = 2;
};
struct Tf32 : TypeOf<Tf32Name, float, float> {
  static constexpr const char *name = "tf32", *sum = "f32", *group = "HMMA";
  static constexpr int machine = 4;
};
struct F64 : TypeOf<double, double, double> {
  static constexpr const char *name = "f64", *sum = "f64", *group = "DMMA";
  static constexpr int machine = 1;
};
struct U8 : TypeOf<unsigned char, unsigned char, int> {
  static constexpr const char *name = "u8", *sum = "s32", *group = "IMMA";
  static constexpr int machine = 2;
};

template <class Type, int M, int N, int K, bool A_ROWS = true, bool B_ROWS = false>
struct Wmma : Type {
  using A = std::conditional_t<A_ROWS, wmma::row_major, wmma::col_major>;
  using B = std::conditional_t<B_ROWS, wmma::row_major, wmma::col_major>;
  static constexpr int m = M, n = N, k = K;
  static constexpr bool a_rows = A_ROWS, b_rows = B_ROWS;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <class I>
struct Fragments {
  wmma::fragment<wmma::matrix_a, I::m, I::n, I::k, typename I::Type, typename I::A> a;
  wmma::fragment<wmma::matrix_b, I::m, I::n, I::k, typename I::Type, typename I::B> b[matrices];

  __device__ Fragments(const typename I::Stored* in_a, const typename I::Stored* in_b) {
    wmma::load_matrix_sync(a, in_a, I::a_rows ? I::k : I::m);
#pragma unroll
    for (int i = 0; i < matrices; ++i) {
      wmma::load_matrix_sync(b[i], in_b + i * I::n * I::k, I::b_rows ? I::n : I::k);
    }
  }
};
template <class I>
using Sums = wmma::fragment<wmma::accumulator, I::m, I::n, I::k, typename I::Sum>;
#endif

template <class I, int CHAINS>
__global__ void __launch_bounds__(rate_threads)
    run_wmma(const typename I::Stored* in_a, const typename I::Stored* in_b, Walks walks,
             Stamp* taken, typename I::Sum* out) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  Fragments<I> in(in_a, in_b);
  Sums<I> c[CHAINS];
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) wmma::fill_fragment(c[i], static_cast<typename I::Sum>(0.0F));
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    const unsigned long long begin_ns = nanoseconds_now();
    const long long begin = clock_now();
#pragma unroll 1
    for (int n = 0; n < walks.links[w]; ++n) {
#pragma unroll
      for (int i = 0; i < per_loop; ++i) {
        wmma::mma_sync(c[i % CHAINS], in.a, in.b[i / CHAINS % matrices], c[i % CHAINS]);
      }
    }
    // The sums must have arrived before the clock is read. They never add up to this.
    typename I::Sum total = c[0].x[0];
#pragma unroll
    for (int i = 0; i < CHAINS * c[0].num_elements; ++i) {
      total = total + c[i / c[0].num_elements].x[i % c[0].num_elements];
    }
    if (total == static_cast<typename I::Sum>(12345.0F)) *out = total;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      taken[w].cycles = clock_now() - begin;
      taken[w].nanoseconds = nanoseconds_now() - begin_ns;
    }
  }
  wmma::fill_fragment(c[0], static_cast<typename I::Sum>(0.0F));
  wmma::mma_sync(c[0], in.a, in.b[0], c[0]);
  if (blockIdx.x == 0 && threadIdx.x < 32) {
    wmma::store_matrix_sync(out, c[0], I::n, wmma::mem_row_major);
  }
#endif
}

/// COUNT multiplications between two clock reads, many times over.
template <class I, int COUNT>
__global__ void __launch_bounds__(32)
    run_clocked(const typename I::Stored* in_a, const typename I::Stored* in_b, int times,
                long long* cycles, typename I::Sum* out) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  Fragments<I> in(in_a, in_b);
  Sums<I> c;
  wmma::fill_fragment(c, static_cast<typename I::Sum>(0.0F));
  long long sum = 0;
#pragma unroll 1
  for (int t = 0; t < times; ++t) {
    const long long begin = clock_now();
#pragma unroll
    for (int i = 0; i < COUNT; ++i) wmma::mma_sync(c, in.a, in.b[i % matrices], c);
    sum += clock_now() - begin;
  }
  if (threadIdx.x == 0) *cycles = sum;
  wmma::store_matrix_sync(out, c, I::n, wmma::mem_row_major);
#endif
}

/// Operands on the device, and the product on the host.
template <class I>
class Operands {
 public:
  using Stored = typename I::Stored;
  Operands() {
    std::mt19937 random(7);
    constexpr bool integers = std::is_integral_v<Stored>;
    std::uniform_real_distribution<float> value(-1, 1);
    const auto next = [&] {
      if constexpr (integers) return static_cast<Stored>(random());
      // Twelve bits: exact in f16 and tf32 alike.
      else
        return static_cast<Stored>(std::round(value(random) * 128) / 128);
    };
    for (int i = 0; i < I::m * I::k; ++i) a_.push_back(next());
    for (int i = 0; i < 2 * I::n * I::k; ++i) b_.push_back(next());
    for (int i = 0; i < 2 * I::n * I::k; ++i) {
      if constexpr (integers)
        b_.push_back(b_[i]);
      else
        b_.push_back(static_cast<Stored>(-static_cast<float>(b_[i])));
    }
    a.upload(a_.data());
    b.upload(b_.data());
    out.poison(nullptr);
  }

  /// Throws unless `out` is A times the first B.
  void hold() const {
    std::vector<typename I::Sum> got(out.size());
    out.download(got.data());
    for (int m = 0; m < I::m; ++m) {
      for (int n = 0; n < I::n; ++n) {
        double sum = 0;
        for (int k = 0; k < I::k; ++k) {
          sum += static_cast<double>(a_[I::a_rows ? m * I::k + k : k * I::m + m]) *
                 static_cast<double>(b_[I::b_rows ? k * I::n + n : n * I::k + k]);
        }
        const double bound = std::is_same_v<typename I::Sum, half> ? 0.02 : 1e-5;
        if (!(std::fabs(static_cast<double>(got[m * I::n + n]) - sum) <= bound)) {
          throw std::runtime_error("the product is wrong at row " + std::to_string(m) +
                                   ", column " + std::to_string(n));
        }
      }
    }
  }

 private:
  std::vector<Stored> a_, b_;

 public:
  DeviceArray<Stored> a{I::m * I::k}, b{matrices * I::n * I::k};
  DeviceArray<typename I::Sum> out{I::m * I::n};
  DeviceArray<Stamp> taken{max_walks};
};

template <class I, int CHAINS>
std::shared_ptr<const Operands<I>> verified(Stream stream) {
  auto o = std::make_shared<const Operands<I>>();
  run_wmma<I, CHAINS><<<1, 32, 0, stream>>>(o->a.data(), o->b.data(), Walks{{1, 0, 0}},
                                            o->taken.data(), o->out.data());
  AMASIA_CUDA(cudaGetLastError());
  AMASIA_CUDA(cudaStreamSynchronize(stream));
  o->hold();
  return o;
}

template <class I, int CHAINS>
Sampling cycles(Stream stream) {
  auto o = verified<I, CHAINS>(stream);
  return [o, stream] {
    constexpr int few = 64, many = 320;
    run_wmma<I, CHAINS><<<1, 32, 0, stream>>>(o->a.data(), o->b.data(), Walks{{16, few, many}},
                                              o->taken.data(), o->out.data());
    AMASIA_CUDA(cudaGetLastError());
    AMASIA_CUDA(cudaStreamSynchronize(stream));
    Stamp host[max_walks];
    o->taken.download(host);
    return slope_between(host[1], few * per_loop, host[2], many * per_loop);
  };
}

template <class I>
Sampling rate(const Device& device, Stream stream) {
  auto o = verified<I, rate_chains>(stream);
  const auto blocks = static_cast<unsigned>(device.sm_count);
  return [o, blocks, stream] {
    constexpr int iterations = 4000;
    const double ms = ceilings::warm_milliseconds(stream, [&] {
      run_wmma<I, rate_chains><<<blocks, rate_threads, 0, stream>>>(
          o->a.data(), o->b.data(), Walks{{iterations, 0, 0}}, o->taken.data(), o->out.data());
    });
    Stamp stamp[max_walks];
    o->taken.download(stamp);
    Reading r;
    r.time_ns = 1e6 * ms;
    r.clock_mhz =
        1e3 * static_cast<double>(stamp[0].cycles) / static_cast<double>(stamp[0].nanoseconds);
    r.cycles = *r.time_ns * *r.clock_mhz * 1e-3;
    r.value = 2.0 * I::m * I::n * I::k * blocks * (rate_threads / 32) * per_loop * iterations /
              *r.time_ns * 1e-3;
    return r;
  };
}

template <class I, int COUNT>
Sampling clocked(Stream stream) {
  auto o = verified<I, 1>(stream);
  auto taken = std::make_shared<DeviceArray<long long>>(1);
  return [o, taken, stream] {
    constexpr int times = 64;
    run_clocked<I, COUNT>
        <<<1, 32, 0, stream>>>(o->a.data(), o->b.data(), times, taken->data(), o->out.data());
    AMASIA_CUDA(cudaGetLastError());
    AMASIA_CUDA(cudaStreamSynchronize(stream));
    long long sum = 0;
    taken->download(&sum);
    Reading r;
    r.value = static_cast<double>(sum) / (times * COUNT);
    r.cycles = r.value;
    return r;
  };
}

template <class I>
Point point(const char* quantity, const char* unit, const void* kernel, int threads, int count) {
  Point p;
  p.at = {{"input", I::name},
          {"sum", I::sum},
          {"shape",
           "m" + std::to_string(I::m) + "n" + std::to_string(I::n) + "k" + std::to_string(I::k)},
          {"layout", std::string(I::a_rows ? "row" : "col") + "." + (I::b_rows ? "row" : "col")}};
  p.quantity = quantity;
  p.unit = unit;
  p.runs_from = 80;
  p.kernels = {{kernel, threads}};
  p.claims = {{I::group, "wmma.mma", count * I::machine, true, 0, count}};
  return p;
}

template <class I, int CHAINS>
Point looped(const char* quantity, const char* unit) {
  return point<I>(quantity, unit, reinterpret_cast<const void*>(run_wmma<I, CHAINS>),
                  CHAINS == 1 ? 32 : rate_threads, per_loop);
}

template <class I>
void add_latency(std::vector<Point>& points, int moves = -1) {
  Point p = looped<I, 1>("latency", "cycles");
  // Before the loop: a fragment of 16 x 16 is four 8 x 8 matrices.
  if (moves >= 0) p.claims.push_back({"MOVM", "wmma.load", moves, false, 0, 1 + matrices});
  p.prepare = [](const Device&, Stream s) { return cycles<I, 1>(s); };
  points.push_back(std::move(p));
}

template <class I>
void add(std::vector<Point>& points, Scope scope, int moves = -1) {
  add_latency<I>(points, moves);
  if (scope == Scope::full) {
    Point p = looped<I, rate_chains>("interval", "cycles");
    p.prepare = [](const Device&, Stream s) { return cycles<I, rate_chains>(s); };
    points.push_back(std::move(p));
  }
  Point p = looped<I, rate_chains>("throughput",
                                   std::is_integral_v<typename I::Stored> ? "TOP/s" : "TFLOP/s");
  p.larger_is_better = true;
  p.prepare = [](const Device& d, Stream s) { return rate<I>(d, s); };
  points.push_back(std::move(p));
}

template <class I, int COUNT>
void add_clocked(std::vector<Point>& points) {
  Point p = point<I>("cycles between clock reads", "cycles",
                     reinterpret_cast<const void*>(run_clocked<I, COUNT>), 32, COUNT);
  p.at.emplace_back("clock", std::to_string(COUNT));
  p.prepare = [](const Device&, Stream s) { return clocked<I, COUNT>(s); };
  points.push_back(std::move(p));
}

std::vector<Point> points(const Device&, Scope scope) {
  std::vector<Point> all;
  add<Wmma<F16, 16, 16, 16>>(all, scope);
  add<Wmma<F16F32, 16, 16, 16>>(all, scope, 0);
  add<Wmma<Bf16, 16, 16, 16>>(all, scope);
  add<Wmma<Tf32, 16, 16, 8>>(all, scope);
  add<Wmma<F64, 8, 8, 4>>(all, scope);
  add<Wmma<U8, 16, 16, 16>>(all, scope);
  if (scope == Scope::quick) return all;
  add_latency<Wmma<F16, 8, 32, 16>>(all);
  add_latency<Wmma<F16, 32, 8, 16>>(all);
  add_latency<Wmma<F16F32, 8, 32, 16>>(all);
  add_latency<Wmma<F16F32, 32, 8, 16>>(all);
  add_latency<Wmma<U8, 8, 32, 16>>(all);
  add_latency<Wmma<U8, 32, 8, 16>>(all);
  add_latency<Wmma<F16F32, 16, 16, 16, true, true>>(all, 4 * matrices);
  add_latency<Wmma<F16F32, 16, 16, 16, false, true>>(all, 4 * (1 + matrices));
  add_latency<Wmma<F16F32, 16, 16, 16, false, false>>(all, 4);
  add_clocked<Wmma<F16F32, 16, 16, 16>, 1>(all);
  add_clocked<Wmma<F16F32, 16, 16, 16>, 4>(all);
  Point u4;
  u4.at = {{"input", "u4"}, {"sum", "s32"}, {"shape", "m8n8k32"}, {"layout", "row.col"}};
  u4.quantity = "latency";
  u4.unit = "cycles";
  u4.unsupported =
      "four-bit wmma is a preview of one layout that GPUs from sm_90 on emulate: tensor_core/mma "
      "measures s4";
  all.push_back(std::move(u4));
  return all;
}

/// Machine instructions per wmma, as claimed and proved, and the latency of each.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  const auto add_type = [&](const char* name, const char* sum, int machine) {
    for (const MeasuredPoint& p : measured) {
      if (p.quantity != "latency" || value_of(p.at, "input") != name ||
          value_of(p.at, "sum") != sum || value_of(p.at, "layout") != "row.col" ||
          value_of(p.at, "shape").rfind("m8n32", 0) == 0 ||
          value_of(p.at, "shape").rfind("m32n8", 0) == 0) {
        continue;
      }
      const double each = p.value / machine;
      found.push_back({{{"input", name}, {"sum", sum}},
                       "instructions",
                       "instructions",
                       static_cast<double>(machine),
                       static_cast<double>(machine),
                       static_cast<double>(machine),
                       "Counted in the loop of the kernel that was measured"});
      found.push_back({{{"input", name}, {"sum", sum}},
                       "latency_each",
                       "cycles",
                       each,
                       each,
                       each,
                       "Latency of the dependent chain over the machine instructions of one wmma"});
    }
  };
  add_type(F16::name, F16::sum, F16::machine);
  add_type(F16F32::name, F16F32::sum, F16F32::machine);
  add_type(Bf16::name, Bf16::sum, Bf16::machine);
  add_type(Tf32::name, Tf32::sum, Tf32::machine);
  add_type(F64::name, F64::sum, F64::machine);
  add_type(U8::name, U8::sum, U8::machine);
  return found;
}

const bool registered = register_microbenchmark(
    {"tensor_core/wmma", "What does wmma::mma_sync cost, and which machine instructions is it?",
     "Fragments loaded once; latency as the slope over dependent wmma of one warp, issue interval "
     "over four sums, throughput of 16 warps per SM by events; layouts, and seed 001's clock reads "
     "around one and four; each product is first held to the CPU's.",
     points, findings});

}  // namespace
}  // namespace amasia::tensor
