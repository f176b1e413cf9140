// launch/occupancy: how many blocks, warps and registers are resident on an SM at once, observed
// rather than queried (Hopper Tuning Guide, 4.1.1).
//
// Method: twice as many blocks as fit are launched. Each notes when it starts and then stays for
// 0.3 ms: blocks that start within 0.15 ms of the first one are resident together.
// `limit=blocks`: blocks of 32 threads. `limit=warps`: blocks of 1024 threads.
// `curve`: the warps by block size.
// `limit=registers`: a kernel holds so many values that registers are the limit; the value is what
//   the resident threads are given (8 at a time, per thread).
// `limit=registers of a thread`: what the compiler gives a kernel that wants more than there are.
//   Its result is checked.

#include "microbench/residency.cuh"
#include "variants/ptx/registers.cuh"

namespace amasia {
namespace {

constexpr int held = 119;  // + what the loop needs: all of the 128 that 512 threads can have
constexpr int wanted = 320;

/// As stay(), with `held` values that are live throughout.
template <int THREADS>
__global__ void __launch_bounds__(THREADS)
    stay_full(unsigned long long duration_ns, unsigned long long* started, unsigned* sink) {
  const unsigned long long begin = nanoseconds_now();
  if (threadIdx.x == 0) started[blockIdx.x] = begin;
  unsigned v[held];
#pragma unroll
  for (int i = 0; i < held; ++i) v[i] = threadIdx.x * (i + 1);
  while (nanoseconds_now() - begin < duration_ns) {
#pragma unroll
    for (int i = 0; i < held; ++i) v[i] = opaque(v[i]);
  }
  unsigned sum = 0;
#pragma unroll
  for (int i = 0; i < held; ++i) sum ^= v[i];
  if (sum == 0x12345678) *sink = sum;
}

/// Wants more values at once than a thread can have registers; adds them up.
template <int THREADS>
__global__ void __launch_bounds__(THREADS) hold_many(unsigned factor, unsigned* sum) {
  unsigned v[wanted];
#pragma unroll
  for (int i = 0; i < wanted; ++i) v[i] = factor * i;
#pragma unroll
  for (int i = 0; i < wanted; ++i) asm volatile("add.u32 %0, %0, 1;" : "+r"(v[i]));
  unsigned total = 0;
#pragma unroll
  for (int i = wanted - 1; i >= 0; --i) total += v[i];
  sum[threadIdx.x] = total;
}

constexpr int full_threads = 512;
constexpr int many_threads = 32;

template <int THREADS>
Sampling blocks_seen(const Device& device, Stream stream, double per_block) {
  const unsigned blocks = static_cast<unsigned>(device.sm_count) * 2 *
                          static_cast<unsigned>(std::min(64, device.max_threads_per_sm / THREADS));
  auto census = std::make_shared<Census>(blocks);
  return [=] {
    const double resident = census->resident(stream, [&](auto* started) {
      stay<THREADS><<<blocks, THREADS, 0, stream>>>(census_ns, started);
    });
    return Reading{per_block / device.sm_count * resident};
  };
}

Sampling registers_seen(const Device& device, Stream stream) {
  constexpr auto kernel = stay_full<full_threads>;
  cudaFuncAttributes attributes{};
  AMASIA_CUDA(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  const int given = (attributes.numRegs + 7) / 8 * 8;
  const unsigned blocks = static_cast<unsigned>(device.sm_count) * 8;
  auto census = std::make_shared<Census>(blocks);
  auto sink = std::make_shared<DeviceArray<unsigned>>(1);
  return [=] {
    const double resident = census->resident(stream, [&](auto* started) {
      kernel<<<blocks, full_threads, 0, stream>>>(census_ns, started, sink->data());
    });
    return Reading{resident * full_threads * given / device.sm_count};
  };
}

Sampling registers_of_thread(Stream stream) {
  auto sums = std::make_shared<DeviceArray<unsigned>>(many_threads);
  return [=] {
    constexpr auto kernel = hold_many<many_threads>;
    cudaFuncAttributes attributes{};
    AMASIA_CUDA(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
    sums->poison(stream);
    kernel<<<1, many_threads, 0, stream>>>(3, sums->data());
    finish(stream);
    for (const unsigned sum : downloaded(*sums)) {
      if (sum != wanted + 3 * (wanted - 1) * wanted / 2) {
        throw std::runtime_error("the sum of the values is " + std::to_string(sum));
      }
    }
    return Reading{static_cast<double>(attributes.numRegs)};
  };
}

/// A point of a kernel that stores so many words.
Point& add(std::vector<Point>& points, const char* limit, const char* unit, const KernelUse& kernel,
           int stores = 1) {
  Point& p = add_point(points, {{"limit", limit}, {"threads", std::to_string(kernel.threads)}},
                       "resident", unit, Better::larger);
  p.kernels = {kernel};
  p.claims = {{"STG", "st.global", stores, false}};
  return p;
}

template <int THREADS>
void add_blocks(std::vector<Point>& points, const char* limit, const char* unit, double per_block) {
  add(points, limit, unit, kernel_use(stay<THREADS>, THREADS)).prepare =
      [=](const Device& d, Stream stream) { return blocks_seen<THREADS>(d, stream, per_block); };
}
template <int... WARPS>
void add_curve(std::vector<Point>& points) {
  (add_blocks<32 * WARPS>(points, "curve", "warps/SM", WARPS), ...);
}

std::vector<Point> points(const Device&, Scope scope) {
  std::vector<Point> all;
  add_blocks<32>(all, "blocks", "blocks/SM", 1);
  add_blocks<1024>(all, "warps", "warps/SM", 32);
  if (scope == Scope::full) add_curve<1, 2, 3, 4, 6, 12, 16, 24, 32>(all);
  add(all, "registers", "registers/SM", kernel_use(stay_full<full_threads>, full_threads), 2)
      .prepare = registers_seen;
  add(all, "registers of a thread", "registers", kernel_use(hold_many<many_threads>, many_threads))
      .prepare = [](const Device&, Stream stream) { return registers_of_thread(stream); };
  return all;
}

const bool registered = register_microbenchmark(
    {"launch/occupancy", "How many blocks, warps and registers are resident on an SM at once?",
     "More blocks than can be resident are launched, each notes when it starts and stays for 0.3 "
     "ms; those that start in the first half of that were there together. By block size, and with "
     "registers as the limit.",
     points});

}  // namespace
}  // namespace amasia
