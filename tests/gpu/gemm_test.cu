#include "apps/gemm/gemm.hpp"
#include "tests/gpu/device_test.hpp"
#include "variants/device/prepared_run.hpp"

namespace amasia::gemm_test {
namespace {

// gemm/cublaslt: in every mode and layout that it takes the library does find an algorithm, the
// search leaves A and B as they were, and the launch may be captured.

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

// Sums that blocks share (apps/gemm/walk.hpp): the same bits each time, however the pieces
// arrive, in launches of a stream and of a graph that is replayed; and no piece that nobody wrote.
// Pieces that are added too early are caught after either.

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

/// A launch whose last kernel adds the pieces that those before it make, in the wrong order.
class AddedTooEarly {
 public:
  AddedTooEarly(const Launch& launch, cudaStream_t stream) {
    AMASIA_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch(stream);
    AMASIA_CUDA(cudaStreamEndCapture(stream, &graph_));
    cudaGraphNode_t nodes[4];  // two that split operands in mode tf32x3, one that multiplies, one
    std::size_t count = 4;     // that adds
    AMASIA_CUDA(cudaGraphGetNodes(graph_, nodes, &count));
    std::vector<cudaGraphNode_t> last, others;
    for (std::size_t i = 0; i < count; ++i) {
      (successors(nodes[i]) == 0 ? last : others).push_back(nodes[i]);
    }
    adding_ = without(others);
    multiplying_ = without(last);
  }
  ~AddedTooEarly() {
    cudaGraphExecDestroy(adding_);
    cudaGraphExecDestroy(multiplying_);
    cudaGraphDestroy(graph_);
  }
  AddedTooEarly(const AddedTooEarly&) = delete;
  AddedTooEarly& operator=(const AddedTooEarly&) = delete;

  void enqueue(cudaStream_t stream) const {
    AMASIA_CUDA(cudaGraphLaunch(adding_, stream));
    AMASIA_CUDA(cudaGraphLaunch(multiplying_, stream));
  }

 private:
  static std::size_t successors(cudaGraphNode_t node) {
    cudaGraphNode_t nodes[4];
    cudaGraphEdgeData edges[4];  // a dependent launch's is of another kind
    std::size_t count = 4;
#if CUDART_VERSION >= 13000
    AMASIA_CUDA(cudaGraphNodeGetDependentNodes(node, nodes, edges, &count));
#else
    AMASIA_CUDA(cudaGraphNodeGetDependentNodes_v2(node, nodes, edges, &count));
#endif
    return count;
  }
  cudaGraphExec_t without(const std::vector<cudaGraphNode_t>& nodes) const {
    cudaGraphExec_t graph = nullptr;
    AMASIA_CUDA(cudaGraphInstantiate(&graph, graph_, 0));
    for (cudaGraphNode_t node : nodes) AMASIA_CUDA(cudaGraphNodeSetEnabled(graph, node, 0));
    return graph;
  }
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t adding_ = nullptr, multiplying_ = nullptr;
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
    // The buffer held the right pieces when this run began.
    const AddedTooEarly mutant(launch, stream);
    i->reset(stream);
    mutant.enqueue(stream);
    AMASIA_CUDA(cudaStreamSynchronize(stream));
    EXPECT_FALSE(i->verify().passed) << what << ": pieces were added before they were there";
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
      const std::string first = name.substr(0, name.find('-'));
      const bool tensor =
          first == "tf32" || first == "bf16" || first == "e4m3" || first == "tf32x3";
      const bool tn = first == "e4m3" || name.find("-tn-") != std::string::npos;
      check_config(config, device, tensor ? first : "fp32", tn ? "tn" : "nn",
                   variant->name() + " " + config.info.name);
      ++configs;
    }
  }
  EXPECT_GT(configs, 0);
}

}  // namespace
}  // namespace amasia::gemm_test
