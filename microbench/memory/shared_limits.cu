// memory/shared_limits: how much shared memory, dynamic and static, can one block have (Hopper
// Tuning Guide)?
//
// Method: a block of 32 threads stores and loads the last word of its dynamic shared memory. Its
// size is bisected to the byte, between 1 KiB and twice the shared memory of an SM, with the opt-in
// attribute set. The limit is the largest size that launches and returns the word; the driver
// refuses the next. Static shared memory is in the code: of kernels with 16 to 48 KiB, compiled
// alike, the limit is the largest that launches and returns the word. The compiler refuses more.

#include "microbench/walks.cuh"

namespace amasia::memory {
namespace {

__global__ void __launch_bounds__(32)
    touch_last_word(unsigned words, unsigned value, unsigned* out) {
  extern __shared__ volatile unsigned held[];
  if (threadIdx.x == 0) held[words - 1] = value;
  __syncthreads();
  if (threadIdx.x == 1) *out = held[words - 1];
}

/// The word that the last block stored is what was asked for.
void expect_word(unsigned value, const DeviceArray<unsigned>& out, Stream stream) {
  AMASIA_CUDA(cudaStreamSynchronize(stream));
  if (first_of(out) != value) {
    throw std::runtime_error("the last word did not hold what was stored");
  }
}

/// Whether a block of so many bytes runs. A refusal leaves the context as it was.
bool runs(unsigned bytes, const DeviceArray<unsigned>& out, Stream stream) {
  const cudaError_t allowed = cudaFuncSetAttribute(
      touch_last_word, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (allowed == cudaSuccess) {
    touch_last_word<<<1, 32, bytes, stream>>>(bytes / 4, bytes, out.data());
  }
  const cudaError_t launched = cudaGetLastError();
  if (allowed != cudaSuccess || launched != cudaSuccess) return false;
  expect_word(bytes, out, stream);
  return true;
}

template <unsigned BYTES>
__global__ void __launch_bounds__(32) touch_last_static_word(unsigned value, unsigned* out) {
  __shared__ volatile unsigned held[BYTES / 4];
  if (threadIdx.x == 0) held[BYTES / 4 - 1] = value;
  __syncthreads();
  if (threadIdx.x == 1) *out = held[BYTES / 4 - 1];
}

constexpr unsigned most_static_bytes = 48 << 10;
struct StaticBlock {
  unsigned bytes;
  void (*kernel)(unsigned, unsigned*);
};
constexpr StaticBlock static_blocks[] = {
    {16 << 10, touch_last_static_word<16 << 10>},
    {32 << 10, touch_last_static_word<32 << 10>},
    {most_static_bytes, touch_last_static_word<most_static_bytes>},
};

Sampling static_limit(Stream stream) {
  return [=] {
    const DeviceArray<unsigned> out(1);
    Reading r;
    for (const StaticBlock& block : static_blocks) {
      block.kernel<<<1, 32, 0, stream>>>(block.bytes, out.data());
      if (cudaGetLastError() != cudaSuccess) break;
      expect_word(block.bytes, out, stream);
      r.value = block.bytes / 1024.0;
    }
    if (r.value == 0) throw std::runtime_error("not even 16 KiB can be launched");
    return r;
  };
}

Sampling limit(const Device& device, Stream stream) {
  return [=] {
    const DeviceArray<unsigned> out(1);
    unsigned low = 1 << 10, high = static_cast<unsigned>(2 * device.shared_per_sm);
    if (!runs(low, out, stream)) throw std::runtime_error("not even 1 KiB can be launched");
    while (high - low > 4) {
      const unsigned middle = (low + (high - low) / 2) / 4 * 4;
      (runs(middle, out, stream) ? low : high) = middle;
    }
    return Reading{low / 1024.0};
  };
}

std::vector<Point> points(const Device&, Scope) {
  std::vector<Point> all;
  const auto add = [&](const char* what, const KernelUse& kernel, auto prepare) {
    Point& p = add_point(all, {{"limit", what}}, "capacity", "KiB", Better::larger);
    p.kernels = {kernel};
    p.claims = {{"STS", "st.shared", 1, false}, {"LDS", "ld.shared", 1, false}};
    p.prepare = prepare;
  };
  add("block", kernel_use(touch_last_word, 32), limit);
  add("static", kernel_use(touch_last_static_word<most_static_bytes>, 32),
      [](const Device&, Stream stream) { return static_limit(stream); });
  return all;
}

const bool registered = register_microbenchmark(
    {"memory/shared_limits", "How much shared memory can one block have?",
     "A block that stores and loads the last word of its dynamic shared memory is launched with "
     "sizes found by bisection; the limit is the largest that launches and returns the word. "
     "Likewise of kernels with static shared memory of 16, 32 and 48 KiB.",
     points});

}  // namespace
}  // namespace amasia::memory
