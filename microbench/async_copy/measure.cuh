// How a pass is laid out, verified and timed; the same for every file of this folder.
//
// Array: Svedin et al.'s 8 GiB of fp32 in [0, 1), an eighth of the memory where that is less,
// hashed from the index; the results go to a second array as long, so that every pass has the same
// input. Verified: from a poisoned result, against the closed form 1 - (1 - x) / 2^n, within 2^-24
// (each step rounds by 2^-25 at most, and halves what was wrong before). At n = 3, where the result
// still tells one element from another, and at the n that is measured. The check itself is checked:
// it must find the same results wrong for n = 4. Timed: events around one launch, behind a memset
// over twice the L2, which displaces what the caches hold and hides what a launch costs the host.
#pragma once

#include "microbench/async_copy/shape.cuh"

namespace amasia::async_copy {

/// An operation is a multiplication or an addition; each element is read and written once.
constexpr double operations_per_byte(int iterations) { return 2.0 * iterations / 8; }
/// "0.25", "16": without trailing zeros, for coordinates.
inline std::string short_number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

inline std::size_t array_bytes(const Device& d, std::size_t at_most) {
  constexpr std::size_t whole = std::size_t{1} << 20;  // every tile divides it
  return std::min(at_most, d.memory_bytes / 8) / whole * whole;
}

template <int THREADS>
__global__ void __launch_bounds__(THREADS) fill_elements(float* out, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * THREADS;
  for (std::size_t i = blockIdx.x * std::size_t{THREADS} + threadIdx.x; i < count; i += step) {
    out[i] = hashed(i);
  }
}

template <int THREADS>
__global__ void __launch_bounds__(THREADS)
    count_wrong(const float* out, std::size_t count, int iterations, unsigned long long* wrong) {
  const double shrunk = exp2(-static_cast<double>(iterations));
  const std::size_t step = std::size_t{gridDim.x} * THREADS;
  unsigned long long mine = 0;
  for (std::size_t i = blockIdx.x * std::size_t{THREADS} + threadIdx.x; i < count; i += step) {
    const double expected = 1 - (1 - static_cast<double>(hashed(i))) * shrunk;
    // Written so that NaN, the poison, is wrong.
    if (!(fabs(static_cast<double>(out[i]) - expected) <= 0x1p-24)) ++mine;
  }
  if (mine != 0) atomicAdd(wrong, mine);
}

class Run {
 public:
  /// Throws std::runtime_error when a pass of this shape gives a wrong result.
  Run(const Shape& shape, std::size_t bytes, const Device& device, Stream stream)
      : shape_(shape),
        bytes_(bytes / shape.tile_bytes() * shape.tile_bytes()),  // whole tiles
        out_offset_(bytes),
        stream_(stream),
        displaced_bytes_(2 * device.l2_bytes),
        dynamic_(shape.dynamic_bytes(device)) {
    in_ = reinterpret_cast<std::byte*>(buffer_of(2 * bytes + displaced_bytes_));
    static std::size_t filled = 0;
    if (filled != bytes) {
      fill_elements<256>
          <<<grid_for_all, 256, 0, stream>>>(reinterpret_cast<float*>(in_), bytes / sizeof(float));
      AMASIA_CUDA(cudaGetLastError());
      filled = bytes;
    }
    // The most, not what this shape needs: shapes of one kernel may take turns.
    AMASIA_CUDA(cudaFuncSetAttribute(shape.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(device.shared_per_block)));
    int fitting = 0;
    AMASIA_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fitting, shape.kernel, shape.threads,
                                                              dynamic_));
    const int per_sm = shape.blocks_per_sm == 0 ? fitting : shape.blocks_per_sm;
    if (per_sm == 0 || per_sm > fitting) {
      throw std::runtime_error("only " + std::to_string(fitting) + " blocks fit on an SM");
    }
    grid_ = static_cast<unsigned>(per_sm * device.sm_count);
    verify(3);
  }

  void verify(int iterations) const {
    AMASIA_CUDA(cudaMemsetAsync(out(), 0xFF, bytes_, stream_));  // NaN
    launch(iterations);
    const unsigned long long wrong = wrong_elements(iterations);
    if (wrong != 0) {
      throw std::runtime_error(std::to_string(wrong) + " elements are wrong after " +
                               std::to_string(iterations) + " iterations");
    }
    if (iterations == 3 && wrong_elements(4) < bytes_ / sizeof(float) / 2) {
      throw std::runtime_error("the check takes the results of 3 iterations for those of 4");
    }
  }

  /// One pass with cold caches; value is GB/s of bytes read + written.
  Reading sample(int iterations) const {
    const double ms = milliseconds(
        stream_,
        [&] { AMASIA_CUDA(cudaMemsetAsync(in_ + 2 * out_offset_, 0, displaced_bytes_, stream_)); },
        [&] { launch(iterations); });
    const Stamp of_block = first_of(*taken_);  // from its start to its end
    Reading r =
        in_cycles(static_cast<double>(of_block.cycles), static_cast<double>(of_block.nanoseconds));
    r.time_ns = 1e6 * ms;
    r.value = 2.0 * static_cast<double>(bytes_) / *r.time_ns;
    return r;
  }

 private:
  static constexpr unsigned grid_for_all = 4096;

  std::byte* out() const { return in_ + out_offset_; }

  void launch(int iterations) const {
    shape_.kernel<<<grid_, static_cast<unsigned>(shape_.threads), dynamic_, stream_>>>(
        reinterpret_cast<const float4*>(in_), reinterpret_cast<float4*>(out()),
        static_cast<long long>(bytes_ / shape_.tile_bytes()),
        Iterations{iterations / 8, iterations % 8}, taken_->data());
    AMASIA_CUDA(cudaGetLastError());
  }

  unsigned long long wrong_elements(int iterations) const {
    return counted(stream_, *wrong_, [&](unsigned long long* wrong) {
      count_wrong<256><<<grid_for_all, 256, 0, stream_>>>(
          reinterpret_cast<const float*>(out()), bytes_ / sizeof(float), iterations, wrong);
    });
  }

  Shape shape_;
  std::size_t bytes_;
  std::size_t out_offset_;
  Stream stream_;
  std::size_t displaced_bytes_;
  std::size_t dynamic_;
  std::byte* in_ = nullptr;
  unsigned grid_ = 0;
  std::shared_ptr<DeviceArray<Stamp>> taken_ = std::make_shared<DeviceArray<Stamp>>(1);
  std::shared_ptr<DeviceArray<unsigned long long>> wrong_ =
      std::make_shared<DeviceArray<unsigned long long>>(1);
};

inline Coordinates coordinates_of(const Shape& s, int iterations, std::size_t bytes) {
  return {{"mechanism", name_of(s.mechanism)},
          {"intensity", short_number(operations_per_byte(iterations))},
          {"occupancy", name_of(s.occupancy)},
          {"tile", std::to_string(s.tile_bytes())},
          {"stages", std::to_string(s.stages)},
          {"threads", std::to_string(s.threads)},
          {"blocks", s.occupancy == Occupancy::low ? "1"
                     : s.blocks_per_sm == 0        ? "all that fit"
                                                   : std::to_string(s.blocks_per_sm)},
          {"bytes", std::to_string(bytes)}};
}

/// The copies of the way in, and none of the others.
inline std::vector<Claim> claims_of(const Shape& s) {
  const Mechanism m = s.mechanism;
  const bool loads = m == Mechanism::direct || m == Mechanism::plain;
  const bool bulk = m == Mechanism::bulk, by_thread = !loads && !bulk;
  const bool barriers = m == Mechanism::barrier || bulk;
  // What waits for a barrier is moved behind the code, and a jump back looks like a loop: there the
  // copies of the whole kernel are counted, those that fill the stages first too.
  const int sites = barriers ? s.stages : 1;
  return {{"LDG", "ld.global", loads ? s.chunks : 0},
          {"STS", "st.shared", m == Mechanism::plain ? s.chunks : 0},
          // Four elements a chunk, eight iterations at a time and one.
          {"FFMA", "fma", 4 * s.chunks * (8 + 1)},
          {"LDGSTS", "cp.async", by_thread ? sites * s.chunks : 0, !barriers},
          {"UBLKCP", "cp.async.bulk", bulk ? sites : 0, !barriers}};
}

/// A point of one pass per sample: bandwidth, or the rate of operations.
inline Point point_of(const Shape& shape, int iterations, std::size_t bytes, const Device& device,
                      bool rate) {
  Point p = new_point(coordinates_of(shape, iterations, bytes), rate ? "rate" : "bandwidth",
                      rate ? "GFLOP/s" : "GB/s", Better::larger);
  p.runs_from = runs_from(shape.mechanism);
  if (shape.needed_bytes() > device.shared_per_block) {
    p.unsupported = "the stages need " + std::to_string(shape.needed_bytes()) +
                    " bytes of shared memory, a block can have " +
                    std::to_string(device.shared_per_block);
  }
  const int ahead = overlaps(shape.mechanism) ? shape.stages - 1 : 1;
  p.kernels = {kernel_use(shape.kernel, shape.threads, shape.dynamic_bytes(device), 1,
                          static_cast<unsigned>(ahead) * shape.tile_bytes())};
  p.claims = claims_of(shape);
  p.prepare = [=](const Device& d, Stream stream) -> Sampling {
    auto run = std::make_shared<Run>(shape, bytes, d, stream);
    run->verify(iterations);
    const double scale = rate ? operations_per_byte(iterations) : 1;
    return [=] {
      Reading r = run->sample(iterations);
      r.value *= scale;
      return r;
    };
  };
  return p;
}

}  // namespace amasia::async_copy
