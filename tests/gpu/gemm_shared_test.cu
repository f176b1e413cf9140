// Sums that blocks share (apps/gemm/shared.cuh): the same bits each time, however the pieces
// arrive, in launches of a stream and of a graph that is replayed; and no piece that nobody wrote.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "apps/gemm/gemm.hpp"
#include "harness/device.hpp"
#include "harness/registry.hpp"
#include "harness/variant.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::gemm_shared_test {
namespace {

std::vector<float> product_of(const gemm::Problem& p) {
  std::vector<float> c(static_cast<std::size_t>(p.m * p.c.pitch));
  AMASIA_CUDA(cudaMemcpy(c.data(), p.c.data, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  return c;
}

/// Poisons C, runs, verifies, and compares with the bits of the first run.
struct SameBits {
  Instance& instance;
  const gemm::Problem& problem;
  std::vector<float> first{};

  template <class Run>
  void check(cudaStream_t stream, Run&& run, const std::string& what) {
    instance.reset(stream);
    run();
    AMASIA_CUDA(cudaStreamSynchronize(stream));
    EXPECT_TRUE(instance.verify().passed) << what;
    const std::vector<float> c = product_of(problem);
    if (first.empty()) first = c;
    for (std::int64_t i = 0; i < problem.m; ++i) {
      const std::size_t row = static_cast<std::size_t>(i * problem.c.pitch);
      const auto bytes = static_cast<std::size_t>(problem.n) * sizeof(float);
      ASSERT_EQ(std::memcmp(&c[row], &first[row], bytes), 0) << what << ", row " << i;
    }
  }
};

void check_config(const Config& config, const Device& device, const std::string& mode,
                  const std::string& layout, const std::string& what) {
  const auto instance = (*find_instance_factory("gemm"))(
      Parameters(find_app("gemm")->parameters(),
                 {{"m", "500"}, {"n", "390"}, {"k", "3000"}, {"mode", mode}, {"layout", layout}}),
      7);
  if (config.unsupported(*instance, device)) return;
  const gemm::Problem& p = dynamic_cast<InstanceOf<gemm::Problem>&>(*instance).problem();
  const Launch launch = config.prepare(*instance, device);
  const OwnedStream stream;
  SameBits same{*instance, p};
  for (int i = 0; i < 3; ++i)
    same.check(
        stream, [&] { launch(stream); }, what);

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  AMASIA_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  launch(stream);
  AMASIA_CUDA(cudaStreamEndCapture(stream, &graph));
  AMASIA_CUDA(cudaGraphInstantiate(&replay, graph, 0));
  for (int i = 0; i < 3; ++i) {
    same.check(
        stream, [&] { AMASIA_CUDA(cudaGraphLaunch(replay, stream)); }, what + ", graph");
  }
  AMASIA_CUDA(cudaGraphExecDestroy(replay));
  AMASIA_CUDA(cudaGraphDestroy(graph));
}

TEST(GemmShared, GivesTheSameBitsEachTime) {
  std::string reason;
  if (device_count(reason) == 0) GTEST_SKIP() << reason;
  const Device device = query_device(0);
  int configs = 0;
  for (const char* strategy : {"baseline", "register_bypass", "overlap", "tma", "dsm"}) {
    const Variant* variant = find_variant(std::string("gemm/") + strategy);
    ASSERT_NE(variant, nullptr);
    if (device.compute_capability < variant->traits.runs_from) continue;
    for (const Config& config : variant->configs) {
      const std::string& name = config.info.schedule;
      if (name.find("-shared") == std::string::npos) continue;
      const std::string first = name.substr(0, 4);
      const bool tensor = first == "tf32" || first == "bf16" || first == "e4m3";
      const bool tn = first == "e4m3" || name.find("-tn-") != std::string::npos;
      check_config(config, device, tensor ? first : "fp32", tn ? "tn" : "nn",
                   variant->name() + " " + config.info.name);
      ++configs;
    }
  }
  EXPECT_GT(configs, 0);
}

}  // namespace
}  // namespace amasia::gemm_shared_test
