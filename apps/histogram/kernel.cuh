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

/// The same for a block that keeps one range of several: what lies outside is another block's.
template <class KEYS>
struct Sliced : KEYS {};
template <class KEYS>
inline constexpr bool is_sliced = false;
template <class KEYS>
inline constexpr bool is_sliced<Sliced<KEYS>> = true;

#ifdef __CUDACC__

/// The block's dynamic shared memory, as what it begins with.
template <class T>
__device__ T* block_memory() {
  extern __shared__ __align__(128) unsigned char memory[];
  return reinterpret_cast<T*>(memory);
}

/// Adds one to a word of shared memory. Nobody needs the old value, and ptxas has an instruction
/// for that (ATOMS.POPC.INC), which also counts lanes with the same address at once.
__device__ __forceinline__ void increment(unsigned address) {
  asm volatile("red.shared.add.u32 [%0], 1;\n" ::"r"(address) : "memory");
}

/// Adds to a word of shared memory.
__device__ __forceinline__ void add_unseen(unsigned address, unsigned value) {
  asm volatile("red.shared.add.u32 [%0], %1;\n" ::"r"(address), "r"(value) : "memory");
}

/// Adds to a word of shared memory and returns what it held.
__device__ __forceinline__ unsigned fetch_and_add(unsigned address, unsigned value) {
  unsigned old = 0;
  asm volatile("atom.shared.add.u32 %0, [%1], %2;\n"
               : "=r"(old)
               : "r"(address), "r"(value)
               : "memory");
  return old;
}

/// Calls add(counter) for each key of a chunk.
template <class Keys, class Add>
__device__ __forceinline__ void visit_chunk(uint4 words, const Binning& binning, Add add) {
  Keys::visit(words.x, binning, add);
  Keys::visit(words.y, binning, add);
  Keys::visit(words.z, binning, add);
  Keys::visit(words.w, binning, add);
}

/// This lane's copies of all counters.
template <class Keys>
struct LaneCounters {
  unsigned base;    // shared address of the lane's copy of the first counter
  unsigned stride;  // bytes from counter to counter
  Binning binning;

  __device__ LaneCounters(unsigned* counters, int log2_copies, const Binning& b)
      : base(static_cast<unsigned>(__cvta_generic_to_shared(counters)) +
             4 * (threadIdx.x & ((1u << log2_copies) - 1))),
        stride(4u << log2_copies),
        binning(b) {}

  __device__ __forceinline__ void add(unsigned counter) const {
    increment(base + counter * stride);
  }
  __device__ __forceinline__ void add_word(unsigned word) const {
    Keys::visit(word, binning, [this](unsigned counter) { add(counter); });
  }
  __device__ __forceinline__ void add_chunk(uint4 words) const {
    visit_chunk<Keys>(words, binning, [this](unsigned counter) { add(counter); });
  }
};

/// Counters of 16 bits, two to a word, of one window. A half that passes 2^15 gives 2^15 to the
/// result at once, by the thread that made it pass (passed_half() in geometry.hpp). Unlike
/// increment() this asks for the old value, and lanes with the same word queue up; so a warp whose
/// keys all have one bin adds them once. SLICED: there are other windows, and other blocks count
/// what lies there.
template <bool SLICED>
struct PackedCounters {
  unsigned base;  // shared address of the window
  unsigned first, window;
  Binning binning;
  unsigned* counts;  // the result

  __device__ __forceinline__ static unsigned shift(unsigned i) { return (i & 1) * 16; }
  __device__ __forceinline__ unsigned address(unsigned i) const { return base + (i >> 1) * 4; }
  /// A counter's place in the window.
  __device__ __forceinline__ unsigned place(unsigned counter) const {
    return SLICED ? counter - first : counter;
  }
  __device__ void give(unsigned counter) const {
    const unsigned i = place(counter);
    fetch_and_add(address(i), 0u - (static_cast<unsigned>(packed_limit) << shift(i)));
    atomicAdd(counts + counter, static_cast<unsigned>(packed_limit));
  }
  __device__ __forceinline__ void add_many(unsigned counter, unsigned keys) const {
    const unsigned i = place(counter);
    if (SLICED && i >= window) return;
    const unsigned unit = keys << shift(i);
    if (passed_half(fetch_and_add(address(i), unit), unit) != 0) give(counter);
  }
  __device__ __forceinline__ void add(unsigned counter) const { add_many(counter, 1); }

  __device__ __forceinline__ void add_chunk(uint4 words) const {
    const unsigned counter[4] = {bin_of(words.x, binning), bin_of(words.y, binning),
                                 bin_of(words.z, binning), bin_of(words.w, binning)};
    const unsigned one = __shfl_sync(0xffffffffu, counter[0], 0);
    const bool same =
        counter[0] == one && counter[1] == one && counter[2] == one && counter[3] == one;
    if (__all_sync(0xffffffffu, same)) {
      if (threadIdx.x % 32 == 0) add_many(one, 4 * 32);
      __syncwarp();
      return;
    }
    unsigned passed[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      unsigned i = place(counter[k]), unit = 1u << shift(i);
      if (SLICED && i >= window) {
        // Other blocks' keys add nothing to a word of the lane's own. ptxas makes a branch of a
        // condition around this instruction, which would divide the warp at every key.
        i = 2 * (threadIdx.x % 32);
        unit = 0;
      }
      passed[k] = passed_half(fetch_and_add(address(i), unit), unit);
    }
    if ((passed[0] | passed[1] | passed[2] | passed[3]) != 0) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (passed[k] != 0) give(counter[k]);
      }
    }
    __syncwarp();
  }
};

/// No counters in shared memory, an addition in L2 per key. Where a warp's keys are all in one bin,
/// one lane adds for all: without it, equal keys would queue up at one word of L2.
template <class Keys>
struct GlobalCounters {
  Binning binning;
  unsigned* counts;

  __device__ void add(unsigned counter) const {
    const unsigned bin = Keys::bin_of_counter(counter, binning);
    const unsigned all = __activemask();
    const unsigned leader = __ffs(all) - 1;
    const bool agreed = __all_sync(all, bin == __shfl_sync(all, bin, leader));
    if (!agreed) {
      atomicAdd(counts + bin, 1u);
    } else if (threadIdx.x % 32 == leader) {
      atomicAdd(counts + bin, static_cast<unsigned>(__popc(all)));
    }
  }
  __device__ __forceinline__ void add_chunk(uint4 words) const {
    visit_chunk<Keys>(words, binning, [this](unsigned counter) { add(counter); });
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
