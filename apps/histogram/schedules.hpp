// Every schedule of histogram, once, for all strategies: who counts where. How keys travel is no
// part of it (Movement in geometry.hpp).
#pragma once

#include <vector>

#include "apps/common/start.hpp"
#include "harness/app.hpp"

namespace amasia::histogram {

/// Where a block counts.
///   copies   Every counter in shared memory, in as many copies as fit, one per lane if 32 do.
///   packed   A range of the counters in shared memory, two of 16 bits in a word. A group of blocks
///            sees the same keys and has all ranges.
///   unseen   As packed, all counters in each block, additions that do not ask for the old value.
///   global   In global memory alone.
enum class Home { copies, packed, unseen, global };

/// Two counters of 16 bits in a word.
constexpr bool in_halves(Home home) { return home == Home::packed || home == Home::unseen; }

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

// Half of the threads an SM has, and all of them, in few or many blocks: few keep more copies of
// the counters, many cover each other's waits. Beside 512 threads there is room for warps that only
// copy.
struct One1024 : Geometry<1024, 1, Home::copies> {
  static constexpr const char* name = "1024x1";
};
struct Two512 : Geometry<512, 2, Home::copies> {
  static constexpr const char* name = "512x2";
};
struct Four512 : Geometry<512, 4, Home::copies> {
  static constexpr const char* name = "512x4";
};
// 960 threads leave room for warps that only copy.
struct Packed : Geometry<960, 1, Home::packed> {
  static constexpr const char* name = "packed";
};
struct Unseen : Geometry<960, 1, Home::unseen> {
  static constexpr const char* name = "packed-unseen";
};
struct Global : Geometry<1024, 2, Home::global> {
  static constexpr const char* name = "global";
};

/// Two launches (original.cuh).
inline constexpr const char *iso_name = "iso", *iso_dependent_name = "iso-dependent";

/// Three launches (partition.cuh).
struct Partitioned {
  static constexpr const char* name = "partitioned";
  static constexpr Start start = Start::in_turn;
};
struct PartitionedDependent {
  static constexpr const char* name = "partitioned-dependent";
  static constexpr Start start = Start::dependent;
};

/// The first is the CUDA sample's (original.cuh).
inline std::vector<Schedule> all_schedules() {
  return {
      {iso_name,
       "240 blocks of six warps, a sub-histogram per warp; a second launch adds up the 240 "
       "results"},
      {iso_dependent_name, "iso by programmatic dependent launch"},
      {One1024::name, "a block of 1024 threads per SM, all counters in its memory"},
      {Two512::name, "two blocks of 512 threads per SM, all counters in each block's memory"},
      {Four512::name, "four blocks of 512 threads per SM, all counters in each block's memory"},
      {Packed::name,
       "a block of 960 threads per SM with a range of the counters, of 16 bits, whose overflow "
       "goes "
       "to the result; groups of blocks see the same keys and have all ranges"},
      {Unseen::name,
       "as packed with all counters in each block; additions do not ask for the old value, and a "
       "block whose counters overflowed, which their sum shows, counts again"},
      {Partitioned::name,
       "keys are written to global memory by range of 32768 counters, then each range is counted "
       "in a block's shared memory"},
      {PartitionedDependent::name, "partitioned by programmatic dependent launch"},
      {Global::name,
       "two blocks of 1024 threads per SM, counters in global memory, an addition per key"},
  };
}

}  // namespace amasia::histogram
