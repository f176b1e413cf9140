// memory/bandwidth: bandwidth of every level of the memory hierarchy, by the width of the access
// (Luo et al. 2024, Table V).
//
// Method, L1 and shared memory: one block of 1024 threads on one SM reads the same 64 KiB over and
// over, a warp's words next to each other, in words of 4, 8 and 16 bytes. Bytes per clock are the
// slope between 64 and 512 rounds, between block barriers, after a warm-up round. With fold=add the
// kernel sums what was read, as seed 000 does, so that no load can be dropped: on a GPU with few
// FP64 units that measures DADD. With fold=xor it folds the bits instead, at most one instruction
// per word, and measures the level.
// Method, L2: a grid that fills the device reads a quarter of the L2 past L1 (ld.cg), each block
// another part in each round. The value is the slope in time between 16 and 80 rounds, in cycles of
// the clock that one SM had in that time.
// Method, device memory: seed 000's kernel, five float4 read and one written per thread, over
// arrays of 512 MiB (a 64th of the memory where that is less, never under 4 x L2 in total). Beside
// it a read, a write and a copy of the same words. Two launches, the second timed by events.

#include "microbench/memory/one_sm.cuh"

namespace amasia::memory {
namespace {

// ---- One SM -------------------------------------------------------------------------------------

template <class Access, Space SPACE, Fold FOLD>
void add_one_sm(std::vector<Point>& points) {
  constexpr bool shared = SPACE == Space::shared;
  Point& p = add_point(points,
                       {{"level", shared ? "shared" : "l1"},
                        {"access", Access::name},
                        {"fold", FOLD == Fold::add ? "add" : "xor"},
                        {"blocks", "1"},
                        {"threads", std::to_string(block_threads)}},
                       "throughput", "byte/clk/SM", Better::larger);
  p.kernels = {
      kernel_use(read_one_sm<Access, SPACE, FOLD>, block_threads, shared ? working_set : 0)};
  p.claims = {{shared ? "LDS" : "LDG", shared ? "ld.shared" : "ld.global", loads<Access>()}};
  p.prepare = [](const Device&, Stream stream) { return one_sm<Access, SPACE, FOLD>(stream); };
}

// ---- L2 -----------------------------------------------------------------------------------------

constexpr int l2_threads = 512;
constexpr int l2_loads = 4;  // in flight per thread

/// Each block reads chunks `gridDim.x` apart, `total` over the grid, and stamps its SM.
template <class Access, Fold FOLD>
__global__ void __launch_bounds__(l2_threads)
    read_l2(const std::byte* data, unsigned chunks, unsigned long long total, Stamp* taken,
            float* sink) {
  using Value = typename Access::Value;
  constexpr unsigned chunk_bytes = l2_threads * l2_loads * Access::bytes;
  const Stopwatch watch;
  Sum<Value> sum[4] = {};
  unsigned folded = 0;
  unsigned chunk = blockIdx.x % chunks;
  const unsigned stride = gridDim.x % chunks;
#pragma unroll 1
  for (unsigned long long n = blockIdx.x; n < total; n += gridDim.x) {
    const std::byte* const mine =
        data + std::size_t{chunk} * chunk_bytes + threadIdx.x * Access::bytes;
    Value v[l2_loads];
#pragma unroll
    for (int k = 0; k < l2_loads; ++k) {
      read<Space::l2>(v[k], mine + k * l2_threads * Access::bytes, 0);
    }
    if constexpr (FOLD == Fold::add) {
#pragma unroll
      for (int k = 0; k < l2_loads; ++k) add(sum[k], v[k]);
    } else {
#pragma unroll
      for (int k = 0; k < l2_loads; ++k) folded ^= bits_of(v[k]);
    }
    chunk += stride;
    if (chunk >= chunks) chunk -= chunks;
  }
  const auto total_sum = static_cast<float>((sum[0] + sum[1]) + (sum[2] + sum[3]));
  if (total_sum == -12345.0F || folded == 12345) *sink = total_sum;
  if (blockIdx.x == 0 && threadIdx.x == 0) watch.stop(*taken);
}

template <class Access, Fold FOLD>
Sampling all_sms(const Device& device, Stream stream) {
  constexpr auto kernel = read_l2<Access, FOLD>;
  constexpr std::size_t chunk_bytes = std::size_t{l2_threads} * l2_loads * Access::bytes;
  const std::size_t bytes = device.l2_bytes / 4 / chunk_bytes * chunk_bytes;
  if (bytes == 0) throw std::runtime_error("the L2 is too small for this method");
  const unsigned blocks = ceilings::full_grid(kernel, l2_threads, device.sm_count);
  auto* const data = reinterpret_cast<std::byte*>(buffer_of(bytes));
  AMASIA_CUDA(cudaMemsetAsync(data, 0, bytes, stream));
  auto taken = std::make_shared<DeviceArray<Stamp>>(1);
  auto sink = std::make_shared<DeviceArray<float>>(1);
  return [=] {
    Reading r = time_of_round(stream, *taken, 16, 80, [&](int rounds) {
      const auto chunks = static_cast<unsigned>(bytes / chunk_bytes);
      kernel<<<blocks, l2_threads, 0, stream>>>(
          data, chunks, static_cast<unsigned long long>(chunks) * static_cast<unsigned>(rounds),
          taken->data(), sink->data());
    });
    r.value = static_cast<double>(bytes) / *r.cycles;
    return r;
  };
}

template <class Access, Fold FOLD>
void add_l2(std::vector<Point>& points) {
  Point& p = add_point(points,
                       {{"level", "l2"},
                        {"access", Access::name},
                        {"fold", FOLD == Fold::add ? "add" : "xor"},
                        {"blocks", "all"},
                        {"threads", std::to_string(l2_threads)}},
                       "throughput", "byte/clk", Better::larger);
  p.kernels = {kernel_use(read_l2<Access, FOLD>, l2_threads, 0, 1,
                          std::size_t{l2_threads} * l2_loads * Access::bytes)};
  p.claims = {{"LDG", "ld.global", l2_loads}};
  p.prepare = [](const Device& d, Stream stream) { return all_sms<Access, FOLD>(d, stream); };
}

// ---- Device memory ------------------------------------------------------------------------------

constexpr int memory_threads = 256;

/// READS words of 16 bytes read from as many arrays, WRITES (0 or 1) written to one more.
template <int READS, int WRITES>
__global__ void __launch_bounds__(memory_threads)
    stream_words(const float4* in, std::size_t words, float4* out, float seed) {
  const std::size_t i = blockIdx.x * std::size_t{memory_threads} + threadIdx.x;
  float4 sum = make_float4(seed, seed, seed, seed);
#pragma unroll
  for (int k = 0; k < READS; ++k) {
    const float4 v = in[k * words + i];
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
  }
  if (WRITES > 0 || sum.x + sum.y + sum.z + sum.w == -12345.0F) out[i] = sum;
}

template <int READS, int WRITES>
Sampling streaming(const Device& device, Stream stream) {
  constexpr std::size_t block_bytes = memory_threads * sizeof(float4);
  constexpr int arrays = READS + 1;
  const std::size_t each =
      std::min(std::size_t{512} << 20, device.memory_bytes / 64) / block_bytes * block_bytes;
  if (each * (READS + WRITES) < 4 * device.l2_bytes) {
    throw std::runtime_error("a 64th of the memory per array is not enough beyond the L2");
  }
  auto* const data = reinterpret_cast<float4*>(buffer_of(each * arrays));
  AMASIA_CUDA(cudaMemsetAsync(data, 0, each * arrays, stream));
  return [=] {
    const std::size_t words = each / sizeof(float4);
    const double ms = ceilings::warm_milliseconds(stream, [&] {
      stream_words<READS, WRITES>
          <<<static_cast<unsigned>(each / block_bytes), memory_threads, 0, stream>>>(
              data, words, data + READS * words, 0.0F);
    });
    return of_time(1e6 * ms, static_cast<double>(each) * (READS + WRITES) / (1e6 * ms));
  };
}

template <int READS, int WRITES>
void add_memory(std::vector<Point>& points, const char* access) {
  Point& p = add_point(points,
                       {{"level", "memory"},
                        {"access", access},
                        {"blocks", "all"},
                        {"threads", std::to_string(memory_threads)}},
                       "bandwidth", "GB/s", Better::larger);
  p.kernels = {kernel_use(stream_words<READS, WRITES>, memory_threads, 0, 1,
                          READS * memory_threads * sizeof(float4))};
  if (READS > 0) p.claims.push_back({"LDG", "ld.global", READS, false});
  p.claims.push_back({"STG", "st.global", 1, false});
  p.prepare = [](const Device& d, Stream stream) { return streaming<READS, WRITES>(d, stream); };
}

// ---- Registration -------------------------------------------------------------------------------

template <class Access>
void add_access(std::vector<Point>& points) {
  add_one_sm<Access, Space::l1, Fold::add>(points);
  add_one_sm<Access, Space::l1, Fold::bits>(points);
  add_one_sm<Access, Space::shared, Fold::bits>(points);
  add_l2<Access, Fold::add>(points);
  add_l2<Access, Fold::bits>(points);
}

std::vector<Point> points(const Device&, Scope) {
  std::vector<Point> all;
  add_access<Fp32>(all);
  add_access<Fp64>(all);
  add_access<Fp32x4>(all);
  add_memory<5, 1>(all, "5 reads 1 write");
  add_memory<1, 1>(all, "copy");
  add_memory<1, 0>(all, "read");
  add_memory<0, 1>(all, "write");
  return all;
}

const bool registered = register_microbenchmark(
    {"memory/bandwidth", "How fast do bytes come at every level, by the width of the access?",
     "L1 and shared memory: one block of 1024 threads reads 64 KiB over and over, bytes per clock "
     "as the slope over two numbers of rounds; L2: all SMs read a quarter of it past L1, slope in "
     "time and the clock kept meanwhile; device memory: seed 000's five reads and one write of "
     "16-byte words per thread, and read, write and copy, over arrays far beyond the L2. With "
     "fold=add the values are summed as in seed 000, with fold=xor their bits are folded.",
     points});

}  // namespace
}  // namespace amasia::memory
