// Values of which the compiler knows nothing. It costs no instruction.
#pragma once

namespace amasia {

/// The same value, in a register: the compiler neither works it out anew where it is used, nor
/// concludes from it. Integers and pointers of 4 or 8 bytes.
template <class Value>
__device__ __forceinline__ Value opaque(Value value) {
  static_assert(sizeof(Value) == 4 || sizeof(Value) == 8);
  if constexpr (sizeof(Value) == 8) {
    asm volatile("" : "+l"(value));
  } else {
    asm volatile("" : "+r"(value));
  }
  return value;
}

}  // namespace amasia
