// convolution_1d on the device: input, poison, verification. Every result is compared bit for bit
// with the sum worked out for it alone, from the definition of the input; and whole rows of that
// with the CPU's.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "convolution_1d.hpp"
#include "cpu_reference.hpp"
#include "schedules.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::convolution_1d {
namespace {

constexpr int threads = 256;
constexpr std::int64_t front = 32;  // elements before the first row, one line
constexpr std::int64_t most_rows_on_cpu = 8;

__global__ void generate(float* data, std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                         std::uint64_t seed) {
  const std::int64_t step = std::int64_t{gridDim.x} * threads;
  for (std::int64_t i = blockIdx.x * std::int64_t{threads} + threadIdx.x; i < rows * columns;
       i += step) {
    data[i / columns * pitch + i % columns] = input_at(seed, i);
  }
}

struct Found {
  unsigned long long mismatches;
  unsigned long long first;
};

__global__ void compare(Grid<const float> out, Filter filter, std::uint64_t seed, Found* found) {
  const std::int64_t step = std::int64_t{gridDim.x} * threads;
  for (std::int64_t i = blockIdx.x * std::int64_t{threads} + threadIdx.x;
       i < out.rows * out.columns; i += step) {
    const std::int64_t row = i / out.columns, column = i % out.columns;
    const float expected = convolved(filter, [&](int k) {
      return column + k < 0 || column + k >= out.columns ? 0.0F : input_at(seed, i + k);
    });
    if (__float_as_uint(out.at(row, column)) == __float_as_uint(expected)) continue;
    atomicAdd(&found->mismatches, 1ULL);
    atomicMin(&found->first, static_cast<unsigned long long>(i));
  }
}

class DeviceInstance : public InstanceOf<Problem> {
 public:
  DeviceInstance(std::int64_t rows, std::int64_t columns, std::uint64_t seed)
      : seed_(seed),
        pitch_(pitch_of(columns)),
        in_(static_cast<std::size_t>(front + checked_product({rows, pitch_}, "elements") +
                                     Four::columns + front)),
        out_(static_cast<std::size_t>(rows * pitch_)) {
    // The margins are zeros of the input; what lies behind the last row is read by nobody's sum.
    AMASIA_CUDA(cudaMemset(in_.data(), 0, in_.bytes()));
    generate<<<1024, threads>>>(in_.data() + front, rows, columns, pitch_, seed);
    AMASIA_CUDA(cudaGetLastError());
    AMASIA_CUDA(cudaDeviceSynchronize());
    problem_ = {{in_.data() + front, rows, columns, pitch_},
                {out_.data(), rows, columns, pitch_},
                filter_of(seed)};
  }
  const Problem& problem() const override { return problem_; }
  void reset(Stream stream) override { out_.poison(stream); }
  Verdict verify() override {
    const std::int64_t rows = problem_.out.rows, columns = problem_.out.columns;
    Verdict v;
    v.norm = "exact";
    v.checked = rows * columns;
    DeviceArray<Found> found(1);
    Found f{0, ~0ULL};
    found.upload(&f);
    compare<<<4096, threads>>>({out_.data(), rows, columns, pitch_}, problem_.filter, seed_,
                               found.data());
    AMASIA_CUDA(cudaGetLastError());
    found.download(&f);
    v.mismatches = static_cast<std::int64_t>(f.mismatches);
    if (f.mismatches > 0) {
      v.first_mismatches.push_back("element " + std::to_string(f.first) + " of the rows in order");
    }
    // The first, the last and rows between.
    const std::int64_t some = std::min(rows, most_rows_on_cpu);
    std::vector<float> got(static_cast<std::size_t>(columns));
    for (std::int64_t i = 0; i < some; ++i) {
      const std::int64_t row = some == 1 ? 0 : i * (rows - 1) / (some - 1);
      AMASIA_CUDA(cudaMemcpy(got.data(), &problem_.out.at(row, 0), got.size() * sizeof(float),
                             cudaMemcpyDeviceToHost));
      const std::vector<float> expected = reference_row(problem_.filter, seed_, row, columns);
      const auto wrong = std::mismatch(got.begin(), got.end(), expected.begin());
      if (wrong.first == got.end()) continue;
      ++v.mismatches;
      v.first_mismatches.push_back("row " + std::to_string(row) + ", column " +
                                   std::to_string(wrong.first - got.begin()) + ": got " +
                                   std::to_string(*wrong.first) + ", the CPU has " +
                                   std::to_string(*wrong.second));
      break;
    }
    v.error = static_cast<double>(v.mismatches);
    v.passed = v.mismatches == 0;
    return v;
  }

 private:
  std::uint64_t seed_;
  std::int64_t pitch_;
  DeviceArray<float> in_, out_;
  Problem problem_;
};

const bool registered = register_instance_factory(
    "convolution_1d", [](const Parameters& p, std::uint64_t seed) -> std::unique_ptr<Instance> {
      return std::make_unique<DeviceInstance>(p.integer("rows"), p.integer("cols"), seed);
    });

}  // namespace
}  // namespace amasia::convolution_1d
