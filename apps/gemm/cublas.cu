// gemm/cublas: the bar. cuBLAS is column-major. What is our C = A B row by row is its C^T = B^T
// A^T, so the operands change places. Modes fp32 and tf32x3, whose inputs and accuracy are fp32's,
// ask for it strictly (no tf32 behind its back). In tf32x3 a second config asks for the library's
// own fp32 on tensor cores: three bf16 values an element, nine products. The workspace is this
// file's, so that a captured graph finds it again.
#include <cublas_v2.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/common/vendor_library.hpp"
#include "apps/gemm/gemm.hpp"
#include "harness/variant.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::gemm {
namespace {

const Library& library() {
  static const Library found{"libcublas.so.13", "libcublas.so.12"};
  return found;
}

// Written out, because the header overloads the name in C++.
using GemmEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                              const void*, const void*, cudaDataType, int, const void*,
                              cudaDataType, int, const void*, void*, cudaDataType, int,
                              cublasComputeType_t, cublasGemmAlgo_t);

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;  // what NVIDIA advises for Hopper

class Multiplier {
 public:
  Multiplier(const Problem& p, cublasComputeType_t compute)
      : problem_(p),
        compute_(compute),
        multiply_(library().function<GemmEx>("cublasGemmEx")),
        set_stream_(AMASIA_LIBRARY_FUNCTION(library(), cublasSetStream_v2)),
        set_workspace_(AMASIA_LIBRARY_FUNCTION(library(), cublasSetWorkspace_v2)),
        workspace_(workspace_bytes) {
    AMASIA_LIBRARY_CALL(library(), cublasCreate_v2, &handle_);
  }
  ~Multiplier() { AMASIA_LIBRARY_FUNCTION(library(), cublasDestroy_v2)(handle_); }
  Multiplier(const Multiplier&) = delete;
  Multiplier& operator=(const Multiplier&) = delete;

  void run(Stream stream) const {
    check_status(set_stream_(handle_, stream), "cublasSetStream");  // gives the workspace back
    check_status(set_workspace_(handle_, workspace_.data(), workspace_bytes), "cublasSetWorkspace");
    const bool half = problem_.mode == Mode::bf16;
    const auto type = half ? CUDA_R_16BF : CUDA_R_32F;
    const int size = element_bytes(problem_.mode);
    const float zero = 0;
    const auto b_as_stored = problem_.layout == Layout::tn ? CUBLAS_OP_T : CUBLAS_OP_N;
    check_status(
        multiply_(handle_, b_as_stored, CUBLAS_OP_N, static_cast<int>(problem_.n),
                  static_cast<int>(problem_.m), static_cast<int>(problem_.k), &problem_.alpha,
                  problem_.b.data, type, static_cast<int>(problem_.b.pitch / size), problem_.a.data,
                  type, static_cast<int>(problem_.a.pitch / size), &zero, problem_.c.data,
                  CUDA_R_32F, static_cast<int>(problem_.c.pitch), compute_, CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
  }

 private:
  Problem problem_;
  cublasComputeType_t compute_;
  GemmEx* multiply_;
  decltype(cublasSetStream_v2)* set_stream_;
  decltype(cublasSetWorkspace_v2)* set_workspace_;
  cublasHandle_t handle_ = nullptr;
  DeviceArray<unsigned char> workspace_;
};

cublasComputeType_t arithmetic_of(Mode mode) {
  if (mode == Mode::tf32) return CUBLAS_COMPUTE_32F_FAST_TF32;
  return mode == Mode::bf16 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_PEDANTIC;
}

ConfigInfo info_of(const char* name) {
  return {name, {{"workspace_bytes", static_cast<std::int64_t>(workspace_bytes)}}, {}};
}

Launch prepare(const Problem& p, cublasComputeType_t compute) {
  const auto multiplier = std::make_shared<const Multiplier>(p, compute);
  return [multiplier](Stream stream) { multiplier->run(stream); };
}

ConfigOf<Problem> gemm_ex() {
  ConfigOf<Problem> config;
  config.info = info_of("gemm-ex");
  config.prepare = [](const Problem& p, const Device&) -> Launch {
    return prepare(p, arithmetic_of(p.mode));
  };
  config.unsupported = [](const Problem& p, const Device&) -> std::optional<std::string> {
    if (p.mode == Mode::e4m3) return "cublasGemmEx has no 8-bit floating point; gemm/cublaslt does";
    return objection_of(library());
  };
  return config;
}

#if CUBLAS_VERSION >= 120900
constexpr cublasComputeType_t emulated = CUBLAS_COMPUTE_32F_EMULATED_16BFX9;

/// Why the library does not emulate fp32 on this device: its answer to a small product. Asked once.
const std::optional<std::string>& emulation_objection() {
  static const std::optional<std::string> objection = []() -> std::optional<std::string> {
    constexpr std::int64_t n = 64, elements = n * n;
    const DeviceArray<float> x(3 * elements);
    AMASIA_CUDA(cudaMemset(x.data(), 0, x.bytes()));
    const auto bytes = [&](int i) {
      return Operand{reinterpret_cast<const unsigned char*>(x.data() + i * elements), n, 4 * n,
                     4 * n};
    };
    Problem p;
    p.mode = Mode::tf32x3;
    p.m = p.n = p.k = n;
    p.a = bytes(0), p.b = bytes(1);
    p.c = {x.data() + 2 * elements, n, n, n};
    try {
      const OwnedStream stream;
      Multiplier(p, emulated).run(stream);
      AMASIA_CUDA(cudaStreamSynchronize(stream));
      return std::nullopt;
    } catch (const std::runtime_error& refused) {
      return std::string("this cuBLAS emulates no fp32 on this device: ") + refused.what();
    }
  }();
  return objection;
}

ConfigOf<Problem> emulated_gemm_ex() {
  ConfigOf<Problem> config;
  config.info = info_of("gemm-ex-emulated");
  config.prepare = [](const Problem& p, const Device&) -> Launch { return prepare(p, emulated); };
  config.unsupported = [](const Problem& p, const Device&) -> std::optional<std::string> {
    if (p.mode != Mode::tf32x3) return "fp32 by nine products of bf16 serves mode tf32x3 alone";
    if (!library().loaded()) return library().reason();
    return emulation_objection();
  };
  return config;
}

std::vector<ConfigOf<Problem>> configs() { return {gemm_ex(), emulated_gemm_ex()}; }
#else
std::vector<ConfigOf<Problem>> configs() { return {gemm_ex()}; }
#endif

const bool registered = register_comparator<Problem>("gemm", "cublas", configs());

}  // namespace
}  // namespace amasia::gemm
