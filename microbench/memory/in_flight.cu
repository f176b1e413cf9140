// memory/in_flight: how many bytes must be in flight per SM to reach the bandwidth? (Little's law)
//
// Method: one or two blocks per SM, of 32 to 1024 threads, read 16-byte words past L1, neighbours
// next to each other; each thread asks for 1, 2 or 4 words, waits for all of them, and asks again.
// The bytes in flight per SM are threads x words x 16, at most: while a thread computes its next
// address it has none. Footprint: 4 GiB or an eighth of the memory for level=memory, a quarter of
// the L2 for level=l2; the blocks go through it side by side. The slope in time over two lengths
// (one and two passes, 16 and 48 in the L2). By Little's law the knee is latency x bandwidth; the
// finding is where the curve reaches 95 % of its maximum.

#include <map>

#include "microbench/memory/chase.cuh"

namespace amasia::memory {
namespace {

template <int WORDS>
__global__ void __launch_bounds__(1024)
    read_batches(const std::byte* data, std::size_t batches, std::size_t total, unsigned* sink) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t pitch = std::size_t{blockDim.x} * gridDim.x * 16;  // between words of a batch
  std::size_t batch = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  // A batch is WORDS words, `pitch` apart: the grid reads WORDS consecutive runs at a time.
  unsigned folded = 0;
  std::size_t run = 0;
#pragma unroll 1
  for (std::size_t n = 0; n < total; n += step) {
    const std::byte* const mine = data + run * pitch * WORDS + batch * 16;
    uint4 v[WORDS];
#pragma unroll
    for (int k = 0; k < WORDS; ++k) v[k] = load_past_l1(mine + k * pitch);
#pragma unroll
    for (int k = 0; k < WORDS; ++k) folded ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    if (++run == batches) run = 0;
  }
  if (folded == 0x12345678U) *sink = folded;
}

struct Batch {
  const char* level;
  int blocks_per_sm;
  int threads;
  int words;
  std::size_t in_flight() const {
    return std::size_t{16} * static_cast<unsigned>(blocks_per_sm * threads * words);
  }
};

using BatchKernel = void (*)(const std::byte*, std::size_t, std::size_t, unsigned*);
BatchKernel kernel_of(int words) {
  return words == 1 ? read_batches<1> : words == 2 ? read_batches<2> : read_batches<4>;
}

Sampling batches(const Batch& batch, const Device& device, Stream stream) {
  const bool l2 = std::string(batch.level) == "l2";
  const std::size_t footprint =
      l2 ? device.l2_bytes / 4 : std::min(std::size_t{4} << 30, device.memory_bytes / 8);
  const auto grid = static_cast<unsigned>(batch.blocks_per_sm * device.sm_count);
  const std::size_t run_bytes =
      std::size_t{16} * grid * static_cast<unsigned>(batch.threads * batch.words);
  const std::size_t runs = footprint / run_bytes;
  if (runs == 0) throw std::runtime_error("the footprint is smaller than what is in flight");
  auto* const data = reinterpret_cast<std::byte*>(buffer_of(footprint));
  AMASIA_CUDA(cudaMemsetAsync(data, 0x5a, footprint, stream));
  auto sink = std::make_shared<DeviceArray<unsigned>>(1);
  const BatchKernel kernel = kernel_of(batch.words);
  // Few bytes in flight take long: there, a part of the footprint is enough.
  constexpr std::size_t enough = 64 << 10;
  const std::size_t share =
      l2 ? 1
         : std::max<std::size_t>(1, enough / std::max<std::size_t>(1024, batch.in_flight()) / 4);
  return [=] {
    const auto time = [&](std::size_t steps) {
      const std::size_t total = steps * grid * static_cast<unsigned>(batch.threads);
      const auto read = [&](std::size_t count) {
        kernel<<<grid, batch.threads, 0, stream>>>(data, runs, count, sink->data());
      };
      return 1e6 * milliseconds(
                       stream, [&] { read(total / 8 + 1); }, [&] { read(total); });
    };
    const std::size_t few = l2 ? 16 * runs : std::max<std::size_t>(1, runs / (2 * share));
    const std::size_t many = l2 ? 48 * runs : std::max<std::size_t>(2, runs / share);
    const double time_ns =
        slope_of({{static_cast<double>(few), time(few)},
                  {static_cast<double>(many), time(many)}});  // of one run of all SMs
    return of_time(time_ns, static_cast<double>(run_bytes) / time_ns);
  };
}

std::vector<Point> points(const Device& device, Scope scope) {
  std::vector<Point> all;
  for (const char* level : {"memory", "l2"}) {
    for (const int words : {1, 2, 4}) {
      if (scope == Scope::quick && words == 2) continue;
      for (int threads = 32; threads <= 2048; threads *= 2) {
        if (threads > device.max_threads_per_sm) continue;
        const Batch batch{level, threads > 1024 ? 2 : 1, std::min(threads, 1024), words};
        Point& p = add_point(all,
                             {{"level", level},
                              {"in_flight", std::to_string(batch.in_flight())},
                              {"threads", std::to_string(threads)},
                              {"words", std::to_string(words)}},
                             "bandwidth", "GB/s", Better::larger);
        p.kernels = {kernel_use(kernel_of(words), batch.threads, 0, 1,
                                batch.in_flight() / static_cast<unsigned>(batch.blocks_per_sm))};
        p.claims = {{"LDG", "ld.global", words}};
        if (std::string(level) == "l2" &&
            batch.in_flight() * static_cast<unsigned>(device.sm_count) > device.l2_bytes / 4) {
          p.unsupported = "all SMs together ask for more at once than a quarter of the L2 holds";
        }
        p.prepare = [batch](const Device& d, Stream stream) { return batches(batch, d, stream); };
      }
    }
  }
  return all;
}

/// The knee of each curve of one number of words, and of the best of all of them.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::map<std::string, std::map<std::string, std::vector<Abscissa>>> curves;
  for (const MeasuredPoint& p : measured) {
    curves[value_of(p.at, "level")][value_of(p.at, "words")].push_back(
        {std::stod(value_of(p.at, "in_flight")), p.value});
  }
  std::vector<Finding> found;
  for (const auto& [level, of_words] : curves) {
    std::vector<double> knees;
    for (const auto& [words, curve] : of_words) knees.push_back(saturation_of(curve, 0.95));
    std::sort(knees.begin(), knees.end());
    found.push_back({{{"level", level}},
                     "bytes in flight at 95 % of the bandwidth",
                     "byte/SM",
                     knees[knees.size() / 2],
                     knees.front(),
                     knees.back(),
                     "Where the curve crosses 95 % of its maximum, by interpolation; low and high: "
                     "of the curves with 1, 2 and 4 words per thread"});
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"memory/in_flight", "How many bytes must be in flight per SM before the bandwidth is reached?",
     "One or two blocks per SM of 32 to 1024 threads read 16-byte words past L1, 1, 2 or 4 of them "
     "at a time per thread, from 4 GiB or from a quarter of the L2; bandwidth as the slope in time "
     "over two lengths, against threads x words x 16 bytes.",
     points, findings});

}  // namespace
}  // namespace amasia::memory
