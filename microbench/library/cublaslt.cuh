// cuBLASLt, loaded at run time; and the types, shapes, memory and clock of what is asked of it.
#pragma once

#include <cublasLt.h>

#include "microbench/walks.cuh"
#include "variants/device/library.hpp"

namespace amasia::library {

/// tf32: fp32 in memory, multiplied by the tensor cores with ten bits behind the leading one.
enum class Type { fp32, tf32, fp16, bf16, fp8 };
constexpr Type all_types[] = {Type::fp32, Type::tf32, Type::fp16, Type::bf16, Type::fp8};
inline const char* name_of(Type t) {
  constexpr const char* names[] = {"fp32", "tf32", "fp16", "bf16", "fp8"};
  return names[static_cast<int>(t)];
}
/// Bytes of x, w and y; FP8 has a byte more of x and w.
constexpr std::size_t element_bytes(Type t) { return t == Type::fp32 || t == Type::tf32 ? 4 : 2; }
constexpr int capability_of(Type t) {
  constexpr int capabilities[] = {0, 80, 70, 80, 89};
  return capabilities[static_cast<int>(t)];
}

inline const Library& cublaslt() {
  static const Library found{"libcublasLt.so.13", "libcublasLt.so.12"};
  return found;
}

inline void check_lt(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(call) + " failed with status " + std::to_string(status));
}
// A macro, because only a macro can name the function for the loader and for its type alike.
#define AMASIA_LT(name, ...) \
  check_lt(cublaslt().function<decltype(name)>(#name)(__VA_ARGS__), #name)

/// One buffer, handed out piece by piece: all operands of a point.
class Arena {
 public:
  explicit Arena(std::size_t bytes) : next_(reinterpret_cast<std::byte*>(buffer_of(bytes))) {}
  template <class T = void>
  T* take(std::size_t bytes) {
    std::byte* const at = next_;
    next_ += rounded(bytes);
    return reinterpret_cast<T*>(at);
  }
  static std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

 private:
  std::byte* next_;
};

struct Shape {
  std::int64_t tokens = 0, out = 0, in = 0;
  int batch = 1;  // independent products, e.g. heads
  std::int64_t x() const { return batch * tokens * in; }
  std::int64_t w() const { return batch * out * in; }
  std::int64_t y() const { return batch * tokens * out; }
  double operations() const { return 2.0 * batch * static_cast<double>(tokens) * out * in; }
};

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

/// Milliseconds of what `enqueue` puts on the stream.
template <class Enqueue>
double milliseconds(Stream stream, Enqueue enqueue) {
  return amasia::milliseconds(
      stream, [] {}, enqueue);
}

}  // namespace amasia::library
