// The computation of histogram, once for all variants: which counters a word of keys increments,
// and counters in shared memory.
#pragma once

#include "apps/histogram/geometry.hpp"
#include "apps/histogram/histogram.hpp"

namespace amasia::histogram {

/// Keys of 8 bits, four to a word. Their values are counted; the merge sorts values into bins.
struct Bytes {
  static constexpr int per_word = 4;
  template <class Add>
  AMASIA_HD static void visit(std::uint32_t word, const Binning&, Add add) {
    add(word & 255);
    add(word >> 8 & 255);
    add(word >> 16 & 255);
    add(word >> 24);
  }
  AMASIA_HD static std::uint32_t counter_at(const void* keys, std::int64_t i, const Binning&) {
    return static_cast<const std::uint8_t*>(keys)[i];
  }
  /// The bin that a counter's sum belongs to.
  AMASIA_HD static std::uint32_t bin_of_counter(std::uint32_t counter, const Binning& binning) {
    return bin_of(counter, binning);
  }
  /// The first counter of a bin, and with bin = bins + 1 the end of the last.
  AMASIA_HD static std::uint32_t first_counter(std::uint32_t bin, const Binning& binning) {
    return bin > binning.bins ? byte_values : first_key_of(bin, binning);
  }
};

/// Keys of 32 bits. Their bins are counted.
struct Words {
  static constexpr int per_word = 1;
  template <class Add>
  AMASIA_HD static void visit(std::uint32_t word, const Binning& binning, Add add) {
    add(bin_of(word, binning));
  }
  AMASIA_HD static std::uint32_t counter_at(const void* keys, std::int64_t i,
                                            const Binning& binning) {
    return bin_of(static_cast<const std::uint32_t*>(keys)[i], binning);
  }
  AMASIA_HD static std::uint32_t bin_of_counter(std::uint32_t counter, const Binning&) {
    return counter;
  }
  AMASIA_HD static std::uint32_t first_counter(std::uint32_t bin, const Binning&) { return bin; }
};

/// The same for a block that keeps one window of several: what lies outside is another block's.
template <class KEYS>
struct Sliced : KEYS {};
template <class KEYS>
inline constexpr bool is_sliced = false;
template <class KEYS>
inline constexpr bool is_sliced<Sliced<KEYS>> = true;

#ifdef __CUDACC__

/// Adds one to a word of shared memory. Nobody needs the old value, and ptxas has an instruction
/// for that (ATOMS.POPC.INC), which also counts lanes with the same address at once.
__device__ __forceinline__ void increment(unsigned address) {
  asm volatile("red.shared.add.u32 [%0], 1;\n" ::"r"(address) : "memory");
}

/// This lane's copies of the window's counters.
template <class Keys>
struct LaneCounters {
  unsigned base;    // shared address of the lane's copy of the first counter
  unsigned stride;  // bytes from counter to counter
  unsigned first;   // first counter of the window
  unsigned window;
  Binning binning;

  __device__ LaneCounters(unsigned* counters, int log2_copies, int first_counter, int size,
                          const Binning& b)
      : base(static_cast<unsigned>(__cvta_generic_to_shared(counters)) +
             4 * (threadIdx.x & ((1u << log2_copies) - 1))),
        stride(4u << log2_copies),
        first(static_cast<unsigned>(first_counter)),
        window(static_cast<unsigned>(size)),
        binning(b) {}

  __device__ __forceinline__ void add(unsigned counter) const {
    if constexpr (is_sliced<Keys>) {
      // Other blocks' keys go to a word that nobody reads. ptxas makes a branch of a condition
      // around this instruction, which would divide the warp at every key.
      const unsigned i = counter - first;
      increment(base + (i < window ? i : window) * stride);
    } else {
      increment(base + counter * stride);
    }
  }
  __device__ __forceinline__ void add_word(unsigned word) const {
    Keys::visit(word, binning, [this](unsigned counter) { add(counter); });
  }
  __device__ __forceinline__ void add_chunk(uint4 words) const {
    add_word(words.x);
    add_word(words.y);
    add_word(words.z);
    add_word(words.w);
  }
};

/// The sum of a counter's copies.
__device__ inline unsigned sum_of_copies(const unsigned* counters, int i, int log2_copies) {
  unsigned sum = 0;
  for (int step = 0; step < 1 << log2_copies; ++step) {
    sum += counters[(i << log2_copies) + copy_to_read(i, step, log2_copies)];
  }
  return sum;
}

#endif

}  // namespace amasia::histogram
