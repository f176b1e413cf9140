// What a thread of `iso` brings itself, one tile after the other: an element of A and one of B.
#pragma once

#include "apps/gemm/original.cuh"

namespace amasia::gemm {
namespace {

/// The thread's elements, from tile to tile. The places move on, as in the CUDA sample: working
/// them out anew for each tile cost baseline 5 to 9 %, and tma, whose places the engine works out,
/// seemed to gain as much more.
struct ElementsOfA {
  const float* next;
  int count;  // the first tiles of the sum have one; none has outside the matrix

  __device__ explicit ElementsOfA(const OwnElements& own)
      : next(&own.a.at(own.row, own.a_column(0))),
        count(own.has_a(0) ? static_cast<int>(ceil_div(own.a.columns - own.a_column(0), side))
                           : 0) {}
  __device__ bool has(int s) const { return s < count; }
  __device__ void move_on() { next += side; }
};

struct ElementsOfB {
  const float* next;
  unsigned pitch;  // of B, in pieces of 16 bytes: one register, not two
  int count;

  __device__ explicit ElementsOfB(const OwnElements& own)
      : next(&own.b.at(own.b_row(0), own.column)),
        pitch(static_cast<unsigned>(own.b.pitch / 4)),
        count(own.has_b(0) ? static_cast<int>(ceil_div(own.b.rows - own.b_row(0), side)) : 0) {}
  __device__ bool has(int s) const { return s < count; }
  __device__ void move_on() { next += std::int64_t{4 * side} * pitch; }
};

struct NextElements {
  ElementsOfA a;
  ElementsOfB b;
  __device__ explicit NextElements(const OwnElements& own) : a(own), b(own) {}
  __device__ void move_on() {
    a.move_on();
    b.move_on();
  }
};

}  // namespace
}  // namespace amasia::gemm
