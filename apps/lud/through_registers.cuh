// The diagonal block and whole tiles of panels through registers.
#pragma once

#include "apps/lud/blocked.cuh"
#include "apps/lud/pieces.cuh"
#include "variants/ptx/global_memory.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::lud {
namespace {

/// The diagonal block.
struct ChunksThroughRegisters {
  static constexpr int cluster = 1;
  static constexpr bool pads = false;
  static constexpr int at_once = 8;  // chunks of a thread
  static_assert(panel_width * panel_width / 4 % (at_once * block_threads) == 0);
  static __device__ bool load(unsigned char* shared, const Problem& p, int first, int size,
                              int thread) {
    auto* lu = reinterpret_cast<DiagonalBlock*>(shared)->lu;
#pragma unroll 1
    for (int e = thread; e < panel_width * panel_width / 4; e += at_once * block_threads) {
      int4 held[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const BlockChunk c(e + i * block_threads, size);
        if (c.inside) held[i] = global::load16(&p.matrix.at(first + c.row, first + c.column));
      }
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        const BlockChunk c(e + i * block_threads, size);
        if (c.inside) *reinterpret_cast<int4*>(lu + c.row * block_pitch + c.column) = held[i];
      }
    }
    __syncthreads();
    return true;
  }
};

/// Slices of split panels: a thread holds half of its pieces of one, and stores them.
struct RegisterFeed : PieceFeed {
  static constexpr int held = PiecesOfParts::of_operand;  // pieces: those of an operand
  static constexpr int registers = (4 * held + 40) / 8 * 8;
  static constexpr std::size_t bytes_in_flight = std::size_t{held} * 16 * matrix::warpgroup;

  static __device__ __forceinline__ void produce(const TensorStages& stages, const View&,
                                                 const Problem& p, const PlaceInParts& place) {
    PiecesOfParts pieces(p, place);
    TensorStages::State state;
#pragma unroll 1
    for (int slice = 0; slice < place.slices; ++slice, ++state) {
      bring<0>(stages, state, pieces);
      bring<held>(stages, state, pieces);
      pieces.next_slice();
      matrix::hand_over<true>(stages.full(state));
    }
  }

 private:
  template <int FIRST>
  static __device__ __forceinline__ void bring(const TensorStages& stages,
                                               const TensorStages::State& state,
                                               const PiecesOfParts& pieces) {
    int4 of_operand[held];
    int i = 0;
    pieces.each<FIRST, held>(
        [&](unsigned, const float* from) { of_operand[i++] = global::load16(from); });
    if (FIRST == 0) stages.acquire(state);
    const unsigned stage = async::shared_address(stages.at(state));
    i = 0;
    pieces.each<FIRST, held>(
        [&](unsigned to, const float*) { async::store16(stage + to, of_operand[i++]); });
  }
};

/// A whole tile of a panel: while a warp solves a square, its next one is in registers.
struct PanelThroughRegisters : PanelRows {
  static constexpr std::size_t bytes_in_flight = pieces * 16 * Tile::threads;  // in registers

  int4 held[pieces];

  __device__ PanelThroughRegisters(unsigned char* shared, View, const Problem& p,
                                   const TileProduct& tile, int thread)
      : PanelRows(shared, p, tile, thread) {
    // A step's squares of the triangle at once, of as many as the last step has.
#pragma unroll 1
    for (int step = 0; step < Tile::steps; ++step) {
      int4 of_step[Tile::steps][shares];
#pragma unroll
      for (int i = 0; i < Tile::steps; ++i) {
#pragma unroll
        for (int share = 0; share < shares; ++share) {
          bring_triangle(step, i < step ? i : step, share, [&](unsigned, const float* from) {
            of_step[i][share] = global::load16(from);
          });
        }
      }
#pragma unroll
      for (int i = 0; i < Tile::steps; ++i) {
#pragma unroll
        for (int share = 0; share < shares; ++share) {
          bring_triangle(step, i < step ? i : step, share,
                         [&](unsigned to, const float*) { async::store16(to, of_step[i][share]); });
        }
      }
    }
    load(0);
  }
  __device__ void load(int step) {
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece) {
      bring_own(step, piece,
                [&](unsigned, const float* from) { held[piece] = global::load16(from); });
    }
  }
  /// The last square is loaded once more than it is needed, not to wait where paths join.
  __device__ void wait(int step) {
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece) {
      bring_own(step, piece, [&](unsigned to, const float*) { async::store16(to, held[piece]); });
    }
    load(step + 1 < Tile::steps ? step + 1 : step);
    if (step == 0) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  }
};

}  // namespace
}  // namespace amasia::lud
