// What variants/ptx/shared_memory.cuh has, for device code on the CPU: addresses count from the
// block's shared memory.
#pragma once

#include <cstring>

#include "tests/emulated/block.hpp"

namespace amasia::async {

inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(static_cast<const unsigned char*>(p) - emulated::shared);
}
inline float4 load_float4(unsigned address) {
  float4 v;
  std::memcpy(&v, emulated::shared + address, sizeof v);
  return v;
}
inline void store_float4(unsigned address, float4 v) {
  std::memcpy(emulated::shared + address, &v, sizeof v);
}

}  // namespace amasia::async
