// gemm/cublaslt: what a user does who wants the fastest product that NVIDIA's library has. Its
// heuristics name candidates (cublasLtMatmulAlgoGetHeuristic), each is tried on the problem before
// anything is measured, and the fastest stays. The search works on the operands themselves and
// writes C, which is poisoned again before it counts.
//
// cuBLASLt thinks in columns, so the operands change places as in cublas.cu. e4m3 accumulates as
// the strategies do, in the tensor cores alone ("fast accumulation"). Its k is counted with the
// zeros behind the rows, up to a multiple of 16.
#include <cublasLt.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/common/owned.hpp"
#include "apps/common/vendor_library.hpp"
#include "apps/gemm/gemm.hpp"
#include "harness/variant.hpp"
#include "variants/device/cuda.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::gemm {
namespace {

const Library& library() {
  static const Library found{"libcublasLt.so.13", "libcublasLt.so.12"};
  return found;
}

#define AMASIA_CUBLASLT(name) AMASIA_LIBRARY_FUNCTION(library(), name)

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;  // what NVIDIA advises for Hopper
constexpr int candidates = 32;                                  // asked for; there may be fewer

/// The library's handle for this process. It owns nothing that has to be given back.
cublasLtHandle_t handle() {
  static const cublasLtHandle_t created = [] {
    cublasLtHandle_t h = nullptr;
    AMASIA_LIBRARY_CALL(library(), cublasLtCreate, &h);
    return h;
  }();
  return created;
}

cudaDataType type_of(Mode mode) {
  if (mode == Mode::e4m3) return CUDA_R_8F_E4M3;
  return mode == Mode::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

/// The product as cuBLASLt sees it: C^T (n x m) from B and A.
class Product {
 public:
  explicit Product(const Problem& p)
      : problem_(p),
        operation_(operation(p), AMASIA_CUBLASLT(cublasLtMatmulDescDestroy)),
        b_(p.layout == Layout::tn ? matrix(p, terms(p), p.n, p.b) : matrix(p, p.n, terms(p), p.b),
           AMASIA_CUBLASLT(cublasLtMatrixLayoutDestroy)),
        a_(matrix(p, terms(p), p.m, p.a), AMASIA_CUBLASLT(cublasLtMatrixLayoutDestroy)),
        c_(matrix(CUDA_R_32F, p.n, p.m, p.c.pitch), AMASIA_CUBLASLT(cublasLtMatrixLayoutDestroy)) {}

  using Algorithm = cublasLtMatmulAlgo_t;

  /// What the heuristics name, most promising first; none where the library cannot do it.
  std::vector<Algorithm> algorithms() const {
    cublasLtMatmulPreference_t created = nullptr;
    AMASIA_LIBRARY_CALL(library(), cublasLtMatmulPreferenceCreate, &created);
    const Owned preference(created, AMASIA_CUBLASLT(cublasLtMatmulPreferenceDestroy));
    AMASIA_LIBRARY_CALL(library(), cublasLtMatmulPreferenceSetAttribute, preference,
                        CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                        sizeof workspace_bytes);
    std::vector<cublasLtMatmulHeuristicResult_t> found(candidates);
    int count = 0;
    const cublasStatus_t status = AMASIA_CUBLASLT(cublasLtMatmulAlgoGetHeuristic)(
        handle(), operation_, b_, a_, c_, c_, preference, candidates, found.data(), &count);
    // How it refuses a shape depends on the version.
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) return {};
    check_status(status, "cublasLtMatmulAlgoGetHeuristic");
    std::vector<Algorithm> all;
    for (int i = 0; i < count; ++i) {
      if (found[i].state == CUBLAS_STATUS_SUCCESS) all.push_back(found[i].algo);
    }
    return all;
  }

  cublasStatus_t run(const Algorithm& algorithm, void* workspace, Stream stream) const {
    const float zero = 0;
    return AMASIA_CUBLASLT(cublasLtMatmul)(
        handle(), operation_, &problem_.alpha, problem_.b.data, b_, problem_.a.data, a_, &zero,
        problem_.c.data, c_, problem_.c.data, c_, &algorithm, workspace, workspace_bytes, stream);
  }

 private:
  using Operation = Owned<cublasLtMatmulDesc_t, decltype(cublasLtMatmulDescDestroy)>;
  using Matrix = Owned<cublasLtMatrixLayout_t, decltype(cublasLtMatrixLayoutDestroy)>;

  static std::uint64_t terms(const Problem& p) {
    return static_cast<std::uint64_t>(p.mode == Mode::e4m3 ? round_up(p.k, 16) : p.k);
  }
  static cublasLtMatmulDesc_t operation(const Problem& p) {
    const auto compute = p.mode == Mode::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    cublasLtMatmulDesc_t created = nullptr;
    AMASIA_LIBRARY_CALL(library(), cublasLtMatmulDescCreate, &created, compute, CUDA_R_32F);
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
      AMASIA_LIBRARY_CALL(library(), cublasLtMatmulDescSetAttribute, created, attribute, &value,
                          sizeof value);
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, p.layout == Layout::tn ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
    if (p.mode == Mode::e4m3) set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
    return created;
  }
  static cublasLtMatrixLayout_t matrix(cudaDataType type, std::uint64_t rows, std::uint64_t columns,
                                       std::int64_t leading) {
    cublasLtMatrixLayout_t created = nullptr;
    AMASIA_LIBRARY_CALL(library(), cublasLtMatrixLayoutCreate, &created, type, rows, columns,
                        leading);
    return created;
  }
  static cublasLtMatrixLayout_t matrix(const Problem& p, std::uint64_t rows, std::uint64_t columns,
                                       const Operand& x) {
    return matrix(type_of(p.mode), rows, columns, x.pitch / element_bytes(p.mode));
  }

  Problem problem_;
  Operation operation_;
  Matrix b_, a_, c_;
};

/// Tries algorithms on the problem. Before each run twice the L2 is written, so that it finds the
/// cache as cold as a measurement does, and so that the run waits in the queue for that and not for
/// the host.
class Trial {
 public:
  Trial(const Product& product, const Device& device, void* workspace)
      : product_(product), workspace_(workspace), displacing_(2 * device.l2_bytes) {}

  /// Milliseconds of one run; nothing where the library refuses it after all.
  std::optional<float> run(const Product::Algorithm& algorithm) const {
    AMASIA_CUDA(cudaMemsetAsync(displacing_.data(), 0, displacing_.bytes(), stream_));
    AMASIA_CUDA(cudaEventRecord(begin_, stream_));
    if (product_.run(algorithm, workspace_, stream_) != CUBLAS_STATUS_SUCCESS) return std::nullopt;
    AMASIA_CUDA(cudaEventRecord(end_, stream_));
    AMASIA_CUDA(cudaEventSynchronize(end_));
    float ms = 0;
    AMASIA_CUDA(cudaEventElapsedTime(&ms, begin_, end_));
    return ms;
  }

 private:
  const Product& product_;
  void* workspace_;
  DeviceArray<unsigned char> displacing_;
  OwnedStream stream_;
  OwnedEvent begin_, end_;
};

/// The fastest of the candidates by the median of seven runs, in rounds of one run each, so that a
/// change of the clock meets all alike. Most are far off: a second run sorts those out, after a
/// first one that loads the kernel.
Product::Algorithm fastest(const Product& product, const Device& device, void* workspace) {
  constexpr float far_off = 1.25F;
  constexpr int rounds = 7;
  struct Candidate {
    Product::Algorithm algorithm;
    std::vector<float> ms;
  };
  const Trial trial(product, device, workspace);
  std::vector<Candidate> left;
  float least = 0;
  for (const Product::Algorithm& algorithm : product.algorithms()) {
    if (!trial.run(algorithm)) continue;
    const std::optional<float> ms = trial.run(algorithm);
    if (!ms) continue;
    least = left.empty() ? *ms : std::min(least, *ms);
    left.push_back({algorithm, {*ms}});
  }
  if (left.empty()) throw std::runtime_error("cuBLASLt runs none of the algorithms that it names");
  left.erase(std::remove_if(left.begin(), left.end(),
                            [&](const Candidate& c) { return c.ms.front() > far_off * least; }),
             left.end());
  for (int round = 1; round < rounds; ++round) {
    for (Candidate& c : left) {
      if (const auto ms = trial.run(c.algorithm)) c.ms.push_back(*ms);
    }
  }
  const auto median = [](Candidate& c) {
    const auto middle = c.ms.begin() + static_cast<std::ptrdiff_t>(c.ms.size() / 2);
    std::nth_element(c.ms.begin(), middle, c.ms.end());
    return *middle;
  };
  std::size_t winner = 0;
  for (std::size_t i = 1; i < left.size(); ++i) {
    if (median(left[i]) < median(left[winner])) winner = i;
  }
  return left[winner].algorithm;
}

/// The product by its fastest algorithm. The workspace is ours, so that a captured graph finds it
/// again.
class Multiplier {
 public:
  Multiplier(const Problem& p, const Device& device)
      : product_(p),
        workspace_(workspace_bytes),
        algorithm_(fastest(product_, device, workspace_.data())) {}
  void run(Stream stream) const {
    check_status(product_.run(algorithm_, workspace_.data(), stream), "cublasLtMatmul");
  }

 private:
  Product product_;
  DeviceArray<unsigned char> workspace_;
  Product::Algorithm algorithm_;
};

ConfigOf<Problem> matmul() {
  ConfigOf<Problem> config;
  config.info = {
      "fastest-of-heuristics",
      {{"workspace_bytes", static_cast<std::int64_t>(workspace_bytes)}, {"candidates", candidates}},
      {}};
  config.prepare = [](const Problem& p, const Device& d) -> Launch {
    const auto multiplier = std::make_shared<const Multiplier>(p, d);
    return [multiplier](Stream stream) { multiplier->run(stream); };
  };
  config.unsupported = [](const Problem& p, const Device&) -> std::optional<std::string> {
    if (!library().loaded()) return library().reason();
    if (!Product(p).algorithms().empty()) return std::nullopt;
    return std::string("cuBLASLt has no algorithm for this shape in ") + name_of(p.mode) +
           (p.mode == Mode::e4m3 ? ": its 8-bit algorithms want multiples of 16" : "");
  };
  return config;
}

const bool registered = register_comparator<Problem>("gemm", "cublaslt", {matmul()});

}  // namespace
}  // namespace amasia::gemm
