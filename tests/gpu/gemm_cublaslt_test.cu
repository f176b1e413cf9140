// gemm/cublaslt: in every mode and layout that it takes the library does find an algorithm, the
// search leaves A and B as they were, and the launch may be captured.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/gemm/gemm.hpp"
#include "tests/gpu/device_test.hpp"
#include "variants/device/prepared_run.hpp"

namespace amasia::gemm_cublaslt_test {
namespace {

std::vector<unsigned char> bytes_of(const gemm::Operand& x) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(x.rows * x.pitch));
  AMASIA_CUDA(cudaMemcpy(bytes.data(), x.data, bytes.size(), cudaMemcpyDeviceToHost));
  return bytes;
}

std::unique_ptr<Instance> instance_of(const std::string& n, const std::string& k,
                                      const std::string& mode, const std::string& layout) {
  return instance("gemm", {{"m", "301"}, {"n", n}, {"k", k}, {"mode", mode}, {"layout", layout}});
}

class GemmCublasLt : public OnDevice<testing::TestWithParam<std::pair<const char*, const char*>>> {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    const Variant* variant = find_variant("gemm/cublaslt");
    if (variant == nullptr) GTEST_SKIP() << "built without cublasLt.h";
    config = &variant->configs.front();
    const auto [mode, layout] = GetParam();
    if (device.compute_capability < (std::string(mode) == "e4m3" ? 90 : 80)) {
      GTEST_SKIP() << "tensor cores without " << mode;
    }
    const auto small = instance_of("48", "32", mode, layout);
    const auto objection = config->unsupported(*small, device);
    if (objection && objection->find("was found") != std::string::npos) GTEST_SKIP() << *objection;
  }
  const Config* config = nullptr;
};

TEST_P(GemmCublasLt, MultipliesInAStreamAndInAGraph) {
  const auto [mode, layout] = GetParam();
  for (const auto& [n, k] : {std::pair{"512", "640"}, {"272", "1001"}}) {
    const auto i = instance_of(n, k, mode, layout);
    const gemm::Problem& p = problem_of<gemm::Problem>(*i);
    const auto a = bytes_of(p.a), b = bytes_of(p.b);
    const auto objection = config->unsupported(*i, device);
    ASSERT_FALSE(objection) << *objection;
    const Launch launch = config->prepare(*i, device);
    EXPECT_EQ(bytes_of(p.a), a);
    EXPECT_EQ(bytes_of(p.b), b);
    const OwnedStream stream;
    for (LaunchMode launch_mode : {LaunchMode::stream, LaunchMode::graph}) {
      const PreparedRun run(launch, launch_mode, stream);
      for (int times = 0; times < 2; ++times) {
        i->reset(stream);
        run.enqueue(stream);
        AMASIA_CUDA(cudaStreamSynchronize(stream));
        const Verdict v = i->verify();
        EXPECT_TRUE(v.passed) << n << " " << k << " " << v.norm << " " << v.error;
      }
    }
  }
}

// What it does not take is a sentence, not a failure.
TEST_P(GemmCublasLt, TakesOddShapesOrSaysWhyNot) {
  const auto [mode, layout] = GetParam();
  for (const auto& [n, k] : {std::pair{"1", "1"}, {"7", "3"}, {"513", "401"}}) {
    const auto i = instance_of(n, k, mode, layout);
    if (const auto objection = config->unsupported(*i, device)) {
      EXPECT_NE(objection->find("no algorithm"), std::string::npos) << *objection;
      EXPECT_EQ(std::string(mode), "e4m3") << *objection;
      continue;
    }
    EXPECT_TRUE(verdict_of(*config, *i, device).passed) << n << " " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, GemmCublasLt,
                         testing::Values(std::pair{"fp32", "nn"}, std::pair{"fp32", "tn"},
                                         std::pair{"tf32", "nn"}, std::pair{"tf32", "tn"},
                                         std::pair{"bf16", "nn"}, std::pair{"bf16", "tn"},
                                         std::pair{"e4m3", "tn"}, std::pair{"tf32x3", "nn"}),
                         [](const auto& of) {
                           return std::string(of.param.first) + "_" + of.param.second;
                         });

}  // namespace
}  // namespace amasia::gemm_cublaslt_test
