// A linear layer y = x w^T through cuBLASLt in fp32, tf32, fp16, bf16 or FP8. FP8: x and w are
// bf16, quantised to e4m3 with one scale each, multiplied into bf16.
#pragma once

#include "microbench/library/cublaslt.cuh"
#include "microbench/library/operators.cuh"

namespace amasia::library {

/// f(In{}, Out{}) with the types of the operands and of the result.
template <class F>
auto with_types(Type type, F f) {
  switch (type) {
    case Type::fp32:
    case Type::tf32:
      return f(float{}, float{});
    case Type::fp16:
      return f(__half{}, __half{});
    case Type::bf16:
      return f(__nv_bfloat16{}, __nv_bfloat16{});
    default:
      return f(__nv_fp8_e4m3{}, __nv_bfloat16{});
  }
}

class Linear {
 public:
  static std::size_t bytes(Type type, const Shape& s) {
    const std::size_t e = element_bytes(type);
    std::size_t sum = workspace_bytes;
    for (const std::int64_t n : {s.x(), s.w(), s.y()}) {
      sum += Arena::rounded(static_cast<std::size_t>(n) * e);
    }
    for (const std::int64_t n : {s.x(), s.w()}) {
      if (type == Type::fp8) sum += Arena::rounded(static_cast<std::size_t>(n));
    }
    return sum + 512;
  }

  Linear(Type type, const Shape& shape, const Device& device, Stream stream, Arena& arena)
      : type_(type), shape_(shape), blocks_(static_cast<unsigned>(8 * device.sm_count)) {
    const std::size_t e = element_bytes(type);
    x_ = arena.take(static_cast<std::size_t>(shape.x()) * e);
    w_ = arena.take(static_cast<std::size_t>(shape.w()) * e);
    y_ = arena.take(static_cast<std::size_t>(shape.y()) * e);
    workspace_ = arena.take(workspace_bytes);
    scales_ = arena.take<float>(256);
    wrong_ = arena.take<unsigned>(256);
    if (type == Type::fp8) {
      x8_ = arena.take(static_cast<std::size_t>(shape.x()));
      w8_ = arena.take(static_cast<std::size_t>(shape.w()));
    }
    fill(stream);
    plan();
    AMASIA_CUDA(cudaMemsetAsync(scales_, 0, 256, stream));
    if (type == Type::fp8) {
      find_largest(stream);
      quantise_x(stream);
      quantise_w(stream);
    }
  }
  ~Linear() {
    cublaslt().function<decltype(cublasLtMatmulDescDestroy)>("cublasLtMatmulDescDestroy")(what_);
    for (const cublasLtMatrixLayout_t layout : {lw_, lx_, ly_}) {
      cublaslt().function<decltype(cublasLtMatrixLayoutDestroy)>("cublasLtMatrixLayoutDestroy")(
          layout);
    }
    cublaslt().function<decltype(cublasLtDestroy)>("cublasLtDestroy")(handle_);
  }
  Linear(const Linear&) = delete;
  Linear& operator=(const Linear&) = delete;

  void find_largest(Stream s) const {
    largest(x_, shape_.x(), 0, s);
    largest(w_, shape_.w(), 1, s);
  }
  void quantise_x(Stream s) const { quantised(x_, shape_.x(), 0, x8_, s); }
  void quantise_w(Stream s) const { quantised(w_, shape_.w(), 1, w8_, s); }
  void multiply(Stream s) const {
    const float one = 1, zero = 0;
    const bool fp8 = type_ == Type::fp8;
    AMASIA_LT(cublasLtMatmul, handle_, what_, &one, fp8 ? w8_ : w_, lw_, fp8 ? x8_ : x_, lx_, &zero,
              y_, ly_, y_, ly_, &algorithm_, workspace_, workspace_bytes, s);
  }

  /// Multiplies into a poisoned y and holds samples of it, and all that is quantised, against the
  /// reference. Throws when something is wrong.
  void verify(Stream stream) const {
    AMASIA_CUDA(cudaMemsetAsync(wrong_, 0, 4, stream));
    AMASIA_CUDA(cudaMemsetAsync(
        y_, 0xFF, static_cast<std::size_t>(shape_.y()) * element_bytes(type_), stream));
    multiply(stream);
    const bool fp8 = type_ == Type::fp8;
    with_types(type_, [&](auto in, auto out) {
      check<decltype(in), decltype(out)>(fp8 ? x8_ : x_, fp8 ? w8_ : w_, stream);
    });
    if (fp8) {
      check_quantised<operator_threads><<<blocks_, operator_threads, 0, stream>>>(
          static_cast<const __nv_bfloat16*>(w_), static_cast<const __nv_fp8_e4m3*>(w8_), shape_.w(),
          scales_ + undo_at(1), wrong_);
    }
    finish(stream);
    unsigned wrong = 0;
    AMASIA_CUDA(cudaMemcpy(&wrong, wrong_, sizeof wrong, cudaMemcpyDeviceToHost));
    if (wrong > 0) {
      throw std::runtime_error(std::to_string(wrong) + " elements are not those of the reference");
    }
  }

  /// The kernel of the proof: cuBLASLt's own are not in this program.
  static const void* reference(Type type) {
    return with_types(type, [](auto in, auto out) {
      return reinterpret_cast<const void*>(check_products<decltype(in), decltype(out)>);
    });
  }

 private:
  template <class In, class Out>
  void check(const void* x, const void* w, Stream stream) const {
    constexpr unsigned samples = 2048;
    // By type. Of tf32 both operands may be cut off behind ten bits.
    constexpr Bound bounds[] = {
        {0, 1e-5F}, {0, 2e-3F}, {4e-3F, 2e-5F}, {8e-3F, 2e-5F}, {8e-3F, 2e-3F}};
    const Bound bound = bounds[static_cast<int>(type_)];
    check_products<In, Out><<<samples * 32 / operator_threads, operator_threads, 0, stream>>>(
        static_cast<const In*>(x), static_cast<const In*>(w), static_cast<const Out*>(y_),
        shape_.tokens, shape_.out, shape_.in, shape_.batch,
        type_ == Type::fp8 ? scales_ + undo_at(0) : nullptr, scales_ + undo_at(1), bound, wrong_);
  }

  void fill(Stream s) const {
    with_types(type_, [&](auto, auto out) {
      using T = decltype(out);
      fill_random<<<blocks_, operator_threads, 0, s>>>(static_cast<T*>(x_), shape_.x(), 0x1234567U);
      fill_random<<<blocks_, operator_threads, 0, s>>>(static_cast<T*>(w_), shape_.w(), 0x7654321U);
    });
    AMASIA_CUDA(cudaGetLastError());
  }

  // scales_: bits of the largest x and w, then what undoes their scales.
  void largest(const void* in, std::int64_t n, int which, Stream s) const {
    AMASIA_CUDA(cudaMemsetAsync(scales_ + which, 0, sizeof(float), s));
    library::find_largest<operator_threads><<<blocks_, operator_threads, 0, s>>>(
        static_cast<const uint4*>(in), n / 8, reinterpret_cast<unsigned*>(scales_ + which));
    AMASIA_CUDA(cudaGetLastError());
  }
  void quantised(const void* in, std::int64_t n, int which, void* out, Stream s) const {
    quantise<operator_threads><<<blocks_, operator_threads, 0, s>>>(
        static_cast<const uint4*>(in), n / 8, reinterpret_cast<const unsigned*>(scales_ + which),
        static_cast<uint2*>(out), scales_ + undo_at(which));
    AMASIA_CUDA(cudaGetLastError());
  }

  /// Row-major y = x w^T is column-major y^T = w x^T: w is (in, out) transposed, x (in, tokens).
  void plan() {
    constexpr cudaDataType_t data[] = {CUDA_R_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF,
                                       CUDA_R_8F_E4M3};
    const cudaDataType_t in = data[static_cast<int>(type_)];
    const cudaDataType_t out = type_ == Type::fp8 ? CUDA_R_16BF : in;
    AMASIA_LT(cublasLtCreate, &handle_);
    AMASIA_LT(cublasLtMatmulDescCreate, &what_,
              type_ == Type::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F);
    const cublasOperation_t transposed = CUBLAS_OP_T;
    AMASIA_LT(cublasLtMatmulDescSetAttribute, what_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
              sizeof transposed);
    if (type_ == Type::fp8) {
      const float* const undo_x = scales_ + undo_at(0);
      const float* const undo_w = scales_ + undo_at(1);
      AMASIA_LT(cublasLtMatmulDescSetAttribute, what_, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
                &undo_w, sizeof undo_w);
      AMASIA_LT(cublasLtMatmulDescSetAttribute, what_, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
                &undo_x, sizeof undo_x);
    }
    lw_ = layout(in, shape_.in, shape_.out);
    lx_ = layout(in, shape_.in, shape_.tokens);
    ly_ = layout(out, shape_.out, shape_.tokens);
    cublasLtMatmulPreference_t preference = nullptr;
    AMASIA_LT(cublasLtMatmulPreferenceCreate, &preference);
    AMASIA_LT(cublasLtMatmulPreferenceSetAttribute, preference,
              CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes, sizeof workspace_bytes);
    cublasLtMatmulHeuristicResult_t result{};
    int found = 0;
    AMASIA_LT(cublasLtMatmulAlgoGetHeuristic, handle_, what_, lw_, lx_, ly_, ly_, preference, 1,
              &result, &found);
    AMASIA_LT(cublasLtMatmulPreferenceDestroy, preference);
    if (found == 0) throw std::runtime_error("cuBLASLt has no algorithm for this product");
    algorithm_ = result.algo;
  }

  cublasLtMatrixLayout_t layout(cudaDataType_t type, std::int64_t rows,
                                std::int64_t columns) const {
    cublasLtMatrixLayout_t made = nullptr;
    AMASIA_LT(cublasLtMatrixLayoutCreate, &made, type, static_cast<std::uint64_t>(rows),
              static_cast<std::uint64_t>(columns), rows);
    if (shape_.batch > 1) {
      const std::int64_t stride = rows * columns;
      AMASIA_LT(cublasLtMatrixLayoutSetAttribute, made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                &shape_.batch, sizeof shape_.batch);
      AMASIA_LT(cublasLtMatrixLayoutSetAttribute, made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                &stride, sizeof stride);
    }
    return made;
  }

  /// Where the factor that undoes the scaling of x (0) or w (1) is: on 16 bytes, which cuBLASLt
  /// asks for, behind the two largest magnitudes.
  static constexpr int undo_at(int which) { return 4 * (1 + which); }

  Type type_;
  Shape shape_;
  unsigned blocks_;
  void *x_ = nullptr, *w_ = nullptr, *y_ = nullptr, *x8_ = nullptr, *w8_ = nullptr;
  void* workspace_ = nullptr;
  float* scales_ = nullptr;
  unsigned* wrong_ = nullptr;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t what_ = nullptr;
  cublasLtMatrixLayout_t lw_ = nullptr, lx_ = nullptr, ly_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
};

/// What every point of a library has in common.
inline Point library_point(Coordinates at, const char* quantity, const char* unit, Type type) {
  Point p = new_point(std::move(at), quantity, unit);
  p.runs_from = capability_of(type);
  if (!cublaslt().loaded()) p.unsupported = cublaslt().reason();
  p.remark =
      "the proof is of the reference that samples are held against: the products are cuBLASLt's";
  p.kernels = {{Linear::reference(type), operator_threads}};
  p.claims = {{"FFMA", "fma", 2}};
  return p;
}

}  // namespace amasia::library
