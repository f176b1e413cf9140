// The problem on the device: allocation, inputs, verification.
#include <cmath>
#include <vector>

#include "apps/common/device_instance.cuh"
#include "apps/common/verification_report.cuh"
#include "apps/gemm/cpu_reference.hpp"
#include "apps/gemm/gemm.hpp"
#include "apps/gemm/launches.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::gemm {
namespace {

template <class T>
__device__ T stored(float x) {
  if constexpr (sizeof(T) == 1) {
    return round_to_e4m3(x);
  } else if constexpr (sizeof(T) == 2) {
    return round_to_bf16(x);
  } else {
    return x;
  }
}

// Zeros behind the rows: a slice may reach past k.
template <class T>
__global__ void generate(Grid<T> x, Mode mode, int which, bool transposed, std::uint64_t seed) {
  each_element(x.rows, x.pitch, [&](std::int64_t i, std::int64_t j) {
    float element = 0;
    if (j < x.columns) {
      element = transposed ? input_element(seed, which, mode, x.rows, j, i)
                           : input_element(seed, which, mode, x.columns, i, j);
    }
    x.at(i, j) = stored<T>(element);
  });
}

// --- verification: every element of C against sums in fp64

// 64 x 64 elements per block, 4 x 4 per thread, 16 of the sum's terms at a time. Elements are made
// anew from the seed, not read, so that a kernel that overwrites its inputs is caught, too.
constexpr int check_tile = 64, check_depth = 16;

__global__ void __launch_bounds__(element_threads)
    expect(Grid<double> value, float* scale, std::int64_t k, Mode mode, std::uint64_t seed) {
  __shared__ double left[check_depth][check_tile + 1];
  __shared__ double right[check_depth][check_tile + 1];
  const std::int64_t row = std::int64_t{blockIdx.y} * check_tile;
  const std::int64_t column = std::int64_t{blockIdx.x} * check_tile;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  double sum[4][4] = {}, of_squares[4][4] = {};
  for (std::int64_t k0 = 0; k0 < k; k0 += check_depth) {
    for (int e = threadIdx.x; e < check_tile * check_depth; e += element_threads) {
      const std::int64_t i = row + e / check_depth, p = k0 + e % check_depth;
      left[e % check_depth][e / check_depth] =
          i < value.rows && p < k ? input_element(seed, 0, mode, k, i, p) : 0.0f;
      const std::int64_t q = k0 + e / check_tile, j = column + e % check_tile;
      right[e / check_tile][e % check_tile] =
          q < k && j < value.columns ? input_element(seed, 1, mode, value.columns, q, j) : 0.0f;
    }
    __syncthreads();
    for (int p = 0; p < check_depth; ++p) {
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
          const double term = left[p][y + 16 * i] * right[p][x + 16 * j];
          sum[i][j] += term;
          of_squares[i][j] += term * term;
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const std::int64_t r = row + y + 16 * i, c = column + x + 16 * j;
      if (r >= value.rows || c >= value.columns) continue;
      value.at(r, c) = sum[i][j];
      scale[r * value.pitch + c] = static_cast<float>(sqrt(of_squares[i][j]));
    }
  }
}

__global__ void judge(Grid<const float> c, Grid<const double> value, const float* scale,
                      double bound, VerificationReport* report, double* squares) {
  const std::int64_t j = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (j >= c.columns) return;
  double of_thread = 0;
  for (std::int64_t i = blockIdx.y; i < c.rows; i += gridDim.y) {
    const double got = c.at(i, j), expected = value.at(i, j);
    const double error = got == expected ? 0 : fabs(got - expected) / scale[i * value.pitch + j];
    report->add(error, bound, {i, j, got, expected});
    of_thread += error * error;
  }
  atomicAdd(squares, of_thread);
}

// The CPU does the same sums for shapes up to this many terms: a second opinion that costs
// milliseconds.
constexpr std::int64_t most_terms_on_cpu = std::int64_t{1} << 23;

class DeviceInstance final : public InstanceOf<Problem> {
 public:
  DeviceInstance(const Parameters& p, std::uint64_t seed)
      : parameters_(p),
        seed_(seed),
        mode_(mode_of(p)),
        layout_(layout_of(p)),
        m_(p.integer("m")),
        n_(p.integer("n")),
        k_(p.integer("k")),
        pitch_(padded_pitch<float>(n_)),
        a_(static_cast<std::size_t>(m_ * pitch_bytes(mode_, k_))),
        b_(static_cast<std::size_t>(transposed() ? n_ * pitch_bytes(mode_, k_)
                                                 : k_ * pitch_bytes(mode_, n_))),
        c_(static_cast<std::size_t>(m_ * pitch_)) {
    const Operand a = fill(a_, 0, m_, k_, false);
    const Operand b = transposed() ? fill(b_, 1, n_, k_, true) : fill(b_, 1, k_, n_, false);
    problem_ = {mode_, layout_, m_, n_, k_, a, b, {c_.data(), m_, n_, pitch_}, 1, &pieces_};
    AMASIA_CUDA(cudaDeviceSynchronize());
    reset(nullptr);
    AMASIA_CUDA(cudaDeviceSynchronize());
  }

  const Problem& problem() const override { return problem_; }
  void reset(Stream stream) override {
    c_.poison(stream);
    pieces_.poison(stream);
  }

  Verdict verify() override {
    if (value_.size() == 0) sum_up();
    Verdict v = on_device();
    if (m_ * n_ * k_ > most_terms_on_cpu || !v.passed) return v;
    std::vector<float> c(static_cast<std::size_t>(m_ * pitch_));
    c_.download(c.data());
    return compare(c.data(), pitch_, parameters_, reference(parameters_, seed_));
  }

 private:
  bool transposed() const { return layout_ == Layout::tn; }
  Operand fill(const DeviceArray<unsigned char>& bytes, int which, std::int64_t rows,
               std::int64_t columns, bool transposed) const {
    if (mode_ == Mode::e4m3) {
      fill_with<std::uint8_t>(bytes, which, rows, columns, transposed);
    } else if (mode_ == Mode::bf16) {
      fill_with<std::uint16_t>(bytes, which, rows, columns, transposed);
    } else {
      fill_with<float>(bytes, which, rows, columns, transposed);
    }
    return {bytes.data(), rows, columns * element_bytes(mode_), pitch_bytes(mode_, columns)};
  }
  template <class T>
  void fill_with(const DeviceArray<unsigned char>& bytes, int which, std::int64_t rows,
                 std::int64_t columns, bool transposed) const {
    const auto pitch = pitch_bytes(mode_, columns) / static_cast<std::int64_t>(sizeof(T));
    generate<<<blocks_over(rows, pitch), element_threads>>>(
        Grid<T>{reinterpret_cast<T*>(bytes.data()), rows, columns, pitch}, mode_, which, transposed,
        seed_);
    AMASIA_CUDA(cudaGetLastError());
  }

  void sum_up() {
    value_ = DeviceArray<double>(static_cast<std::size_t>(m_ * n_));
    scale_ = DeviceArray<float>(static_cast<std::size_t>(m_ * n_));
    const dim3 blocks(static_cast<unsigned>(ceil_div(n_, check_tile)),
                      static_cast<unsigned>(ceil_div(m_, check_tile)));
    expect<<<blocks, element_threads>>>(Grid<double>{value_.data(), m_, n_, n_}, scale_.data(), k_,
                                        mode_, seed_);
    AMASIA_CUDA(cudaGetLastError());
  }

  Verdict on_device() const {
    const Verdict v{true, error_norm, 0, error_bound(mode_, k_), m_ * n_, 0};
    const DeviceReport report;
    const DeviceArray<double> squares(1);
    AMASIA_CUDA(cudaMemset(squares.data(), 0, sizeof(double)));
    judge<<<blocks_over(m_, n_), element_threads>>>(
        Grid<const float>{c_.data(), m_, n_, pitch_}, Grid<const double>{value_.data(), m_, n_, n_},
        scale_.data(), v.bound, report.data(), squares.data());
    AMASIA_CUDA(cudaGetLastError());
    double sum = 0;
    squares.download(&sum);
    return with_rms(report.complete(v, "got"), std::sqrt(sum / static_cast<double>(m_ * n_)), mode_,
                    k_);
  }

  Parameters parameters_;
  std::uint64_t seed_;
  Mode mode_;
  Layout layout_;
  std::int64_t m_, n_, k_, pitch_;
  DeviceArray<unsigned char> a_, b_;
  DeviceArray<float> c_;
  DeviceArray<double> value_;  // (m, n), as they should be; made on first use
  DeviceArray<float> scale_;   // (m, n)
  Pieces pieces_;
  Problem problem_;
};

const bool registered = register_instance<DeviceInstance>("gemm");

}  // namespace
}  // namespace amasia::gemm
