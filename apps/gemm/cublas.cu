// gemm/cublas: the bar. cuBLAS is column-major: what is our C = A B row by row is its C^T = B^T
// A^T, so the operands change places. fp32 is asked for strictly (no tf32 behind its back). The
// workspace is ours, so that a captured graph finds it again.
#include <cublas_v2.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "apps/gemm/gemm.hpp"
#include "harness/variant.hpp"
#include "variants/device/cuda.hpp"
#include "variants/device/library.hpp"

namespace amasia::gemm {
namespace {

const Library& library() {
  static const Library found{"libcublas.so.13", "libcublas.so.12"};
  return found;
}

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(call) + " failed with status " + std::to_string(status));
}

// Written out, because the header overloads the name in C++.
using GemmEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                              const void*, const void*, cudaDataType, int, const void*,
                              cudaDataType, int, const void*, void*, cudaDataType, int,
                              cublasComputeType_t, cublasGemmAlgo_t);

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;  // what NVIDIA advises for Hopper

class Multiplier {
 public:
  explicit Multiplier(const Problem& p)
      : problem_(p),
        multiply_(library().function<GemmEx>("cublasGemmEx")),
        set_stream_(library().function<decltype(cublasSetStream_v2)>("cublasSetStream_v2")),
        set_workspace_(
            library().function<decltype(cublasSetWorkspace_v2)>("cublasSetWorkspace_v2")),
        workspace_(workspace_bytes) {
    check(library().function<decltype(cublasCreate_v2)>("cublasCreate_v2")(&handle_),
          "cublasCreate");
  }
  ~Multiplier() { library().function<decltype(cublasDestroy_v2)>("cublasDestroy_v2")(handle_); }
  Multiplier(const Multiplier&) = delete;
  Multiplier& operator=(const Multiplier&) = delete;

  void run(Stream stream) const {
    check(set_stream_(handle_, stream), "cublasSetStream");  // gives the workspace back
    check(set_workspace_(handle_, workspace_.data(), workspace_bytes), "cublasSetWorkspace");
    const bool half = problem_.mode == Mode::bf16;
    const auto type = half ? CUDA_R_16BF : CUDA_R_32F;
    const auto compute = problem_.mode == Mode::tf32   ? CUBLAS_COMPUTE_32F_FAST_TF32
                         : problem_.mode == Mode::fp32 ? CUBLAS_COMPUTE_32F_PEDANTIC
                                                       : CUBLAS_COMPUTE_32F;
    const int size = element_bytes(problem_.mode);
    const float zero = 0;
    const auto b_as_stored = problem_.layout == Layout::tn ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(
        multiply_(handle_, b_as_stored, CUBLAS_OP_N, static_cast<int>(problem_.n),
                  static_cast<int>(problem_.m), static_cast<int>(problem_.k), &problem_.alpha,
                  problem_.b.data, type, static_cast<int>(problem_.b.pitch / size), problem_.a.data,
                  type, static_cast<int>(problem_.a.pitch / size), &zero, problem_.c.data,
                  CUDA_R_32F, static_cast<int>(problem_.c.pitch), compute, CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
  }

 private:
  Problem problem_;
  GemmEx* multiply_;
  decltype(cublasSetStream_v2)* set_stream_;
  decltype(cublasSetWorkspace_v2)* set_workspace_;
  cublasHandle_t handle_ = nullptr;
  DeviceArray<unsigned char> workspace_;
};

ConfigOf<Problem> gemm_ex() {
  ConfigOf<Problem> config;
  config.info = {"gemm-ex", {{"workspace_bytes", static_cast<std::int64_t>(workspace_bytes)}}, {}};
  config.prepare = [](const Problem& p, const Device&) -> Launch {
    const auto multiplier = std::make_shared<const Multiplier>(p);
    return [multiplier](Stream stream) { multiplier->run(stream); };
  };
  config.unsupported = [](const Problem& p, const Device&) -> std::optional<std::string> {
    if (p.mode == Mode::e4m3) return "cublasGemmEx has no 8-bit floating point; gemm/cublaslt does";
    if (library().loaded()) return std::nullopt;
    return library().reason();
  };
  return config;
}

const bool registered = register_comparator<Problem>("gemm", "cublas", {gemm_ex()});

}  // namespace
}  // namespace amasia::gemm
