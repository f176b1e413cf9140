// How the bottom row of a band gets to the band below through global memory. nw/dsm has another way
// (ClusterLink); both offer what walk.cuh asks for:
//
//   begin(band)    before a walk
//   await(), take(row)    wait for the next 16 columns of the row above; put them to `row` in
//   shared
//                         memory and ask for those after them
//   pick(row), give(first)    read 16 columns of the bottom row at `row`; hand them on as columns
//                             first ... first + 15
//
// Two calls each, so that the walk can put what has to wait, and what must not wait for it, apart.
#pragma once

#include "apps/nw/bands.cuh"

namespace amasia::nw {

__device__ inline unsigned long long word_of(unsigned tag, int score) {
  return static_cast<unsigned long long>(tag) << 32 | static_cast<unsigned>(score);
}
/// The same value, in a way that no compiler sees through. What a walk uses in every step it should
/// keep in a register: the machine's compiler would rather work it out anew, from the constant bank
/// or a special register, and wait for that each time.
template <class T>
__device__ T held(T value) {
  return __shfl_sync(0xffffffffu, value, static_cast<int>(threadIdx.x % 32));
}

/// Words of score and run (nw.hpp, Handover), 16 columns at a time, by the first 16 lanes; the
/// others follow. They are asked for four steps before they are wanted, about half of what a word
/// takes from one SM to another (540 to 720 cycles on an H200): asking earlier would only make the
/// lag longer.
///
/// Every lane asks, always, for words that exist: a request under a condition becomes, in machine
/// code, a request and a copy of its answer, and the copy waits.
struct WordLink {
  const BandRun& run;
  const unsigned tag;    // of this run
  const unsigned place;  // of this lane's column among 16, in bytes
  const unsigned pitch;  // columns whose words this lane carries: none from lane 16 on
  const int zero;        // a pitch is a multiple of 32, which no compiler knows
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
        place(held(4 * (threadIdx.x % 16))),
        pitch(held(threadIdx.x % 32 < 16 ? static_cast<unsigned>(r.handover.pitch) : 0)),
        zero(static_cast<int>(r.handover.pitch % 16)) {}

  __device__ void begin(int band) {
    const int column = threadIdx.x % 16;
    from = address_of(band > 0 ? band - 1 : 0, column);
    to = address_of(band, column);
    left = static_cast<int>(run.handover.pitch / 16);
    waits = band > 0 ? ~0u : 0;
    above = border(column + 1, run.penalty);
    above_step = held(16 * run.penalty);
    ask();
  }
  __device__ unsigned long long address_of(std::int64_t band, int column) const {
    return held(reinterpret_cast<unsigned long long>(run.handover.words +
                                                     band * run.handover.pitch + column));
  }
  __device__ void ask() {
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];\n" : "=l"(asked) : "l"(from) : "memory");
  }
  /// `late` is any value that the walk has just worked out. The compiler would move the test, which
  /// waits for the word, to where the word was asked for; it cannot when the tag depends on `late`.
  __device__ void await(int late) {
    const unsigned wanted = tag + static_cast<unsigned>(zero * late);
    while (__any_sync(0xffffffffu, (static_cast<unsigned>(asked >> 32) ^ wanted) & waits)) ask();
  }
  __device__ void take(unsigned row) {
    const int score = waits != 0 ? static_cast<int>(asked) : above;
    asm volatile(
        "{\n"
        ".reg .pred carries;\n"
        "setp.ne.u32 carries, %2, 0;\n"
        "@carries st.shared.s32 [%0], %1;\n"
        "}\n" ::"r"(row + place),
        "r"(score), "r"(pitch)
        : "memory");
    --left;
    from += left > 0 ? 16 * sizeof(unsigned long long) : 0;
    waits = left > 0 ? waits : 0;
    above -= above_step;
    ask();
    __syncwarp();
  }
  __device__ void pick(unsigned row) {
    __syncwarp();
    asm volatile("ld.shared.s32 %0, [%1];\n" : "=r"(picked) : "r"(row + place) : "memory");
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
