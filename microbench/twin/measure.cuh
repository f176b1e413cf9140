// How a twin is laid out, verified and timed; the same for all strategies.
//
// Input: fp32 in [0, 1), hashed from the index. Verified, from poisoned results: every element, bit
// by bit, against a kernel that reads global memory without tiles in shared memory. The checksum of
// values that are not stored is compared with that kernel's, and that kernel's results of some
// tiles with the CPU's. The check must fail for one more multiply-add. Timed: events around all
// launches, behind a memset over twice the L2, which displaces what the caches hold and hides what
// launches cost the host. A sample is a pair, the strategy and baseline one right after the other,
// the first of them in turn.
#pragma once

#include <numeric>

#include "microbench/twin/way.hpp"
#include "microbench/walks.cuh"
#include "variants/device/launch.hpp"
#include "variants/device/tensor_map.hpp"

namespace amasia::twin {

AMASIA_HD inline float4 chunk_of_input(std::int64_t chunk) {
  const auto i = static_cast<std::uint64_t>(chunk) * 4;
  return {hashed(i), hashed(i + 1), hashed(i + 2), hashed(i + 3)};
}

template <int THREADS>
__global__ void __launch_bounds__(THREADS) fill_chunks(float4* in, std::int64_t count) {
  const std::int64_t step = std::int64_t{gridDim.x} * THREADS;
  for (std::int64_t i = blockIdx.x * std::int64_t{THREADS} + threadIdx.x; i < count; i += step) {
    in[i] = chunk_of_input(i);
  }
}

/// A permutation of the rows that jumps far: `step` has no divisor in common with `count`.
template <int THREADS>
__global__ void __launch_bounds__(THREADS)
    fill_numbers(int* numbers, std::int64_t count, std::int64_t step) {
  const std::int64_t stride = std::int64_t{gridDim.x} * THREADS;
  for (std::int64_t i = blockIdx.x * std::int64_t{THREADS} + threadIdx.x; i < count; i += stride) {
    numbers[i] = static_cast<int>(i * step % count);
  }
}

struct Verdict {
  unsigned long long wrong;  // elements
  unsigned checksum;         // of what is not stored, as it should be
};

/// One block per tile at a time, as many threads as the twin has.
template <int CHUNKS>
__global__ void __launch_bounds__(most_threads(CHUNKS))
    check_tiles(const __grid_constant__ Work work, Verdict* verdict) {
  const Shape& s = work.shape;
  const int lane = static_cast<int>(threadIdx.x);
  const int lanes = static_cast<int>(blockDim.x);
  int starts[CHUNKS];
  find_starts(starts, s, lane, lanes);
  unsigned long long wrong = 0;
  unsigned sum = 0;
  for (std::int64_t tile = work.begin + blockIdx.x; tile < work.end; tile += gridDim.x) {
    float4 v[CHUNKS];
    results_of(
        v, starts, work, lane, lanes,
        [&](int, int, int at) { return work.in[s.source(tile, at, work.numbers)]; }, [] {});
#pragma unroll
    for (int j = 0; j < CHUNKS; ++j) {
      const int i = j * lanes + lane;
      if (i < s.out_chunks) {
        const float4 found = work.out[tile * s.out_chunks + i];
        wrong += (bits_of(found.x) != bits_of(v[j].x)) + (bits_of(found.y) != bits_of(v[j].y)) +
                 (bits_of(found.z) != bits_of(v[j].z)) + (bits_of(found.w) != bits_of(v[j].w));
      } else if (i < s.inner()) {
        sum += bits_of(v[j]);
      }
    }
  }
  if (wrong != 0) atomicAdd(&verdict->wrong, wrong);
  if (sum != 0) atomicAdd(&verdict->checksum, sum);
}

/// f(std::integral_constant) with one of the numbers of chunks that are compiled.
template <class F>
auto with_chunks(int chunks, F f) {
  return with_constant<1, 2, 4, 8>(chunks, f);
}

/// Reads as a mover has them, worked out from what the input is by definition.
struct DefinedInput {
  const Shape& shape;
  std::int64_t tile;
  const int* numbers;
  AMASIA_HD float4 operator()(int, int, int at) const {
    return chunk_of_input(shape.source(tile, at, numbers));
  }
};
struct Nothing {
  AMASIA_HD void operator()() const {}
};

/// The same by the CPU for one tile, from the input's definition; `stored` is what the device has.
template <int CHUNKS>
Verdict verdict_of_cpu(const Work& work, int lanes, std::int64_t tile, const int* numbers,
                       const float4* stored) {
  const Shape& s = work.shape;
  Verdict verdict{};
  for (int lane = 0; lane < lanes; ++lane) {
    float4 v[CHUNKS];
    int starts[CHUNKS];
    find_starts(starts, s, lane, lanes);
    results_of(v, starts, work, lane, lanes, DefinedInput{s, tile, numbers}, Nothing{});
    for (int j = 0; j < CHUNKS; ++j) {
      const int i = j * lanes + lane;
      if (i >= s.inner()) continue;
      if (i >= s.out_chunks) {
        verdict.checksum += bits_of(v[j]);
      } else if (bits_of(stored[i].x) != bits_of(v[j].x) ||
                 bits_of(stored[i].y) != bits_of(v[j].y) ||
                 bits_of(stored[i].z) != bits_of(v[j].z) ||
                 bits_of(stored[i].w) != bits_of(v[j].w)) {
        ++verdict.wrong;
      }
    }
  }
  return verdict;
}

/// One way of moving data, ready to be launched.
struct Prepared {
  TwinKernel kernel = nullptr;
  LaunchShape shape;
  Work work;
  CUtensorMap map{};
};

/// Whether a tile can be fetched by one tensor copy: a box of at most 256 x 256 elements, to a
/// place that is a multiple of 128 bytes.
inline bool fits_a_tensor_map(const Shape& s) {
  return s.row_chunks <= 64 && s.rows - s.common <= 256 && s.common * s.row_chunks % 8 == 0;
}

/// Bytes of dynamic shared memory of a block.
inline std::size_t dynamic_bytes(const Way& way, const Traits& traits, const Device& device) {
  return padded_shared(
      way.shared_bytes(shape_of(traits), traits) + static_cast<std::size_t>(traits.workspace),
      blocks_by_registers(traits, device), device);
}

class Twin {
 public:
  /// Throws std::runtime_error when either way gives a wrong result.
  Twin(const Traits& traits, const Way& way, const Way& baseline, const Device& device,
       Stream stream)
      : traits_(traits),
        shape_(shape_of(traits)),
        stream_(stream),
        displaced_bytes_(2 * device.l2_bytes),
        chunks_(chunks_per_thread(shape_, traits.threads)) {
    const std::size_t in_bytes = 16 * static_cast<std::size_t>(input_chunks(shape_));
    out_bytes_ = 16 * static_cast<std::size_t>(shape_.tiles * shape_.out_chunks);
    const auto rows =
        static_cast<std::size_t>(shape_.layout == Layout::gather ? rows_in_memory(shape_) : 0);
    const auto rounded = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
    auto* const buffer = reinterpret_cast<std::byte*>(buffer_of(
        rounded(in_bytes) + rounded(out_bytes_) + rounded(rows * sizeof(int)) + displaced_bytes_));
    in_ = reinterpret_cast<float4*>(buffer);
    out_ = reinterpret_cast<float4*>(buffer + rounded(in_bytes));
    numbers_ = reinterpret_cast<int*>(buffer + rounded(in_bytes) + rounded(out_bytes_));
    displaced_ = reinterpret_cast<std::byte*>(numbers_) + rounded(rows * sizeof(int));
    fill_chunks<256><<<4096, 256, 0, stream>>>(in_, input_chunks(shape_));
    AMASIA_CUDA(cudaGetLastError());
    if (rows > 0) {
      std::int64_t step = static_cast<std::int64_t>(0.6180339887 * static_cast<double>(rows)) | 1;
      while (std::gcd(step, static_cast<std::int64_t>(rows)) != 1) step += 2;
      fill_numbers<256><<<1024, 256, 0, stream>>>(numbers_, static_cast<std::int64_t>(rows), step);
      AMASIA_CUDA(cudaGetLastError());
    }
    baseline_ = prepared(baseline, device);
    way_ = prepared(way, device);
    verify(baseline_);
    compare_with_the_cpu();
    verify(way_);
    refuse_a_blind_check();
  }

  /// How much faster than baseline, by one pair.
  Reading sample() {
    baseline_first_ = !baseline_first_;
    const double before = baseline_first_ ? nanoseconds(baseline_) : 0;
    const double own = nanoseconds(way_);
    const double other = baseline_first_ ? before : nanoseconds(baseline_);
    return of_time(own, other / own);
  }

 private:
  Prepared prepared(const Way& way, const Device& device) const {
    Prepared p;
    p.kernel = way.kernel_of(chunks_);
    p.shape.block = dim3(static_cast<unsigned>(traits_.threads));
    p.shape.dynamic_shared_bytes = dynamic_bytes(way, traits_, device);
    p.shape.cluster_blocks = way.cluster_blocks;
    allow_launch(reinterpret_cast<const void*>(p.kernel), p.shape);
    Work& w = p.work;
    w.shape = shape_;
    w.in = in_;
    w.out = out_;
    w.numbers = numbers_;
    w.checksum = checksum_->data();
    w.fma_eights = static_cast<int>(traits_.fma / 8);
    w.fma_ones = static_cast<int>(traits_.fma % 8);
    w.dependent = static_cast<int>(traits_.chain);
    w.barriers = static_cast<int>(traits_.barriers);
    w.stages = way.stages(traits_);
    const bool clustered_halo = way.cluster_blocks > 1 && shape_.halo > 0;
    if (way.bulk && shape_.layout == Layout::box && !clustered_halo && fits_a_tensor_map(shape_)) {
      w.boxes = 1;
      const Grid<const float> grid{reinterpret_cast<const float*>(in_), rows_in_memory(shape_),
                                   shape_.pitch * 4, shape_.pitch * 4};
      p.map = tensor_map(grid, shape_.rows - shape_.common, shape_.row_chunks * 4);
    }
    std::int64_t blocks = 0;
    const std::int64_t per_launch = shape_.tiles / traits_.launches;
    if (traits_.tiles_per_block > 0) {
      blocks = per_launch / traits_.tiles_per_block;
    } else {
      blocks = resident_blocks(reinterpret_cast<const void*>(p.kernel), p.shape, device.sm_count);
      if (blocks == 0) throw Unavailable("not one block, or cluster, of this shape fits on an SM");
    }
    blocks = std::clamp<std::int64_t>(std::min(blocks, per_launch) / neighbours * neighbours,
                                      neighbours, 1 << 30);
    p.shape.grid = dim3(static_cast<unsigned>(blocks));
    return p;
  }

  void enqueue(Prepared& p) const {
    const std::int64_t groups = shape_.tiles / neighbours;
    for (std::int64_t n = 0; n < traits_.launches; ++n) {
      p.work.begin = groups * n / traits_.launches * neighbours;
      p.work.end = groups * (n + 1) / traits_.launches * neighbours;
      launch(p.kernel, p.shape, stream_, p.work, p.map);
    }
  }

  double nanoseconds(Prepared& p) const {
    const auto displace = [&] {
      AMASIA_CUDA(cudaMemsetAsync(displaced_, 0, displaced_bytes_, stream_));
    };
    return 1e6 * milliseconds(stream_, displace, [&] { enqueue(p); });
  }

  /// What the check says of the results of tiles [begin, end), had there been `fma` multiply-adds.
  Verdict judged(std::int64_t begin, std::int64_t end, std::int64_t fma) const {
    Work w = way_.work;
    w.begin = begin;
    w.end = end;
    w.fma_eights = static_cast<int>(fma / 8);
    w.fma_ones = static_cast<int>(fma % 8);
    const auto threads = static_cast<unsigned>(traits_.threads);
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(end - begin, 1 << 16));
    return counted(stream_, *verdict_, [&](Verdict* verdict) {
      with_chunks(chunks_, [&](auto chunks) {
        check_tiles<chunks.value><<<blocks, threads, 0, stream_>>>(w, verdict);
      });
    });
  }

  void verify(Prepared& p) const {
    if (out_bytes_ > 0) AMASIA_CUDA(cudaMemsetAsync(out_, 0xFF, out_bytes_, stream_));
    AMASIA_CUDA(cudaMemsetAsync(checksum_->data(), 0, checksum_->bytes(), stream_));
    enqueue(p);
    AMASIA_CUDA(cudaStreamSynchronize(stream_));
    const Verdict verdict = judged(0, shape_.tiles, traits_.fma);
    if (verdict.wrong != 0) {
      throw std::runtime_error(std::to_string(verdict.wrong) + " elements of the result are wrong");
    }
    if (const unsigned found = checksum(); found != verdict.checksum) {
      throw std::runtime_error("the checksum of the results is " + std::to_string(found) +
                               ", it should be " + std::to_string(verdict.checksum));
    }
  }

  unsigned checksum() const { return first_of(*checksum_); }

  void refuse_a_blind_check() const {
    const Verdict other = judged(0, shape_.tiles, traits_.fma + 1);
    const auto stored = static_cast<unsigned long long>(out_bytes_ / sizeof(float));
    const bool summed = shape_.out_chunks < shape_.inner();
    if (other.wrong < stored / 2 || (summed && other.checksum == checksum())) {
      throw std::runtime_error("the check does not notice one more multiply-add");
    }
  }

  /// The check against the CPU, which computes the input, too: the first, a middle and the last
  /// tile.
  void compare_with_the_cpu() const {
    std::vector<int> numbers;
    if (shape_.layout == Layout::gather) {
      numbers.resize(static_cast<std::size_t>(rows_in_memory(shape_)));
      AMASIA_CUDA(cudaMemcpy(numbers.data(), numbers_, numbers.size() * sizeof(int),
                             cudaMemcpyDeviceToHost));
    }
    std::vector<float4> stored(static_cast<std::size_t>(shape_.out_chunks));
    for (const std::int64_t tile : {std::int64_t{0}, shape_.tiles / 2 + 1, shape_.tiles - 1}) {
      if (!stored.empty()) {
        AMASIA_CUDA(cudaMemcpy(stored.data(), out_ + tile * shape_.out_chunks,
                               stored.size() * sizeof(float4), cudaMemcpyDeviceToHost));
      }
      const Verdict cpu = with_chunks(chunks_, [&](auto chunks) {
        return verdict_of_cpu<chunks.value>(way_.work, static_cast<int>(traits_.threads), tile,
                                            numbers.data(), stored.data());
      });
      if (cpu.wrong != 0 || cpu.checksum != judged(tile, tile + 1, traits_.fma).checksum) {
        throw std::runtime_error("the results of tile " + std::to_string(tile) +
                                 " are not those of the CPU");
      }
    }
  }

  Traits traits_;
  Shape shape_;
  Stream stream_;
  std::size_t displaced_bytes_;
  std::size_t out_bytes_ = 0;
  float4* in_ = nullptr;
  float4* out_ = nullptr;
  int* numbers_ = nullptr;
  std::byte* displaced_ = nullptr;
  int chunks_;
  Prepared baseline_, way_;
  bool baseline_first_ = false;
  std::unique_ptr<DeviceArray<unsigned>> checksum_ = std::make_unique<DeviceArray<unsigned>>(1);
  std::unique_ptr<DeviceArray<Verdict>> verdict_ = std::make_unique<DeviceArray<Verdict>>(1);
};

}  // namespace amasia::twin
