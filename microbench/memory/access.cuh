// One load of memory/bandwidth, by level and width, and what is done with the value.
#pragma once

#include <type_traits>

#include "microbench/walks.cuh"

namespace amasia::memory {

enum class Space { l1, shared, l2 };
enum class Fold { bits, add };

struct Fp32 {
  using Value = float;
  static constexpr const char* name = "fp32";
  static constexpr int bytes = 4;
};
struct Fp64 {
  using Value = double;
  static constexpr const char* name = "fp64";
  static constexpr int bytes = 8;
};
struct Fp32x4 {
  using Value = float4;
  static constexpr const char* name = "fp32.v4";
  static constexpr int bytes = 16;
};

template <Space SPACE>
__device__ void read(float& v, const void* p, unsigned s) {
  if constexpr (SPACE == Space::l1) {
    asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(v) : "l"(p));
  } else if constexpr (SPACE == Space::l2) {
    asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(p));
  } else {
    asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(v) : "r"(s));
  }
}
template <Space SPACE>
__device__ void read(double& v, const void* p, unsigned s) {
  if constexpr (SPACE == Space::l1) {
    asm volatile("ld.global.ca.f64 %0, [%1];" : "=d"(v) : "l"(p));
  } else if constexpr (SPACE == Space::l2) {
    asm volatile("ld.global.cg.f64 %0, [%1];" : "=d"(v) : "l"(p));
  } else {
    asm volatile("ld.volatile.shared.f64 %0, [%1];" : "=d"(v) : "r"(s));
  }
}
template <Space SPACE>
__device__ void read(float4& v, const void* p, unsigned s) {
  if constexpr (SPACE == Space::l1) {
    asm volatile("ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(p));
  } else if constexpr (SPACE == Space::l2) {
    asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(p));
  } else {
    asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(s));
  }
}

/// What was read, folded into bits at one instruction per word or two: never what limits.
__device__ inline unsigned bits_of(float v) { return __float_as_uint(v); }
__device__ inline unsigned bits_of(double v) {
  return static_cast<unsigned>(__double2loint(v) ^ __double2hiint(v));
}
__device__ inline unsigned bits_of(const float4& v) {
  return bits_of(v.x) ^ bits_of(v.y) ^ bits_of(v.z) ^ bits_of(v.w);
}

__device__ inline void add(float& sum, float v) { sum += v; }
__device__ inline void add(double& sum, double v) { sum += v; }
__device__ inline void add(float& sum, const float4& v) { sum += (v.x + v.y) + (v.z + v.w); }
template <class Value>
using Sum = std::conditional_t<std::is_same_v<Value, double>, double, float>;

}  // namespace amasia::memory
