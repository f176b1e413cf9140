// What variants/ptx/shared_memory.cuh has, for device code on the CPU: addresses count from the
// block's shared memory.
#pragma once

#include "tests/emulated/block.hpp"

namespace amasia::async {

inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(static_cast<const unsigned char*>(p) - emulated::shared);
}
inline float4 load_float4(unsigned address) { return emulated::load<float4>(address); }
inline void store_float4(unsigned address, float4 v) { emulated::store(address, v); }
inline float load_float(unsigned address) { return emulated::load<float>(address); }
inline void store_float(unsigned address, float v) { emulated::store(address, v); }

}  // namespace amasia::async
