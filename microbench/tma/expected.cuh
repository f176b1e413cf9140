// Which copies a point makes, and what they must leave behind.
#pragma once

#include "microbench/tma/rings.cuh"

namespace amasia::tma {

using RingKernel = void (*)(Work, CUtensorMap);

enum class Kind { load, put, multicast, peer };
enum class Level { memory, l2 };

struct Plan {
  const char* operation = "load";
  Kind kind = Kind::load;
  RingKernel kernel = nullptr;
  RingKernel checked = nullptr;  // the same, writing out what arrives; of copies that leave: itself
  int rank = 0;
  unsigned bytes = 1024;
  int in_flight = 1;
  Level level = Level::memory;
  Out out = Out::store;
  int blocks_per_sm = 1;

  bool clustered() const { return kind == Kind::multicast || kind == Kind::peer; }
  std::size_t shared_bytes() const {
    return std::size_t{bytes} * static_cast<unsigned>(in_flight) * (clustered() ? 2 : 1);
  }
  /// Bytes that one copy moves: a multicast arrives twice.
  std::size_t moved() const { return std::size_t{bytes} * (kind == Kind::multicast ? 2 : 1); }
};

template <Between BETWEEN, int RANK>
Plan exchange(unsigned bytes, int in_flight, Level level) {
  constexpr bool peer = BETWEEN == Between::peer;
  return {peer ? "peer" : "multicast",
          peer ? Kind::peer : Kind::multicast,
          exchange_ring<BETWEEN, RANK, false>,
          exchange_ring<BETWEEN, RANK, true>,
          RANK,
          bytes,
          in_flight,
          level};
}

__host__ __device__ inline unsigned array_word(std::size_t i) {
  std::uint64_t h = (i + 1) * 0x9E3779B97F4A7C15ULL;
  return static_cast<unsigned>(h ^ (h >> 29));
}

template <int THREADS>
__global__ void __launch_bounds__(THREADS) fill_words(unsigned* out, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * THREADS;
  for (std::size_t i = blockIdx.x * std::size_t{THREADS} + threadIdx.x; i < count; i += step) {
    out[i] = array_word(i);
  }
}

struct Expected {
  Kind kind;
  Out out;
  unsigned bytes;
  int in_flight;
  unsigned grid;

  /// Word i of what the check looks at.
  __device__ unsigned word(std::size_t i) const {
    const unsigned words = bytes / 4;
    const std::size_t box = i / words;
    const auto k = static_cast<unsigned>(i % words);
    if (kind == Kind::load) return array_word(i);
    if (kind == Kind::put) {  // box b + n grid is the n-th of block b
      const unsigned from = slot_word(0, static_cast<int>(box / grid) % in_flight, k);
      const unsigned at = array_word(i);
      switch (out) {
        case Out::store:
          return from;
        case Out::add:
          return at + from;
        case Out::min:
          return min(at, from);
        case Out::max:
          return max(at, from);
        case Out::bit_and:
          return at & from;
        case Out::bit_or:
          return at | from;
      }
    }
    // (block, slot, half): see exchange_ring.
    const auto half = static_cast<unsigned>(box % 2);
    const int slot = static_cast<int>(box / 2) % in_flight;
    const auto block = static_cast<unsigned>(box / 2 / in_flight);
    if (kind == Kind::peer) return slot_word(static_cast<int>(block % 2 ^ 1U), slot, k);
    const std::size_t loaded = block / 2 * 2 + half + std::size_t{grid} * slot;
    return array_word(loaded * words + k);
  }
  /// Peers fill one half only.
  __device__ bool looked_at(std::size_t i) const {
    return kind != Kind::peer || i / (bytes / 4) % 2 == 0;
  }
};

template <int THREADS>
__global__ void __launch_bounds__(THREADS)
    count_wrong_words(const unsigned* found, std::size_t count, Expected expected,
                      unsigned long long* wrong) {
  const std::size_t step = std::size_t{gridDim.x} * THREADS;
  unsigned long long mine = 0;
  for (std::size_t i = blockIdx.x * std::size_t{THREADS} + threadIdx.x; i < count; i += step) {
    if (expected.looked_at(i) && found[i] != expected.word(i)) ++mine;
  }
  if (mine != 0) atomicAdd(wrong, mine);
}

}  // namespace amasia::tma
