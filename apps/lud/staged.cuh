// What the three strategies on cp.async share: a ring of slices, the diagonal block, and whole
// tiles of panels.
#pragma once

#include "apps/lud/blocked.cuh"
#include "apps/lud/panel_rows.cuh"
#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::lud {
namespace {

/// Starts the copies of this thread's chunks of the diagonal block.
__device__ inline void copy_block(float* lu, const Problem& p, int first, int size, int thread) {
  for (int e = thread; e < panel_width * panel_width / 4; e += block_threads) {
    const BlockChunk c(e, size);
    if (c.inside) {
      async::copy16(async::shared_address(lu + c.row * block_pitch + c.column),
                    &p.matrix.at(first + c.row, first + c.column));
    }
  }
}

/// The diagonal block, waited for at once: nothing can be computed without it.
struct AsyncChunks {
  static constexpr int cluster = 1;
  static constexpr bool pads = false;
  static __device__ bool load(unsigned char* shared, const Problem& p, int first, int size,
                              int thread) {
    copy_block(reinterpret_cast<DiagonalBlock*>(shared)->lu, p, first, size, thread);
    async::commit();
    async::wait<0>();
    __syncthreads();
    return true;
  }
};

/// Stages of slices: which one is read, and which one the copies go to.
template <class Tile>
struct Stages {
  unsigned ring;
  int count, here = 0, next = 0;

  __device__ Stages(unsigned char* shared, int stages)
      : ring(async::held_address(shared)), count(stages) {}
  __device__ unsigned at(int stage) const {
    return ring + static_cast<unsigned>(stage * Tile::slice_bytes);
  }
  __device__ unsigned slice() const { return at(here); }
  __device__ void step(int& stage) const { stage = stage + 1 == count ? 0 : stage + 1; }
};

/// When the squares of B are asked for: all at the start, or each when it is due.
enum class Ask { early, when_due };

template <Ask ASK>
struct CopiedPanel : PanelRows {
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1, stages = ASK == Ask::early ? Tile::steps : 1;
  static constexpr std::size_t shared_bytes = Tile::all_bytes;
  static constexpr std::size_t bytes_in_flight = Tile::all_bytes;

  __device__ CopiedPanel(unsigned char* shared, View, const Problem& p, const TileProduct& tile,
                         int thread)
      : PanelRows(shared, p, tile, thread) {
    const auto copy = [](unsigned to, const float* from) { async::copy16(to, from); };
#pragma unroll 1
    for (int step = 0; step < Tile::steps; ++step) {
#pragma unroll 1
      for (int i = 0; i < Tile::triangles(step); ++i) {
#pragma unroll
        for (int share = 0; share < shares; ++share) bring_triangle(step, i, share, copy);
      }
    }
    if (ASK == Ask::when_due) return;
#pragma unroll 1
    for (int step = 0; step < Tile::steps; ++step) ask_for(step);
  }
  /// With the first step's square comes the triangle.
  __device__ void ask_for(int step) const {
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece) {
      bring_own(step, piece, [](unsigned to, const float* from) { async::copy16(to, from); });
    }
    async::commit();
  }
  __device__ void wait(int step) const {
    if (ASK == Ask::when_due) {
      ask_for(step);
      async::wait<0>();
    } else {
      async::wait<Tile::steps - 1>();
      async::commit();  // an empty group for each that is here keeps the count right
    }
    if (step == 0) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  }
};

}  // namespace
}  // namespace amasia::lud
