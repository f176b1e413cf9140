// A ring of slices in shared memory that bulk copies fill and warps read: what the movers of tma
// and dsm have in common. `full` says that a stage's boxes have arrived, `empty` that all warps
// have read it.
#pragma once

#include "apps/lud/tiles.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/geometry/pipeline_state.hpp"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/shared_memory.cuh"

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

template <class Tile>
struct BoxRing {
  static constexpr int stages = 3;
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

  // --- the consumers' side
  __device__ void wait_full() const { tma::wait(storage.full + consumer.index, consumer.phase); }
  __device__ unsigned slice() const {
    return first_slice + static_cast<unsigned>(consumer.index * Tile::slice_bytes);
  }
  __device__ void between(int) const {}
  __device__ void between_all() const {}
};

}  // namespace
}  // namespace amasia::lud
