// The schedule of every config but `iso`: right-looking in blocks of 128 (blocked.hpp). One block
// decomposes and inverts the diagonal block, so that panels are products like all the rest;
// everything else is one kernel, a 128 x 128 tile per block, two blocks per SM so that one computes
// while the other starts or ends. Strategies differ in the Mover that brings operands to shared
// memory and results back.
//
// A Mover has
//   View, View view(problem)       what its kernels get besides the problem: nothing, or tensor
//   maps cluster, shared_bytes          blocks of a cluster; shared memory of a tile's block
//   load_block(shared, ...)        the diagonal block into DiagonalBlock::lu; false: this block is
//   done Mover(shared, ...)             the prologue of a tile acquire(s), a(s), b(s), between(s,
//   chunk), release(s)    slice s of slices finish(acc)                    the result to global
//   memory
#pragma once

#include <memory>
#include <utility>

#include "apps/lud/blocked.hpp"
#include "apps/lud/kernel.cuh"
#include "harness/variant.hpp"
#include "variants/launch.hpp"

namespace amasia::lud {
namespace {

inline constexpr int slices = panel_width / BlockTile::k;
inline constexpr int slice_bytes = BlockTile::slice_elements * static_cast<int>(sizeof(float));

struct NoMaps {};

__device__ inline Grid<float> grid_of(const Problem& p, Source source) {
  return source == Source::matrix          ? p.matrix
         : source == Source::lower_inverse ? p.lower_inverse
                                           : p.upper_inverse;
}

/// Copies of 16 bytes from where the operands of a tile lie: per slice, each thread has `pieces`,
/// first of A, then of B. Rows and columns beyond the matrix repeat the last one: what they produce
/// is never stored, and no operand is incomplete in the direction that is summed over.
struct Pieces {
  static constexpr int of_a = BlockTile::a_elements / 4 / BlockTile::threads;
  static constexpr int of_b = BlockTile::b_elements / 4 / BlockTile::threads;
  static constexpr int count = of_a + of_b;
  const float* a;
  const float* b;
  int a_pitch, b_pitch;
  int last_row;  // of A's tile that is in the matrix
  int row, chunk, line;

  __device__ Pieces(const Problem& p, const TileProduct& t, int thread)
      : row(thread / 8), chunk(thread % 8), line(thread / 32) {
    const Grid<float> left = grid_of(p, t.a_source), right = grid_of(p, t.b_source);
    a = &left.at(t.a_row, t.a_column + 4 * chunk);
    a_pitch = static_cast<int>(left.pitch);
    b_pitch = static_cast<int>(right.pitch);
    const int left_rows = static_cast<int>(left.rows) - 1 - t.a_row;
    last_row = left_rows < BlockTile::m - 1 ? left_rows : BlockTile::m - 1;
    const int column = t.b_column + thread % 32 * 4;
    b = &right.at(t.b_row + line, column < b_pitch - 4 ? column : b_pitch - 4);
  }
  /// Offsets within a tile fit in 32 bits: 128 rows of at most 2^20 elements.
  __device__ const float* global(int slice, int piece) const {
    if (piece < of_a) {
      const int r = row + 32 * piece;
      return a + (r < last_row ? r : last_row) * a_pitch + BlockTile::k * slice;
    }
    return b + (BlockTile::k * slice + 8 * (piece - of_a)) * b_pitch;
  }
  /// Offset in a stage of shared memory, A before B.
  __device__ int shared(int piece) const {
    if (piece < of_a) {
      return (row + 32 * piece) * BlockTile::k + 4 * swizzled_chunk(row, chunk);
    }
    return BlockTile::a_elements + (line + 8 * (piece - of_a)) * BlockTile::n +
           static_cast<int>(threadIdx.x) % 32 * 4;
  }
};

/// The thread's elements of the result, straight from and to global memory.
__device__ __forceinline__ void finish_in_global(const Accumulator& acc, const Grid<float>& matrix,
                                                 const TileProduct& t, int thread) {
  float* const first = &matrix.at(t.c_row + BlockTile::row(thread, 0), t.c_column);
#pragma unroll
  for (int i = 0; i < BlockTile::rows_per_thread; ++i) {
    if (t.c_row + BlockTile::row(thread, i) >= matrix.rows) break;
#pragma unroll
    for (int g = 0; g < 2; ++g) {
      const int column = BlockTile::column(thread, g);
      if (t.c_column + column >= matrix.columns) continue;
      auto* c = reinterpret_cast<float4*>(first + 4 * i * static_cast<int>(matrix.pitch) + column);
      *c = finished(acc, i, g, t.subtract, t.subtract ? *c : float4{});
    }
  }
}

template <class Mover>
__global__ void __launch_bounds__(BlockTile::threads, 2)
    product(const __grid_constant__ typename Mover::View view, const Problem p, Region region,
            int step) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const int thread = static_cast<int>(threadIdx.x);
  const TileProduct t = tile_product(region, tiles_of(p.matrix.rows), step, Mover::cluster,
                                     static_cast<int>(blockIdx.x));
  Accumulator acc{};
  Mover mover(shared, view, p, t, thread);
#pragma unroll
  for (int s = 0; s < slices; ++s) {
    mover.acquire(s);
    multiply(acc, mover.a(s), mover.b(s), thread, [&](int chunk) { mover.between(s, chunk); });
    mover.release(s);
  }
  mover.finish(acc);
}

/// Pads four elements of the last, incomplete diagonal block with those of the identity.
__device__ inline void pad_chunk(float* line, int row, int column, int size) {
  auto* p = reinterpret_cast<float4*>(line + column);
  float4 v = *p;
  const auto element = [&](float own, int j) {
    return row < size && j < size ? own : row == j ? 1.0f : 0.0f;
  };
  *p = make_float4(element(v.x, column), element(v.y, column + 1), element(v.z, column + 2),
                   element(v.w, column + 3));
}

template <class Mover>
__global__ void __launch_bounds__(block_threads)
    diagonal(const __grid_constant__ typename Mover::View view, const Problem p, int step) {
  extern __shared__ __align__(1024) unsigned char shared[];
  auto& d = *reinterpret_cast<DiagonalBlock*>(shared);
  const int thread = static_cast<int>(threadIdx.x);
  const int first = step * panel_width;
  const int n = static_cast<int>(p.matrix.rows);
  const int size = n - first < panel_width ? n - first : panel_width;
  if (!Mover::load_block(shared, view, p, first, size, thread)) return;
  if (size < panel_width && !Mover::pads) {
    for (int e = thread; e < panel_width * panel_width / 4; e += block_threads) {
      const int row = e / (panel_width / 4), column = e % (panel_width / 4) * 4;
      if (row >= size || column + 3 >= size) {
        pad_chunk(d.lu + row * block_pitch, row, column, size);
      }
    }
    __syncthreads();
  }
  factor_block(d, thread);
  for (int e = thread; e < panel_width * panel_width / 4; e += block_threads) {
    const int row = e / (panel_width / 4), column = e % (panel_width / 4) * 4;
    if (row < size && column < size) {
      *reinterpret_cast<float4*>(&p.matrix.at(first + row, first + column)) =
          *reinterpret_cast<const float4*>(d.lu + row * block_pitch + column);
    }
  }
  if (first + panel_width >= n) return;  // no panels to follow
  invert_block(d, thread);
  for (int e = thread; e < panel_width * panel_width / 4; e += block_threads) {
    const int row = e / (panel_width / 4), column = e % (panel_width / 4) * 4;
    *reinterpret_cast<float4*>(&p.lower_inverse.at(row, column)) =
        inverse_elements(d, true, row, column);
    *reinterpret_cast<float4*>(&p.upper_inverse.at(row, column)) =
        inverse_elements(d, false, row, column);
  }
}

/// 16-byte chunks of the diagonal block: chunk e of panel_width^2 / 4.
struct BlockChunk {
  int row, column;
  bool inside;
  __device__ BlockChunk(int e, int size)
      : row(e / (panel_width / 4)),
        column(e % (panel_width / 4) * 4),
        inside(row < size && column < size) {}
};

/// The stream on which diagonal blocks and panels run ahead, before the updates that have time.
class AheadStream {
 public:
  AheadStream() {
    int least = 0, greatest = 0;
    AMASIA_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    AMASIA_CUDA(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest));
  }
  ~AheadStream() { cudaStreamDestroy(stream_); }
  AheadStream(const AheadStream&) = delete;
  AheadStream& operator=(const AheadStream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

struct LookAhead {
  AheadStream ahead;
  OwnedEvent begun, panels, rest, done;
};

template <class Mover>
ConfigOf<Problem> blocked(const char* name, int stages, std::size_t bytes_in_flight) {
  ConfigOf<Problem> config;
  config.info = {
      name,
      {{"block", panel_width}, {"k_slice", BlockTile::k}, {"stages", stages}},
      {{reinterpret_cast<const void*>(product<Mover>), BlockTile::threads, Mover::shared_bytes,
        Mover::cluster, bytes_in_flight},
       {reinterpret_cast<const void*>(diagonal<Mover>), block_threads, sizeof(DiagonalBlock) + 128,
        Mover::cluster, panel_width * panel_width * sizeof(float)}}};
  config.prepare = [](const Problem& p, const Device&) -> Launch {
    LaunchShape tile{dim3(1), dim3(BlockTile::threads), Mover::shared_bytes, Mover::cluster};
    LaunchShape block{dim3(Mover::cluster), dim3(block_threads), sizeof(DiagonalBlock) + 128,
                      Mover::cluster};
    allow_launch(reinterpret_cast<const void*>(product<Mover>), tile);
    allow_launch(reinterpret_cast<const void*>(diagonal<Mover>), block);
    const auto view = Mover::view(p);
    const auto streams = std::make_shared<LookAhead>();
    return [=](Stream main) {
      const int tiles = tiles_of(p.matrix.rows);
      const auto compute = [&](Region region, int step, cudaStream_t stream) {
        LaunchShape shape = tile;
        shape.grid.x = static_cast<unsigned>(blocks_of(region, tiles, step, Mover::cluster));
        if (shape.grid.x > 0) launch(product<Mover>, shape, stream, view, p, region, step);
      };
      const cudaStream_t ahead = streams->ahead;
      AMASIA_CUDA(cudaEventRecord(streams->begun, main));
      AMASIA_CUDA(cudaStreamWaitEvent(ahead, streams->begun));
      for (int step = 0; step < tiles; ++step) {
        launch(diagonal<Mover>, block, ahead, view, p, step);
        if (step == tiles - 1) break;
        compute(Region::panels, step, ahead);
        AMASIA_CUDA(cudaEventRecord(streams->panels, ahead));
        // The strip of this step was in the rest of the last one.
        if (step > 0) AMASIA_CUDA(cudaStreamWaitEvent(ahead, streams->rest));
        compute(Region::strip, step, ahead);
        AMASIA_CUDA(cudaStreamWaitEvent(main, streams->panels));
        compute(Region::rest, step, main);
        AMASIA_CUDA(cudaEventRecord(streams->rest, main));
      }
      AMASIA_CUDA(cudaEventRecord(streams->done, ahead));
      AMASIA_CUDA(cudaStreamWaitEvent(main, streams->done));
    };
  };
  return config;
}

}  // namespace
}  // namespace amasia::lud
