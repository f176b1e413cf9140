// The schedule of every config but `iso`: right-looking in blocks of 128, updates by groups of
// panels (blocked.hpp). One block decomposes and inverts the diagonal block, so that panels are
// products like all the rest; everything else is one kernel in two sizes of tiles: 128 x 128, two
// blocks per SM so that one computes while the other starts or ends, and a quarter for the chain.
// Strategies differ in the Mover, a template of the tile, that brings operands to shared memory and
// results back:
//
// - View, view(problem): what its kernels get besides the problem, nothing or tensor maps
// - cluster, stages, shared_bytes: blocks of a cluster, and what a tile's block takes
// - bytes_in_flight: what a tile's block can have under way
// - Diagonal: how the diagonal block comes, load() into DiagonalBlock::lu (false: this block is
//   done), whether it pads an incomplete one, and how many blocks take part
// - Mover(shared, ...): starts the first copies of a tile
// - acquire(), slice(), between(chunk), release(): the next slice of the operands
// - finish(acc, thread): the result to global memory
#pragma once

#include <memory>
#include <utility>

#include "apps/lud/blocked.hpp"
#include "apps/lud/kernel.cuh"
#include "apps/lud/tiles.cuh"
#include "harness/variant.hpp"
#include "variants/launch.hpp"

namespace amasia::lud {
namespace {

struct NoMaps {};

__device__ inline Grid<float> grid_of(const Problem& p, Source source) {
  return source == Source::matrix          ? p.matrix
         : source == Source::lower_inverse ? p.lower_inverse
                                           : p.upper_inverse;
}

/// The 16-byte pieces of the operands that a thread brings: of a slice first those of A, then
/// those of B, as many rows apart as the block brings at once. Rows and columns beyond the matrix
/// repeat one inside: what they produce is never stored, and no operand is incomplete in the
/// direction that is summed over. Running pointers, and one stride in shared memory for both
/// operands: registers and issue slots that are spent here are missing in the inner product.
template <class Tile>
struct Pieces;

template <>
struct Pieces<BlockTile> {
  using Tile = BlockTile;
  static constexpr int unrolled = Tile::chunks;  // where nothing else is done between the shares
  static constexpr int of_a = Tile::a_bytes / 16 / Tile::threads;
  static constexpr int of_b = Tile::b_bytes / 16 / Tile::threads;
  static constexpr int count = of_a + of_b;
  static constexpr int per_chunk = count / Tile::chunks;
  static constexpr int a_rows = Tile::threads / (Tile::k / 4);
  static constexpr int b_rows = Tile::threads / (Tile::n / 4);
  static constexpr int stride = a_rows * Tile::k * 4;
  static_assert(stride == b_rows * Tile::n * 4, "pieces of A and of B lie equally far apart");
  static_assert(of_a % per_chunk == 0 && per_chunk * Tile::chunks == count,
                "each chunk of the inner product brings a share, of one operand");

  const float* slice;  // first piece of A
  const float* a;      // next piece of A
  const float* b;      // next piece of B
  int a_step, b_step;  // elements from piece to piece
  int rows_below, rows_left;
  unsigned to_a, to_b;  // first pieces in a stage

  __device__ Pieces(const Problem& p, const TileProduct& t, int thread) {
    const Grid<float> left = grid_of(p, t.a_source), right = grid_of(p, t.b_source);
    const int row = thread / (Tile::k / 4), chunk = thread % (Tile::k / 4);
    const int line = thread / (Tile::n / 4);
    const int last = static_cast<int>(left.rows) - 1 - t.a_row;
    slice = &left.at(t.a_row + (row < last ? row : last), t.a_column + 4 * chunk);
    a = slice;
    rows_below = rows_left = last - row;
    a_step = a_rows * static_cast<int>(left.pitch);
    const int last_column = static_cast<int>(right.pitch) - 4;
    const int column = t.b_column + thread % (Tile::n / 4) * 4;
    b = &right.at(t.b_row + line, column < last_column ? column : last_column);
    b_step = b_rows * static_cast<int>(right.pitch);
    to_a = static_cast<unsigned>(row * Tile::k * 4 + 16 * swizzled_chunk(row, chunk));
    to_b = static_cast<unsigned>(Tile::a_bytes + thread * 16);
  }
  /// move(place in the stage, source) for the pieces that are due with a chunk.
  template <class Move>
  __device__ __forceinline__ void share(int chunk, Move&& move) {
    constexpr int chunks_of_a = of_a / per_chunk;
    const bool of_left = chunk < chunks_of_a;
    unsigned to = of_left
                      ? to_a + static_cast<unsigned>(chunk * per_chunk * stride)
                      : to_b + static_cast<unsigned>((chunk - chunks_of_a) * per_chunk * stride);
#pragma unroll
    for (int i = 0; i < per_chunk; ++i, to += stride) {
      if (of_left) {
        move(to, a);
        rows_left -= a_rows;
        if (rows_left >= 0) a += a_step;
      } else {
        move(to, b);
        b += b_step;
      }
    }
  }
  __device__ void next_slice() {
    slice += Tile::k;
    a = slice;
    rows_left = rows_below;
  }
  /// Back to the slice before, instead of next_slice(), where there is no next one.
  __device__ void repeat_slice() {
    a = slice;
    rows_left = rows_below;
    b -= static_cast<std::int64_t>(of_b) * b_step;
  }
};

/// A small tile's: with each chunk one box, of which a thread brings 16 bytes of two rows.
template <>
struct Pieces<ChainTile> {
  using Tile = ChainTile;
  static constexpr int unrolled = 1;
  static constexpr int per_chunk = 2;
  static constexpr int rows_at_once = Tile::box / per_chunk;
  static constexpr int stride = Tile::box_bytes / per_chunk;
  static_assert(Tile::threads * 16 == stride && Tile::most_boxes <= Tile::chunks);

  const float *a, *b;  // the thread's first pieces, of row 0 of the boxes
  int a_pitch, b_pitch;
  int row, last_row, last_column;  // the last ones: from the first ones on
  int boxes_of_a, boxes;
  int k = 0;  // of the slice
  unsigned to_a, to_b;

  __device__ Pieces(const Problem& p, const TileProduct& t, int thread)
      : row(thread / 8), boxes_of_a(Tile::boxes_of_a(t)), boxes(boxes_of_a + Tile::boxes_of_b(t)) {
    const Grid<float> left = grid_of(p, t.a_source), right = grid_of(p, t.b_source);
    const int chunk = thread % 8;
    a = &left.at(t.a_row, t.a_column + 4 * chunk);
    a_pitch = static_cast<int>(left.pitch);
    last_row = static_cast<int>(left.rows) - 1 - t.a_row;
    b = &right.at(t.b_row, t.b_column + 4 * chunk);
    b_pitch = static_cast<int>(right.pitch);
    last_column = b_pitch - 4 - (t.b_column + 4 * chunk);
    to_a = static_cast<unsigned>(row * Tile::k * 4 + 16 * swizzled_chunk(row, chunk));
    to_b = static_cast<unsigned>(thread * 16);
  }
  template <class Move>
  __device__ __forceinline__ void share(int chunk, Move&& move) {
    if (chunk >= boxes) return;
    const bool of_left = chunk < boxes_of_a;
    const unsigned to = (of_left ? to_a : to_b) + static_cast<unsigned>(chunk) * Tile::box_bytes;
#pragma unroll
    for (int i = 0; i < per_chunk; ++i) {
      const float* from;
      if (of_left) {
        const int at = chunk * Tile::box + i * rows_at_once + row;
        from = a + static_cast<std::int64_t>(at < last_row ? at : last_row) * a_pitch + k;
      } else {
        const int at = (chunk - boxes_of_a) * Tile::box;
        from = b + static_cast<std::int64_t>(k + i * rows_at_once + row) * b_pitch +
               (at < last_column ? at : last_column);
      }
      move(to + i * stride, from);
    }
  }
  __device__ void next_slice() { k += Tile::k; }
  __device__ void repeat_slice() const {}
};

/// The thread's elements of the result, straight from and to global memory; the old elements of
/// four rows are asked for at once. Rows of the padding may be overwritten, so only rows need a
/// look.
template <class Tile, bool WHOLE>
__device__ __forceinline__ void finish_in_global(const typename Tile::Accumulator& acc,
                                                 const Grid<float>& matrix, const TileProduct& t,
                                                 int thread) {
  const int row = Tile::first_row(t, thread), column = Tile::first_column(t, thread);
  const int rows_left = static_cast<int>(matrix.rows) - row;
  const int columns_left = static_cast<int>(matrix.pitch) - column;
  const std::int64_t stride = 8 * matrix.pitch;
  float* c = &matrix.at(row, column);
  const auto inside = [&](int i, int g) {
    return WHOLE || (8 * i < rows_left && 16 * g < columns_left);
  };
  constexpr int at_once = 4, groups = Tile::columns_per_thread / 4;
#pragma unroll
  for (int first = 0; first < Tile::rows_per_thread; first += at_once, c += at_once * stride) {
    float4 old[at_once][groups] = {};
    if (t.subtract) {
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
#pragma unroll
        for (int g = 0; g < groups; ++g) {
          if (inside(first + i, g)) {
            old[i][g] = *reinterpret_cast<const float4*>(c + i * stride + 16 * g);
          }
        }
      }
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
#pragma unroll
      for (int g = 0; g < groups; ++g) {
        if (inside(first + i, g)) {
          *reinterpret_cast<float4*>(c + i * stride + 16 * g) =
              less(old[i][g], &acc.c[first + i][4 * g]);
        }
      }
    }
  }
}

template <class Tile>
__device__ __forceinline__ void finish_in_global(const typename Tile::Accumulator& acc,
                                                 const Grid<float>& matrix, const TileProduct& t,
                                                 int thread) {
  if (t.c_row + t.rows <= matrix.rows && t.c_column + t.columns <= matrix.pitch) {
    finish_in_global<Tile, true>(acc, matrix, t, thread);
  } else {
    finish_in_global<Tile, false>(acc, matrix, t, thread);
  }
}

template <class Mover>
__global__ void __launch_bounds__(Mover::Tile::threads, Mover::Tile::blocks_per_sm)
    product(const __grid_constant__ typename Mover::View view, const Problem p,
            const Products products) {
  using Tile = typename Mover::Tile;
  extern __shared__ __align__(1024) unsigned char shared[];
  const int thread = static_cast<int>(threadIdx.x);
  const TileProduct t = products.tile(Mover::cluster, static_cast<int>(blockIdx.x));
  Mover mover(shared, view, p, t, thread);
  typename Tile::Accumulator acc;
  acc.clear();
  const int slices = t.depth / Tile::k;
#pragma unroll 1
  for (int slice = 0; slice < slices; ++slice) {
    mover.acquire();
    Tile::multiply(acc, mover.slice(), t, thread, [&](int chunk) { mover.between(chunk); });
    mover.release();
  }
  mover.finish(acc, thread);
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

template <class Loader>
__global__ void __launch_bounds__(block_threads, 2)  // registers that leave room for a tile's block
    diagonal(const Problem p, int step) {
  extern __shared__ __align__(1024) unsigned char shared[];
  auto& d = *reinterpret_cast<DiagonalBlock*>(shared);
  const int thread = static_cast<int>(threadIdx.x);
  const int first = step * panel_width;
  const int n = static_cast<int>(p.matrix.rows);
  const int size = n - first < panel_width ? n - first : panel_width;
  if (!Loader::load(shared, p, first, size, thread)) return;
  if (size < panel_width && !Loader::pads) {
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
        negative_inverse(d, true, row, column);
    *reinterpret_cast<float4*>(&p.upper_inverse.at(row, column)) =
        negative_inverse(d, false, row, column);
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

/// A kernel of a tile's products, and what it is launched with.
template <class Mover>
struct ProductKernel {
  LaunchShape shape{dim3(1), dim3(Mover::Tile::threads), Mover::shared_bytes, Mover::cluster};
  typename Mover::View view;

  explicit ProductKernel(const Problem& p) : view(Mover::view(p)) {
    allow_launch(reinterpret_cast<const void*>(product<Mover>), shape);
  }
  void operator()(const Problem& p, const Products& products, cudaStream_t stream) const {
    LaunchShape grid = shape;
    grid.grid.x = static_cast<unsigned>(products.blocks(Mover::cluster));
    launch(product<Mover>, grid, stream, view, p, products);
  }
  static KernelUse use() {
    return {reinterpret_cast<const void*>(product<Mover>), Mover::Tile::threads,
            Mover::shared_bytes, Mover::cluster, Mover::bytes_in_flight};
  }
};

template <template <class Tile> class Mover>
ConfigOf<Problem> blocked(const char* name, Grouping grouping) {
  using Large = Mover<BlockTile>;
  using Small = Mover<ChainTile>;
  using Diagonal = typename Large::Diagonal;
  ConfigOf<Problem> config;
  config.info = {
      name,
      {{"block", panel_width},
       {"k_update", grouping.most * panel_width},
       {"group_share", grouping.share},
       {"chain_tile", 2 * warp_edge},
       {"k_slice", BlockTile::k},
       {"stages", Large::stages}},
      {ProductKernel<Large>::use(),
       {reinterpret_cast<const void*>(diagonal<Diagonal>), block_threads,
        sizeof(DiagonalBlock) + 128, Diagonal::cluster, panel_width * panel_width * sizeof(float)},
       ProductKernel<Small>::use()}};
  config.prepare = [grouping](const Problem& p, const Device& device) -> Launch {
    const LaunchShape block{dim3(Diagonal::cluster), dim3(block_threads),
                            sizeof(DiagonalBlock) + 128, Diagonal::cluster};
    allow_launch(reinterpret_cast<const void*>(diagonal<Diagonal>), block);
    const ProductKernel<Large> large(p);
    const ProductKernel<Small> small(p);
    const auto streams = std::make_shared<LookAhead>();
    const auto launches = schedule(static_cast<int>(p.matrix.rows), grouping, device.sm_count);
    return [=](Stream main) {
      const cudaStream_t ahead = streams->ahead;
      AMASIA_CUDA(cudaEventRecord(streams->begun, main));
      AMASIA_CUDA(cudaStreamWaitEvent(ahead, streams->begun));
      for (const Launched& l : launches) {
        const cudaStream_t stream = l.ahead ? ahead : main;
        if (l.waits) {
          AMASIA_CUDA(cudaStreamWaitEvent(stream, l.ahead ? streams->rest : streams->panels));
        }
        if (l.diagonal) {
          launch(diagonal<Diagonal>, block, stream, p, l.products.first);
        } else if (l.products.small) {
          small(p, l.products, stream);
        } else {
          large(p, l.products, stream);
        }
        if (l.signals) {
          AMASIA_CUDA(cudaEventRecord(l.ahead ? streams->panels : streams->rest, stream));
        }
      }
      AMASIA_CUDA(cudaEventRecord(streams->done, ahead));
      AMASIA_CUDA(cudaStreamWaitEvent(main, streams->done));
    };
  };
  return config;
}

}  // namespace
}  // namespace amasia::lud
