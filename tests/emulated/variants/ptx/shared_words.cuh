// What variants/ptx/shared_words.cuh has, for device code on the CPU.
#pragma once

#include <cstring>

#include "tests/emulated/block.hpp"

namespace amasia::async {

inline float load_float(unsigned address) {
  float v;
  std::memcpy(&v, emulated::shared + address, sizeof v);
  return v;
}
inline void store_float(unsigned address, float v) {
  std::memcpy(emulated::shared + address, &v, sizeof v);
}

}  // namespace amasia::async
