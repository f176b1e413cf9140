// Every schedule of softmax, once, for all strategies: how many threads a row has. How it travels
// is no part of it.
#pragma once

#include <vector>

#include "harness/app.hpp"
#include "softmax.hpp"

namespace amasia::softmax {

/// A row has THREADS threads, which keep CHUNKS x 4 elements each in registers; longer rows do not
/// fit. BLOCKS blocks per SM stay and take rows at the stride of the grid. dsm distributes the
/// threads of a row over the blocks of a cluster.
template <int THREADS, int CHUNKS, int BLOCKS>
struct Geometry {
  static constexpr int threads = THREADS;
  static constexpr int warps = THREADS / 32;
  static constexpr int chunks = CHUNKS;
  static constexpr int blocks_per_sm = BLOCKS;
  static constexpr int columns = 4 * THREADS * CHUNKS;  // at most
};

// One block of 512 has 128 registers per thread: 32 elements, and as many in flight.
struct Iso : Geometry<512, 8, 1> {
  static constexpr const char* name = "iso";
};
struct Wide : Geometry<1024, 4, 1> {
  static constexpr const char* name = "1024x4";
};
struct Middle : Geometry<256, 4, 4> {
  static constexpr const char* name = "256x4";
};
struct Narrow : Geometry<128, 2, 12> {
  static constexpr const char* name = "128x2";
};

inline std::vector<Schedule> all_schedules() {
  return {
      {Iso::name, "a row has 512 threads with up to 32 elements each; one block per SM"},
      {Wide::name, "a row has 1024 threads with up to 16 elements each; one block per SM"},
      {Middle::name, "a row of up to 4096 has 256 threads; four blocks per SM"},
      {Narrow::name, "a row of up to 1024 has 128 threads; twelve blocks per SM"},
  };
}

}  // namespace amasia::softmax
