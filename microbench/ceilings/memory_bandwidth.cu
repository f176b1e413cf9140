// Device memory bandwidth, read, write, copy and triad, in GB/s (1e9) of bytes read plus bytes
// written.
//
// Method: buffers of 4 GiB each, or an eighth of the memory where that is less, and never below
// eight times the L2 (smaller than that is refused, not measured), so that the cache holds nothing
// of use. A thread moves one 16-byte word of each buffer, neighbours next to each other, in blocks
// of 256 threads: 32 KiB in flight per SM at full occupancy, where Little's law needs 13 KiB on an
// H200 (4.7 TB/s, ~700 cycles). More words per thread made reads no faster there, and writes and
// copies slower (copy 4,270 GB/s with one, 4,150 with two, 4,030 with eight). Values read are
// folded into a value that could be stored, so that no load can be dropped; buffers hold hashed,
// not constant, data. One sample is one pass over the buffers behind an equal pass that warms up.
//
// The buffers are allocated once and kept to the end of the process: the driver clears freed memory
// in the background, which on an H200 took 10 to 14 % of the bandwidth for 0.2 to 0.3 s after each
// free.

#include <algorithm>
#include <stdexcept>
#include <string>

#include "harness/ceiling.hpp"
#include "microbench/ceilings/timing.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::ceilings {
namespace {

constexpr int threads = 256;

__device__ std::size_t word() { return blockIdx.x * std::size_t{threads} + threadIdx.x; }

__global__ void __launch_bounds__(threads) write_words(int4* out) {
  // Weyl sequence: bits that do not repeat, for one multiplication.
  const unsigned x = 2654435769U * static_cast<unsigned>(word());
  out[word()] = make_int4(x, x ^ 0x5bd1e995U, ~x, x + 0x9e3779b9U);
}

__global__ void __launch_bounds__(threads) read_words(const int4* in, int* sink) {
  const int4 held = in[word()];
  const int folded = held.x ^ held.y ^ held.z ^ held.w;
  // About one thread in 2^32 stores: too few to cost, too many for the compiler to drop the load.
  if (folded == 0x12345678) *sink = folded;
}

__global__ void __launch_bounds__(threads) copy_words(int4* out, const int4* in) {
  out[word()] = in[word()];
}

/// a = b + scalar * c
__global__ void __launch_bounds__(threads)
    triad_words(float4* a, const float4* b, const float4* c, float scalar) {
  const float4 left = b[word()];
  const float4 right = c[word()];
  a[word()] = make_float4(left.x + scalar * right.x, left.y + scalar * right.y,
                          left.z + scalar * right.z, left.w + scalar * right.w);
}

class Buffers {
 public:
  Buffers(const Device& device, cudaStream_t stream) {
    constexpr std::size_t block_bytes = threads * sizeof(int4);
    bytes_ = std::min(std::size_t{4} << 30, device.memory_bytes / 8) / block_bytes * block_bytes;
    if (bytes_ < 8 * device.l2_bytes) {
      throw std::runtime_error("an eighth of the memory, " + std::to_string(bytes_) +
                               " bytes, is less than eight times the L2");
    }
    for (DeviceBytes& buffer : buffers_) {
      buffer = DeviceBytes(bytes_);
      write_words<<<blocks(), threads, 0, stream>>>(static_cast<int4*>(buffer.data()));
    }
  }
  std::size_t bytes() const { return bytes_; }  // of each
  unsigned blocks() const { return static_cast<unsigned>(bytes_ / (threads * sizeof(int4))); }
  template <class T = int4>
  T* at(int i) const {
    return static_cast<T*>(buffers_[i].data());
  }

 private:
  std::size_t bytes_ = 0;
  DeviceBytes buffers_[3];
};

/// The process's buffers on its one device; see above why they stay.
const Buffers& shared_buffers(const Device& device, cudaStream_t stream) {
  static const Buffers buffers(device, stream);
  return buffers;
}

/// GB/s of `launch(buffers)`, which moves `streams` buffers.
template <class Launch>
double bandwidth(const Device& device, Stream stream, int streams, Launch launch) {
  const Buffers& buffers = shared_buffers(device, stream);
  const double ms = warm_milliseconds(stream, [&] { launch(buffers); });
  return static_cast<double>(streams) * buffers.bytes() / ms * 1e-6;
}

double measure_read(const Device& device, Stream stream) {
  const DeviceArray<int> sink(1);
  return bandwidth(device, stream, 1, [&](const Buffers& b) {
    read_words<<<b.blocks(), threads, 0, stream>>>(b.at(0), sink.data());
  });
}

double measure_write(const Device& device, Stream stream) {
  return bandwidth(device, stream, 1, [&](const Buffers& b) {
    write_words<<<b.blocks(), threads, 0, stream>>>(b.at(0));
  });
}

double measure_copy(const Device& device, Stream stream) {
  return bandwidth(device, stream, 2, [&](const Buffers& b) {
    copy_words<<<b.blocks(), threads, 0, stream>>>(b.at(0), b.at(1));
  });
}

double measure_triad(const Device& device, Stream stream) {
  return bandwidth(device, stream, 3, [&](const Buffers& b) {
    triad_words<<<b.blocks(), threads, 0, stream>>>(b.at<float4>(0), b.at<float4>(1),
                                                    b.at<float4>(2), 3.0F);
  });
}

const std::string size_rule =
    " over buffers of 4 GiB each, or an eighth of the memory where that is less, in 16-byte words; "
    "bytes read + written";

const bool registered =
    register_ceiling(
        {"read_bandwidth", "GB/s", "Every word read once" + size_rule, true, 0, measure_read}) &&
    register_ceiling({"write_bandwidth", "GB/s", "Every word written once" + size_rule, true, 0,
                      measure_write}) &&
    register_ceiling({"copy_bandwidth", "GB/s", "One buffer copied to another" + size_rule, true, 0,
                      measure_copy}) &&
    register_ceiling(
        {"triad_bandwidth", "GB/s", "a = b + s c in fp32" + size_rule, true, 0, measure_triad});

}  // namespace
}  // namespace amasia::ceilings
