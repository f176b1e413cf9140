// softmax on the device: input, poison, verification. Every result is compared with that of a
// kernel that knows nothing of tiles and computes in fp64; and whole rows with the CPU's.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "cpu_reference.hpp"
#include "softmax.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::softmax {
namespace {

constexpr int threads = 256;
constexpr std::int64_t most_rows_on_cpu = 8;

/// Padding is minus infinity.
__global__ void generate(float* data, std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                         std::uint64_t seed) {
  const std::int64_t step = std::int64_t{gridDim.x} * threads;
  for (std::int64_t i = blockIdx.x * std::int64_t{threads} + threadIdx.x; i < rows * pitch;
       i += step) {
    const std::int64_t row = i / pitch, column = i % pitch;
    data[i] = column < columns ? input_at(seed, row, columns, column) : -INFINITY;
  }
}

struct Found {
  unsigned long long mismatches;
  unsigned long long first;
  unsigned long long error;  // the bits of the largest: they order as the numbers do
};

template <class Join>
__device__ double joined_in_block(double (&shared)[threads], double own, Join join) {
  __syncthreads();
  shared[threadIdx.x] = own;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half) {
      shared[threadIdx.x] = join(shared[threadIdx.x], shared[threadIdx.x + half]);
    }
  }
  __syncthreads();
  return shared[0];
}

/// A block per row at a time.
__global__ void compare(Grid<const float> out, std::uint64_t seed, Found* found) {
  __shared__ double shared[threads];
  for (std::int64_t row = blockIdx.x; row < out.rows; row += gridDim.x) {
    double maximum = -INFINITY, sum = 0;
    for (std::int64_t c = threadIdx.x; c < out.columns; c += threads) {
      maximum = fmax(maximum, double{input_at(seed, row, out.columns, c)});
    }
    maximum = joined_in_block(shared, maximum, [](double a, double b) { return fmax(a, b); });
    for (std::int64_t c = threadIdx.x; c < out.columns; c += threads) {
      sum += exp(double{input_at(seed, row, out.columns, c)} - maximum);
    }
    sum = joined_in_block(shared, sum, [](double a, double b) { return a + b; });
    for (std::int64_t c = threadIdx.x; c < out.columns; c += threads) {
      const double expected = exp(double{input_at(seed, row, out.columns, c)} - maximum) / sum;
      const double error = fabs(double{out.at(row, c)} - expected) / expected;
      const bool right = error <= relative_bound;  // not of what is no number
      if (isfinite(error)) {
        atomicMax(&found->error, static_cast<unsigned long long>(__double_as_longlong(error)));
      }
      if (right) continue;
      atomicAdd(&found->mismatches, 1ULL);
      atomicMin(&found->first, static_cast<unsigned long long>(row * out.columns + c));
    }
  }
}

class DeviceInstance : public InstanceOf<Problem> {
 public:
  DeviceInstance(std::int64_t rows, std::int64_t columns, std::uint64_t seed)
      : seed_(seed),
        pitch_(padded_pitch<float>(columns)),
        in_(static_cast<std::size_t>(checked_product({rows, pitch_}, "elements"))),
        out_(in_.size()) {
    generate<<<4096, threads>>>(in_.data(), rows, columns, pitch_, seed);
    AMASIA_CUDA(cudaGetLastError());
    AMASIA_CUDA(cudaDeviceSynchronize());
    problem_ = {{in_.data(), rows, columns, pitch_}, {out_.data(), rows, columns, pitch_}};
  }
  const Problem& problem() const override { return problem_; }
  void reset(Stream stream) override { out_.poison(stream); }
  Verdict verify() override {
    const std::int64_t rows = problem_.out.rows, columns = problem_.out.columns;
    Verdict v;
    v.norm = "max relative error";
    v.bound = relative_bound;
    v.checked = rows * columns;
    DeviceArray<Found> found(1);
    Found f{0, ~0ULL, 0};
    found.upload(&f);
    compare<<<4096, threads>>>({out_.data(), rows, columns, pitch_}, seed_, found.data());
    AMASIA_CUDA(cudaGetLastError());
    found.download(&f);
    v.mismatches = static_cast<std::int64_t>(f.mismatches);
    std::copy_n(reinterpret_cast<const unsigned char*>(&f.error), sizeof(f.error),
                reinterpret_cast<unsigned char*>(&v.error));
    if (f.mismatches > 0) {
      v.first_mismatches.push_back("element " + std::to_string(f.first) + " of the rows in order");
    }
    check_on_cpu(v);
    v.passed = v.mismatches == 0;
    return v;
  }

 private:
  /// The first row, the last and some between.
  void check_on_cpu(Verdict& v) const {
    const std::int64_t rows = problem_.out.rows, columns = problem_.out.columns;
    const std::int64_t some = std::min(rows, most_rows_on_cpu);
    std::vector<float> got(static_cast<std::size_t>(columns));
    for (std::int64_t i = 0; i < some; ++i) {
      const std::int64_t row = some == 1 ? 0 : i * (rows - 1) / (some - 1);
      AMASIA_CUDA(cudaMemcpy(got.data(), &problem_.out.at(row, 0), got.size() * sizeof(float),
                             cudaMemcpyDeviceToHost));
      const std::vector<double> expected = reference_row(seed_, row, columns);
      for (std::size_t c = 0; c < got.size(); ++c) {
        const double error = std::fabs(double{got[c]} - expected[c]) / expected[c];
        if (error <= relative_bound) continue;
        ++v.mismatches;
        v.first_mismatches.push_back("row " + std::to_string(row) + ", column " +
                                     std::to_string(c) + ": got " + std::to_string(got[c]) +
                                     ", the CPU has " + std::to_string(expected[c]));
        return;
      }
    }
  }

  std::uint64_t seed_;
  std::int64_t pitch_;
  DeviceArray<float> in_, out_;
  Problem problem_;
};

const bool registered = register_instance_factory(
    "softmax", [](const Parameters& p, std::uint64_t seed) -> std::unique_ptr<Instance> {
      return std::make_unique<DeviceInstance>(p.integer("rows"), p.integer("cols"), seed);
    });

}  // namespace
}  // namespace amasia::softmax
