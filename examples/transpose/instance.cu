// transpose on the device: input, poison, verification. Every element is compared with the one that
// belongs there, from the definition of the input; and whole matrices with the CPU's.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cpu_reference.hpp"
#include "transpose.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::transpose {
namespace {

constexpr int threads = 256;
constexpr std::int64_t most_matrices_on_cpu = 64;

__global__ void generate(float* data, std::int64_t elements, std::uint64_t seed) {
  const std::int64_t step = std::int64_t{gridDim.x} * threads;
  for (std::int64_t i = blockIdx.x * std::int64_t{threads} + threadIdx.x; i < elements; i += step) {
    data[i] = input_at(seed, i);
  }
}

struct Found {
  unsigned long long mismatches;
  unsigned long long first;
};

__global__ void compare(const float* out, std::int64_t elements, int n, std::uint64_t seed,
                        Found* found) {
  const std::int64_t step = std::int64_t{gridDim.x} * threads;
  for (std::int64_t i = blockIdx.x * std::int64_t{threads} + threadIdx.x; i < elements; i += step) {
    if (out[i] == input_at(seed, source_of(i, n))) continue;
    atomicAdd(&found->mismatches, 1ULL);
    atomicMin(&found->first, static_cast<unsigned long long>(i));
  }
}

class DeviceInstance : public InstanceOf<Problem> {
 public:
  DeviceInstance(std::int64_t count, int n, std::uint64_t seed)
      : seed_(seed),
        in_(static_cast<std::size_t>(checked_product({count, n, n}, "elements"))),
        out_(in_.size()),
        problem_{in_.data(), out_.data(), count, n} {
    generate<<<4096, threads>>>(in_.data(), elements(), seed);
    AMASIA_CUDA(cudaGetLastError());
    AMASIA_CUDA(cudaDeviceSynchronize());
  }
  const Problem& problem() const override { return problem_; }
  void reset(Stream stream) override { out_.poison(stream); }
  Verdict verify() override {
    Verdict v;
    v.norm = "exact";
    v.checked = elements();
    DeviceArray<Found> found(1);
    Found f{0, ~0ULL};
    found.upload(&f);
    compare<<<4096, threads>>>(out_.data(), elements(), problem_.n, seed_, found.data());
    AMASIA_CUDA(cudaGetLastError());
    found.download(&f);
    v.mismatches = static_cast<std::int64_t>(f.mismatches);
    if (f.mismatches > 0) {
      v.first_mismatches.push_back("element " + std::to_string(f.first) + " of the batch");
    }
    check_on_cpu(v);
    v.error = static_cast<double>(v.mismatches);
    v.passed = v.mismatches == 0;
    return v;
  }

 private:
  std::int64_t elements() const { return problem_.count * problem_.n * problem_.n; }

  /// The first matrix, the last and some between.
  void check_on_cpu(Verdict& v) const {
    const std::int64_t some = std::min(problem_.count, most_matrices_on_cpu);
    std::vector<float> got(static_cast<std::size_t>(problem_.n * problem_.n));
    for (std::int64_t i = 0; i < some; ++i) {
      const std::int64_t b = some == 1 ? 0 : i * (problem_.count - 1) / (some - 1);
      AMASIA_CUDA(cudaMemcpy(got.data(), out_.data() + static_cast<std::size_t>(b) * got.size(),
                             got.size() * sizeof(float), cudaMemcpyDeviceToHost));
      if (got != reference_matrix(seed_, b, problem_.n)) {
        ++v.mismatches;
        v.first_mismatches.push_back("matrix " + std::to_string(b) + " is not the CPU's");
        return;
      }
    }
  }

  std::uint64_t seed_;
  DeviceArray<float> in_, out_;
  Problem problem_;
};

const bool registered = register_instance_factory(
    "transpose", [](const Parameters& p, std::uint64_t seed) -> std::unique_ptr<Instance> {
      return std::make_unique<DeviceInstance>(p.integer("count"), std::stoi(p.text("n")), seed);
    });

}  // namespace
}  // namespace amasia::transpose
