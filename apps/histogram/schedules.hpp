// Every schedule of histogram, once, for all strategies: who counts where. How keys travel is no
// part of it (Movement in geometry.hpp).
#pragma once

#include <vector>

#include "harness/app.hpp"

namespace amasia::histogram {

/// Where a block counts.
///   copies   every counter in shared memory, in as many copies as fit, one per lane if 32 do
///   ranges   a range of the counters in shared memory; a group of blocks sees the same keys and
///            has all ranges
///   packed   as ranges, two counters of 16 bits in a word
///   global   in global memory alone
enum class Home { copies, ranges, packed, global };

/// THREADS threads of a block count, BLOCKS blocks share an SM. The grid is as many blocks as that
/// makes on the whole device; they walk the keys tile by tile until none is left, and add what they
/// have counted to the result once.
template <int THREADS, int BLOCKS, Home HOME>
struct Geometry {
  static constexpr int threads = THREADS;
  static constexpr int warps = THREADS / 32;
  static constexpr int blocks_per_sm = BLOCKS;
  static constexpr Home home = HOME;
};

// All the threads an SM has, and half of them, in few or many blocks: few keep more copies of the
// counters, many cover each other's waits. Beside 512 threads there is room for warps that only
// copy.
struct Two1024 : Geometry<1024, 2, Home::copies> {
  static constexpr const char* name = "1024x2";
};
struct One1024 : Geometry<1024, 1, Home::copies> {
  static constexpr const char* name = "1024x1";
};
struct Two512 : Geometry<512, 2, Home::copies> {
  static constexpr const char* name = "512x2";
};
struct Four512 : Geometry<512, 4, Home::copies> {
  static constexpr const char* name = "512x4";
};
// 960 threads leave room for two more warps: dsm's multicast needs both, the others may use them.
struct Ranges : Geometry<960, 1, Home::ranges> {
  static constexpr const char* name = "ranges";
};
struct Packed : Geometry<960, 1, Home::packed> {
  static constexpr const char* name = "packed";
};
struct Global : Geometry<1024, 2, Home::global> {
  static constexpr const char* name = "global";
};

// Three launches (partition.cuh).
struct Partitioned {
  static constexpr const char* name = "partitioned";
};

/// The first is the CUDA sample's (original.cuh).
inline std::vector<Schedule> all_schedules() {
  return {
      {"iso",
       "240 blocks of six warps, a sub-histogram per warp; a second launch adds up the 240 "
       "results"},
      {Two1024::name, "two blocks of 1024 threads per SM, all counters in each block's memory"},
      {One1024::name, "a block of 1024 threads per SM, all counters in its memory"},
      {Two512::name, "two blocks of 512 threads per SM, all counters in each block's memory"},
      {Four512::name, "four blocks of 512 threads per SM, all counters in each block's memory"},
      {Ranges::name,
       "a block of 960 threads per SM with a range of the counters; groups of blocks see the same "
       "keys and have all ranges"},
      {Packed::name, "as ranges, with counters of 16 bits whose overflow goes to the result"},
      {Partitioned::name,
       "keys are dealt out to ranges of 32768 counters in global memory, then each range is "
       "counted "
       "in a block's shared memory"},
      {Global::name,
       "two blocks of 1024 threads per SM, counters in global memory, an addition per key"},
  };
}

}  // namespace amasia::histogram
