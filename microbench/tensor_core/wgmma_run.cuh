// What one wgmma instruction multiplies, how it is timed, and the product that it is compared with.
#pragma once

#include "microbench/tensor_core/wgmma_loop.cuh"

namespace amasia::tensor {

/// What one instruction multiplies, on the host and on the device.
template <class I, Mode M>
class WgmmaOperands {
 public:
  static constexpr int a_columns = I::dense_k;  // stored: half of k where A is sparse
  static constexpr int b_columns = M == Mode::dense ? I::dense_k : I::sparse_k;
  static constexpr int b_slices = M == Mode::dense ? 4 : 2;

  WgmmaOperands(Fill fill, bool random_choices) {
    for (unsigned s = 0; s < wgmma_slices; ++s) {
      a_.push_back(matrix_of(I::element, 64, a_columns, fill, 10 + s));
    }
    for (unsigned s = 0; s < b_slices; ++s) {
      b_.push_back(matrix_of(I::element, I::n, b_columns, fill, 20 + s));
    }
    std::vector<unsigned> host((64 + I::n) * row_words);
    lay_out(a_, host.data());
    lay_out(b_, host.data() + 64 * row_words);
    tiles.upload(host.data());
    host.clear();
    for (const Matrix& a : a_) {
      for (int t = 0; t < wgmma_threads; ++t) {
        const int row = t / 32 * 16 + t % 32 / 4, word = t % 4;
        for (int i = 0; i < 4; ++i) host.push_back(a.word(row + i % 2 * 8, word + i / 2 * 4));
      }
    }
    fragments.upload(host.data());
    host.clear();
    for (unsigned t = 0; t < wgmma_threads; ++t) {
      host.push_back(random_choices ? random_metadata(I::element, t) : kept_.metadata());
    }
    metadata.upload(host.data());
    sums.poison(nullptr);
  }

  WgmmaData data() const { return {tiles.data(), fragments.data(), metadata.data()}; }

  /// Compares a sixteenth of the last sums, in all rows and columns, with the CPU's.
  void hold() const {
    const std::vector<unsigned> got = downloaded(sums);
    for (int m = 0; m < 64; ++m) {
      for (int n = 0; n < I::n; ++n) {
        if ((m + 5 * n) % 16 != 0) continue;
        Expected expected;
        for (int k = 0; k < wgmma_per_loop; ++k) {
          const Expected one = product(a_[k % wgmma_slices], m, b_[k % b_slices], n,
                                       M == Mode::sparse ? &kept_ : nullptr);
          expected.value += one.value;
          expected.magnitude += one.magnitude;
        }
        const int thread = m / 16 * 32 + m % 8 * 4 + n % 8 / 2;
        const auto at = static_cast<std::size_t>(n / 8 * 4 + m % 16 / 8 * 2 + n % 2);
        hold_to(sum_at(I::sum, got.data() + thread * I::words, at), expected, I::element, I::sum, m,
                n);
      }
    }
  }

 private:
  /// Slices of k beside each other in rows of 128 bytes, 16-byte chunks swizzled.
  static void lay_out(const std::vector<Matrix>& slices, unsigned* tile) {
    int at = 0;
    for (const Matrix& slice : slices) {
      for (int row = 0; row < slice.rows; ++row) {
        for (int i = 0; i < slice.row_words(); ++i) {
          const int word = at + i;
          tile[row * row_words + ((word / 4) ^ (row % 8)) * 4 + word % 4] = slice.word(row, i);
        }
      }
      at += slice.row_words();
    }
  }

  std::vector<Matrix> a_, b_;
  Kept kept_{2};

 public:
  DeviceArray<unsigned> tiles{(64 + I::n) * row_words};
  DeviceArray<unsigned> fragments{wgmma_slices * wgmma_threads * 4};
  DeviceArray<unsigned> metadata{wgmma_threads};
  DeviceArray<unsigned> sums{wgmma_threads * I::words};
  DeviceArray<Stamp> taken{max_walks};
};

/// One instruction with all that is fixed at compile time.
template <class I, Mode M, Source A>
struct WgmmaRun {
  using Operands = WgmmaOperands<I, M>;
  static constexpr int k = M == Mode::dense ? I::dense_k : I::sparse_k;
  static constexpr double operations = 2.0 * 64 * I::n * k;

  template <Waits WAITS>
  static void launch(const Operands& o, unsigned blocks, Walks walks, Stream stream) {
    constexpr auto kernel = run_wgmma<I, M, A, WAITS>;
    AMASIA_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, wgmma_shared<I>));
    kernel<<<blocks, wgmma_threads, wgmma_shared<I>, stream>>>(o.data(), walks, o.taken.data(),
                                                               o.sums.data());
    AMASIA_CUDA(cudaGetLastError());
  }

  /// Throws when the product of random data is not the CPU's.
  template <Waits WAITS>
  static void verify(Stream stream) {
    const Operands o(Fill::random, false);
    launch<WAITS>(o, 1, Walks{{1, 0, 1}}, stream);
    AMASIA_CUDA(cudaStreamSynchronize(stream));
    o.hold();
  }

  /// Cycles per instruction of one warpgroup alone.
  template <Waits WAITS>
  static Sampling cycles(Stream stream) {
    verify<WAITS>(stream);
    auto o = std::make_shared<const Operands>(Fill::random, true);
    return [o, stream] {
      const Walks walks{{10, 100, 500}};
      launch<WAITS>(*o, 1, walks, stream);
      return slope_of_walks(stream, o->taken, walks, wgmma_per_loop);
    };
  }

  /// About 4 ms, at the rate of an H100.
  static constexpr int iterations(int groups) {
    return 6000 * 256 / (I::n < 32 ? 32 : I::n) / groups;
  }

  /// 1e12 operations per second of all SMs with `groups` warpgroups each.
  static Sampling rate(Fill fill, int groups, const Device& device, Stream stream) {
    verify<Waits::behind>(stream);
    auto o = std::make_shared<const Operands>(fill, true);
    const auto blocks = static_cast<unsigned>(device.sm_count * groups);
    const Walks walks{{iterations(groups), 0, 0}};
    // The power limit acts on what ran before: let that be the same.
    for (int i = 0; i < 25; ++i) launch<Waits::behind>(*o, blocks, walks, stream);
    return [o, blocks, walks, stream] {
      Reading r = time_of_launch(stream, o->taken,
                                 [&] { launch<Waits::behind>(*o, blocks, walks, stream); });
      r.value = operations * blocks * wgmma_per_loop * walks.links[0] / *r.time_ns * 1e-3;
      return r;
    };
  }

  template <Waits WAITS>
  static Point point(const Device& device, const char* quantity, std::string unit) {
    Point p = new_point({{"input", name_of(I::element)},
                         {"sum", name_of(I::sum)},
                         {"shape", "m64n" + std::to_string(I::n) + "k" + std::to_string(k)},
                         {"mode", M == Mode::dense ? "dense" : "sparse"},
                         {"a", A == Source::shared ? "shared" : "registers"}},
                        quantity, std::move(unit));
    p.runs_from = 90;
    if (device.compute_capability > 90) {
      p.unsupported = "wgmma is an instruction of compute capability 9.0 alone";
    }
    p.kernels = {kernel_use(run_wgmma<I, M, A, WAITS>, wgmma_threads, wgmma_shared<I>)};
    const char* group = I::element == Element::b1 ? "BGMMA"
                        : is_integer(I::element)  ? "IGMMA"
                        : is_fp8(I::element)      ? "QGMMA"
                                                  : "HGMMA";
    p.claims = {{group, "wgmma.mma_async", wgmma_per_loop}};
    return p;
  }

  static void add_latency(std::vector<Point>& points, const Device& d) {
    points.push_back(point<Waits::each>(d, "latency", "cycles"));
    points.back().prepare = [](const Device&, Stream s) { return cycles<Waits::each>(s); };
  }
  static void add_interval(std::vector<Point>& points, const Device& d) {
    points.push_back(point<Waits::behind>(d, "interval", "cycles"));
    points.back().prepare = [](const Device&, Stream s) { return cycles<Waits::behind>(s); };
  }
  static void add_rate(std::vector<Point>& points, const Device& d, Fill fill, int groups) {
    points.push_back(point<Waits::behind>(d, "throughput", rate_unit(I::element)));
    Point& p = points.back();
    p.at.emplace_back("warpgroups", std::to_string(groups));
    p.at.emplace_back("data", name_of(fill));
    p.larger_is_better = true;
    p.prepare = [fill, groups](const Device& device, Stream s) {
      return rate(fill, groups, device, s);
    };
  }
};

}  // namespace amasia::tensor
