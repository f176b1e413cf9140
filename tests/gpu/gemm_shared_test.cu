// Sums that blocks share (apps/gemm/sharing.hpp): the same bits each time, however the pieces
// arrive, in launches of a stream and of a graph that is replayed; and no piece that nobody wrote.
#include <cstring>
#include <string>
#include <vector>

#include "apps/gemm/gemm.hpp"
#include "tests/gpu/device_test.hpp"
#include "variants/device/prepared_run.hpp"

namespace amasia::gemm_shared_test {
namespace {

std::vector<float> product_of(const gemm::Problem& p) {
  std::vector<float> c(static_cast<std::size_t>(p.m * p.c.pitch));
  AMASIA_CUDA(cudaMemcpy(c.data(), p.c.data, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  return c;
}

/// Poisons C, runs, verifies, and compares with the bits of the first run.
struct SameBits {
  Instance& of;
  const gemm::Problem& problem;
  std::vector<float> first{};

  template <class Run>
  void check(cudaStream_t stream, Run&& run, const std::string& what) {
    of.reset(stream);
    run();
    AMASIA_CUDA(cudaStreamSynchronize(stream));
    EXPECT_TRUE(of.verify().passed) << what;
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
  const auto i = instance(
      "gemm", {{"m", "500"}, {"n", "390"}, {"k", "3000"}, {"mode", mode}, {"layout", layout}});
  if (config.unsupported(*i, device)) return;
  const Launch launch = config.prepare(*i, device);
  const OwnedStream stream;
  SameBits same{*i, problem_of<gemm::Problem>(*i)};
  for (LaunchMode launch_mode : {LaunchMode::stream, LaunchMode::graph}) {
    const PreparedRun run(launch, launch_mode, stream);
    for (int times = 0; times < 3; ++times) {
      same.check(
          stream, [&] { run.enqueue(stream); },
          what + (launch_mode == LaunchMode::graph ? ", graph" : ""));
    }
  }
}

using GemmShared = OnDevice<>;

TEST_F(GemmShared, GivesTheSameBitsEachTime) {
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
