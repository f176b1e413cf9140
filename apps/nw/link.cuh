// How the bottom row of a band gets to the band below through global memory. nw/dsm has another way
// (ClusterLink); both offer what walk.cuh asks for:
//
//   begin(band)             before a walk
//   missing(late), await()  are the next 32 columns of the row above not there? wait for them
//   take(row)               put them to `row` in shared memory, ask for those after them
//   pick(row), give(first)  read 32 columns of the bottom row at `row`; hand them on as columns
//                           first ... first + 31
//
// In pieces, so that the walk can put apart what has to wait and what must not wait for it.
#pragma once

#include "apps/nw/bands.cuh"

namespace amasia::nw {

__device__ inline unsigned long long word_of(unsigned tag, int score) {
  return static_cast<unsigned long long>(tag) << 32 | static_cast<unsigned>(score);
}
__device__ inline int load_shared(unsigned address) {
  int value;
  asm volatile("ld.shared.s32 %0, [%1];\n" : "=r"(value) : "r"(address) : "memory");
  return value;
}
__device__ inline void store_shared(unsigned address, int value) {
  asm volatile("st.shared.s32 [%0], %1;\n" ::"r"(address), "r"(value) : "memory");
}

/// The same value, in a way that no compiler sees through. What a walk uses in every step it should
/// keep in a register: the machine's compiler would rather work it out anew, from the constant bank
/// or a special register, and wait for that each time.
template <class T>
__device__ T held(T value) {
  return __shfl_sync(0xffffffffu, value, static_cast<int>(threadIdx.x % 32));
}

/// Words of score and run (nw.hpp, Handover), one of 32 columns per lane. They are asked for a
/// period before they are wanted: a word takes 540 to 720 cycles from one SM to another (H200,
/// nothing else under way), a period some 900, so that a walk need not stand still for the memory's
/// latency.
///
/// Every lane asks, always, for words that exist: a request under a condition becomes, in machine
/// code, a request and a copy of its answer, and the copy waits.
struct WordLink {
  const BandRun& run;
  const unsigned tag;    // of this run
  const unsigned place;  // of this lane's column among 32, in bytes
  const unsigned pitch;
  const int zero;               // a pitch is a multiple of 32, which no compiler knows
  unsigned long long from = 0;  // address of this lane's next word of the band above
  unsigned long long to = 0;    // of its first word of this band
  int left = 0;                 // words to ask for, with this one
  unsigned waits = 0;  // a mask: all or nothing, for the first band and beyond the last word
  int above = 0;       // what the border has instead of that word
  int above_step = 0;
  unsigned long long asked = 0;
  int picked = 0;

  __device__ WordLink(const BandRun& r, unsigned t)
      : run(r),
        tag(held(t)),
        place(held(4 * (threadIdx.x % 32))),
        pitch(held(static_cast<unsigned>(r.handover.pitch))),
        zero(static_cast<int>(r.handover.pitch % 32)) {}

  __device__ void begin(int band) {
    const int column = threadIdx.x % 32;
    from = address_of(band > 0 ? band - 1 : 0, column);
    to = address_of(band, column);
    left = static_cast<int>(pitch / 32);
    waits = band > 0 ? ~0u : 0;
    above = border(column + 1, run.penalty);
    above_step = held(32 * run.penalty);
    ask();
  }
  __device__ unsigned long long address_of(std::int64_t band, int column) const {
    return held(reinterpret_cast<unsigned long long>(run.handover.words +
                                                     band * run.handover.pitch + column));
  }
  __device__ void ask() {
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];\n" : "=l"(asked) : "l"(from) : "memory");
  }
  /// Not zero while a word is missing. `late` is any value that the walk has just worked out: the
  /// compiler would move the test, which waits for the word, up to where the word was asked for; it
  /// cannot when the tag depends on `late`.
  __device__ unsigned missing(int late) const {
    const unsigned wanted = tag + static_cast<unsigned>(zero * late);
    return (static_cast<unsigned>(asked >> 32) ^ wanted) & waits;
  }
  __device__ void await() {
    while (__any_sync(0xffffffffu, missing(0))) ask();
  }
  __device__ void take(unsigned row) {
    store_shared(row + place, waits != 0 ? static_cast<int>(asked) : above);
    --left;
    from += left > 0 ? 32 * sizeof(unsigned long long) : 0;
    waits = left > 0 ? waits : 0;
    above -= above_step;
    ask();
    __syncwarp();
  }
  __device__ void pick(unsigned row) {
    __syncwarp();
    picked = load_shared(row + place);
  }
  /// Columns outside the grid, negative ones too, are nobody's.
  __device__ void give(int first) {
    asm volatile(
        "{\n"
        ".reg .pred inside;\n"
        "setp.lt.u32 inside, %2, %3;\n"
        "@inside st.relaxed.gpu.global.u64 [%0], %1;\n"
        "}\n" ::"l"(to + std::int64_t{8} * first),
        "l"(word_of(tag, picked)), "r"(first), "r"(pitch)
        : "memory");
  }
};

}  // namespace amasia::nw
