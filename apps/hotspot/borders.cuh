// Tiles side by side in a cluster (dsm's iso and iso-walk), and what they tell each other of every
// state: the column at either side, a word of each row, to the block beside. A block's mbarrier
// counts the words that come. Nothing is read from a block, so that no barrier of the cluster
// stands between two steps; it would be a fence over all of the device's memory, for each of its
// warps.
#pragma once

#include "apps/hotspot/geometry.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::hotspot {

/// A state: the tile (16, 16), then what comes from west and from east (2, 16).
inline constexpr int state_cells = tile_threads + 2 * tile_size;

struct BorderStorage {
  float states[2][state_cells];  // alternating
  tma::Barrier full[2];
};

/// The states of a block's tiles, one after another. A thread holds one cell.
///
/// A block sends a state when it has received the one before, which the block beside sent after it
/// had read the one before that. So two of each suffice, and a block that has received all that is
/// sent to it may leave.
struct Borders {
  static constexpr unsigned side_bytes = tile_size * sizeof(float);

  BorderStorage& shared;
  const int row = static_cast<int>(threadIdx.x) / tile_size;
  const int in_row = static_cast<int>(threadIdx.x) % tile_size;
  bool has_west, has_east;
  unsigned to_border, to_full;  // in the block beside, of stage 0
  unsigned expected;            // bytes of a state
  PipelineState<2> turn;

  /// By all threads of the cluster; follow with begin().
  __device__ Borders(BorderStorage& storage, int rank, int blocks) : shared(storage) {
    has_west = rank > 0;
    has_east = rank < blocks - 1;
    const bool to_west = receives_west(), to_east = receives_east();
    const auto beside = static_cast<unsigned>(to_west ? rank - 1 : to_east ? rank + 1 : rank);
    to_border =
        dsm::remote_address(&shared.states[0][to_west ? east_border() : west_border()], beside);
    to_full = dsm::remote_address(&shared.full[0], beside);
    expected = (has_west ? side_bytes : 0) + (has_east ? side_bytes : 0);
    if (threadIdx.x == 0) {
      for (tma::Barrier& full : shared.full) tma::init(&full, 1);
      tma::fence_init();
    }
    dsm::cluster_arrive_initialised();
  }
  /// Whether the thread's neighbour in its row is a cell of the block beside, which wants its cell.
  __device__ bool receives_west() const { return has_west && in_row == 0; }
  __device__ bool receives_east() const { return has_east && in_row == tile_size - 1; }
  /// Every block's barriers are ready. What is done in between overlaps the wait.
  __device__ void begin() { dsm::cluster_wait(); }

  /// Gives out a state, the thread's cell of it, and waits for what comes from the blocks beside.
  __device__ void exchange(float cell) {
    shared.states[turn.index][threadIdx.x] = cell;
    if (receives_west() || receives_east()) {
      dsm::store_async(to_border + turn.index * static_cast<unsigned>(sizeof(shared.states[0])),
                       __float_as_int(cell),
                       to_full + turn.index * static_cast<unsigned>(sizeof(tma::Barrier)));
    }
    if (threadIdx.x == 0) tma::expect(&shared.full[turn.index], expected);
    __syncthreads();
    tma::warp_wait(&shared.full[turn.index], turn.phase);
  }
  /// The thread's own cell, in the state that was exchanged last.
  __device__ const float* own() const { return &shared.states[turn.index][threadIdx.x]; }
  /// Where in a state the neighbours of the thread's row lie that other blocks have sent.
  __device__ int west_border() const { return tile_threads + row; }
  __device__ int east_border() const { return tile_threads + tile_size + row; }
  /// When the thread has read what it needs of a state.
  __device__ void release() { ++turn; }
};

}  // namespace amasia::hotspot
