// A ring of slices in shared memory that bulk copies fill and warps read: what the movers of tma
// and dsm have in common. `full` says that a stage's boxes have arrived, `empty` that all warps
// have read it. Behind the last slices C comes, while they are multiplied, is updated where it
// lies, and leaves by bulk tensor stores.
#pragma once

#include "apps/lud/diagonal.cuh"
#include "apps/lud/tiles.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/geometry/pipeline_state.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/shared_memory.cuh"
#include "variants/ptx/tensor.cuh"

namespace amasia::lud {
namespace {

struct BlockedMaps {
  CUtensorMap a, b;          // of the matrix: boxes of A, permuted, and of B
  CUtensorMap lower, upper;  // of the diagonal block's L and U: boxes of A, and of B
};

/// Boxes of A have a_rows rows and a slice's columns, boxes of B b_rows and b_columns.
inline BlockedMaps blocked_maps(const Problem& p, int a_rows, int a_columns, int b_rows,
                                int b_columns) {
  const auto readable = [](const Grid<float>& g) {
    return Grid<const float>{g.data, g.rows, g.columns, g.pitch};
  };
  return {tensor_map(readable(p.matrix), a_rows, a_columns, Swizzle::bytes128),
          tensor_map(readable(p.matrix), b_rows, b_columns),
          tensor_map(readable(p.lower), a_rows, a_columns, Swizzle::bytes128),
          tensor_map(readable(p.upper), b_rows, b_columns)};
}

/// A_ROWS: of the map's boxes of A. C comes and leaves in boxes of that shape, whose permutation
/// keeps its rows off each other's banks: a large tile's in two stages, a small one's in one.
template <class Tile, int A_ROWS>
struct BoxRing {
  static constexpr int stages = 3, rows_before = 0;
  static constexpr int boxes_per_stage = Tile::c_boxes_per_stage;
  static constexpr int stages_of_c = Tile::c_boxes / boxes_per_stage;
  static constexpr int row_bytes = Tile::k * 4;
  static constexpr int parts = Tile::a_bytes / (A_ROWS * row_bytes);  // copies of a box of C
  struct SharedStorage {
    unsigned char slices[stages][Tile::slice_bytes];
    tma::Barrier full[stages], empty[stages];
  };
  static constexpr std::size_t shared_bytes = sizeof(SharedStorage);
  static constexpr std::size_t bytes_in_flight = (stages - 1) * Tile::slice_bytes;

  SharedStorage& storage;
  unsigned first_slice;  // its shared address
  const BlockedMaps& maps;
  const TileProduct& t;
  int slices;                      // of the tile
  PipelineState<stages> consumer;  // every thread's
  // The producers', one thread of each warp that loads: how many stages they have filled, and which
  // is next. A stage's first use waits for nobody.
  int produced = 0;
  PipelineState<stages> producer{0, 1};

  __device__ BoxRing(unsigned char* shared, const BlockedMaps& view, const TileProduct& tile)
      : storage(*reinterpret_cast<SharedStorage*>(shared)),
        first_slice(async::shared_address(shared)),
        maps(view),
        t(tile),
        slices(tile.depth / Tile::k) {}

  /// `readers`: warps that release a stage. A block or cluster barrier follows.
  __device__ void init(int thread, int readers) {
    if (thread == 0) {
#pragma unroll
      for (int s = 0; s < stages; ++s) {
        tma::init(storage.full + s, 1);
        tma::init(storage.empty + s, readers);
      }
      tma::fence_init();
    }
  }

  // --- the producers' side
  __device__ void acquire_empty() const {
    tma::wait(storage.empty + producer.index, producer.phase);
  }
  __device__ tma::Barrier* full_of_next() const { return storage.full + producer.index; }
  __device__ unsigned char* next_stage() const { return storage.slices[producer.index]; }
  __device__ void advance() {
    ++produced;
    ++producer;
  }
  __device__ const CUtensorMap* map_of_a() const {
    return t.a_source == Source::matrix ? &maps.a : &maps.lower;
  }
  __device__ const CUtensorMap* map_of_b() const {
    return t.b_source == Source::matrix ? &maps.b : &maps.upper;
  }

  __device__ int stages_of_result() const { return t.subtract ? stages_of_c : 0; }
  __device__ bool all_produced() const { return produced == slices + stages_of_result(); }
  __device__ bool next_is_c() const { return produced >= slices; }
  /// The first producer announces the bytes of all; those that are earlier do not complete the
  /// phase, which it has to arrive at. What was read as numbers is ordered before the engine's
  /// writes by the mbarrier.
  __device__ void expect_next(int loader) const {
    if (loader != 0) return;
    tma::expect(full_of_next(),
                next_is_c() ? boxes_per_stage * Tile::a_bytes : Tile::bytes_of_slice(t));
  }
  __device__ __forceinline__ void load_c(int loader) const {
#pragma unroll Tile::loaders == 1 ? boxes_per_stage : 1
    for (int box = loader; box < boxes_per_stage; box += Tile::loaders) {
      const int of_all = (produced - slices) * boxes_per_stage + box;
#pragma unroll
      for (int part = 0; part < parts; ++part) {
        tma::load_tile(next_stage() + box * Tile::a_bytes + part * A_ROWS * row_bytes, &maps.a,
                       Tile::c_box_column(t, of_all), Tile::c_box_row(t, of_all) + part * A_ROWS,
                       full_of_next());
      }
    }
  }

  // --- the consumers' side
  __device__ void wait_full() const { tma::wait(storage.full + consumer.index, consumer.phase); }
  __device__ unsigned slice() const {
    return first_slice + static_cast<unsigned>(consumer.index * Tile::slice_bytes);
  }
  __device__ void between(int) const {}
  __device__ void between_all() const {}

  /// Epilogue: C less the sums, where it lies in the ring, then out.
  __device__ void finish(const typename Tile::Accumulator& acc, int thread) {
    if (!t.subtract) __syncthreads();  // every slice is read: the result may take any stage
#pragma unroll
    for (int part = 0; part < stages_of_c; ++part, ++consumer) {
      if (t.subtract) wait_full();
      subtract_part(acc, part, thread);
    }
    tma::fence_async_proxy();
    __syncthreads();
    if (Tile::loads(thread)) store_c(Tile::loader(thread));
  }
  /// A thread's elements that lie in stage `part` of C; a warp's columns are all in one.
  __device__ __forceinline__ void subtract_part(const typename Tile::Accumulator& acc, int part,
                                                int thread) const {
#pragma unroll
    for (int g = 0; g < Tile::columns_per_thread / 4; ++g) {
      const ChunkOfC own = Tile::chunk_of_c(thread, g);
      if (own.box / boxes_per_stage != part) continue;
      unsigned char* const at = storage.slices[consumer.index] +
                                own.box % boxes_per_stage * Tile::a_bytes + own.row * row_bytes +
                                16 * swizzled_chunk(own.row, own.chunk);
#pragma unroll
      for (int i = 0; i < Tile::rows_per_thread; ++i) {
        auto* const p = reinterpret_cast<float4*>(at + i * 8 * row_bytes);
        *p = less(t.subtract ? *p : float4{}, &acc.c[i][4 * g]);
      }
    }
  }
  __device__ __forceinline__ void store_c(int loader) const {
    int from = (consumer.index + stages - stages_of_c) % stages;
#pragma unroll Tile::loaders == 1 ? Tile::c_boxes : 1
    for (int box = loader; box < Tile::c_boxes; box += Tile::loaders) {
      if (box == boxes_per_stage) from = from + 1 == stages ? 0 : from + 1;
#pragma unroll
      for (int part = 0; part < parts; ++part) {
        tma::store_tile(&maps.a, Tile::c_box_column(t, box),
                        Tile::c_box_row(t, box) + part * A_ROWS,
                        storage.slices[from] + box % boxes_per_stage * Tile::a_bytes +
                            part * A_ROWS * row_bytes);
      }
    }
    tma::commit_stores();
    tma::wait_stores_read<0>();  // shared memory must outlive the copy
  }
};

}  // namespace
}  // namespace amasia::lud
