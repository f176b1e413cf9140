// Slices, panels and split panels in boxes of tensor maps: what tma and dsm have in common.
#pragma once

#include "apps/lud/blocked.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::lud {
namespace {

/// All threads of a cluster, or of a block: barriers are initialised, boxes may come.
template <int CLUSTER>
__device__ __forceinline__ void meet() {
  if constexpr (CLUSTER > 1) {
    dsm::cluster_arrive_initialised();
    dsm::cluster_wait();
  } else {
    __syncthreads();
  }
}

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

/// A whole tile of a panel: boxes of 32 x 32, an mbarrier per step. Of a cluster's blocks, which
/// have the same triangle, each brings every second square of it, multicast to all.
template <int CLUSTER>
struct PanelBoxes {
  using Tile = PanelTile;
  using View = BlockedMaps;
  static constexpr int cluster = CLUSTER;
  struct SharedStorage {
    unsigned char squares[Tile::all_bytes];
    tma::Barrier full[Tile::steps];
  };
  static constexpr std::size_t shared_bytes = sizeof(SharedStorage);
  static constexpr std::size_t bytes_in_flight = Tile::all_bytes;
  static constexpr std::uint16_t everyone = (1 << cluster) - 1;

  static View view(const Problem& p) {
    return blocked_maps(p, warp_edge, warp_edge, warp_edge, warp_edge);
  }

  SharedStorage& storage;
  const BlockedMaps& maps;
  const TileProduct& t;

  // All copies are started at once, in the order of their use; each warp names every fourth box.
  __device__ PanelBoxes(unsigned char* shared, const View& view, const Problem&,
                        const TileProduct& tile, int thread)
      : storage(*reinterpret_cast<SharedStorage*>(shared)), maps(view), t(tile) {
    if (thread == 0) {
      for (tma::Barrier& full : storage.full) tma::init(&full, 1);
      tma::fence_init();
    }
    meet<cluster>();
    if (thread % 32 != 0) return;
#pragma unroll 1
    for (int step = 0; step < Tile::steps; ++step) {
      if (thread == 0) {
        tma::expect(storage.full + step,
                    static_cast<unsigned>(Tile::squares(step) * Tile::square_bytes));
      }
#pragma unroll 1
      for (int i = thread / 32; i < Tile::squares(step); i += Tile::warps) load(step, i);
    }
  }
  __device__ void load(int step, int i) const {
    const PanelSquare from = Tile::square(t, step, i);
    unsigned char* const to = storage.squares + Tile::place(step, i);
    const CUtensorMap* const map = from.source == Source::matrix  ? &maps.a
                                   : from.source == Source::lower ? &maps.lower
                                                                  : &maps.upper;
    if constexpr (cluster > 1) {
      if (i < Tile::triangles(step)) {
        if (i % cluster != static_cast<int>(dsm::rank())) return;
        tma::load_tile_multicast(to, map, from.column, from.row, storage.full + step, everyone);
        return;
      }
    }
    tma::load_tile(to, map, from.column, from.row, storage.full + step);
  }

  __device__ void wait(int step) const { tma::wait(storage.full + step, 0); }
  __device__ void store(int step) const {
    tma::fence_async_proxy();
    __syncwarp();
    if (threadIdx.x % 32 != 0) return;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const PanelSquare to = Tile::x(t, step, warp);
    tma::store_tile(&maps.a, to.column, to.row, storage.squares + Tile::place_of_x(step, warp));
    tma::commit_stores();
  }
  __device__ void finish() const {
    if (threadIdx.x % 32 == 0) tma::wait_stores_read<0>();  // shared memory must outlive the copies
    // Nobody leaves while boxes that it sends to its neighbours are on their way.
    if constexpr (cluster > 1) {
      __syncwarp();
      dsm::cluster_arrive_initialised();
      dsm::cluster_wait();
    }
  }
};

/// Slices of split panels (tensor_update.cuh): the filling warpgroup's first thread names them. Of
/// a cluster's two blocks, one below the other, each brings half of every slice of U to both.
template <int CLUSTER>
struct TensorBoxes : matrix::SharingBlocks<CLUSTER> {
  struct View {
    CUtensorMap left[2], right[2];
  };
  static constexpr int cluster = CLUSTER, registers = 40, arrivals = 1;
  static constexpr int right_rows = TensorTile::rows / cluster;  // that a block brings
  static constexpr std::size_t bytes_in_flight =
      std::size_t{TensorStages::count} * TensorTile::slice_bytes;
  static constexpr std::uint16_t everyone = (1 << cluster) - 1;

  static View view(const Problem& p) {
    const auto map = [](const Grid<float>& g, int rows) {
      return tensor_map(Grid<const float>{g.data, g.rows, g.columns, g.pitch}, rows, TensorTile::k,
                        Swizzle::bytes128);
    };
    return {{map(p.left[0], TensorTile::rows), map(p.left[1], TensorTile::rows)},
            {map(p.right[0], right_rows), map(p.right[1], right_rows)}};
  }
  static __device__ __forceinline__ void produce(const TensorStages& stages, const View& maps,
                                                 const Problem&, const PlaceInParts& place) {
    if (threadIdx.x != 0) return;
    const CUtensorMap* const of_left = maps.left + place.room;
    const CUtensorMap* const of_right = maps.right + place.room;
    TensorStages::State state;
#pragma unroll 1
    for (int slice = 0; slice < place.slices; ++slice, ++state) {
      const int column = slice * TensorTile::k;
      stages.acquire(state);
      tma::Barrier* const full = stages.full(state);
      unsigned char* const left = stages.at(state);
      unsigned char* const right = left + TensorTile::Slice::a_bytes;
      tma::expect(full, TensorTile::slice_bytes);  // all of U, whoever sends it
      tma::load_tile(left, of_left, column, place.left_row, full);
      if constexpr (cluster > 1) {
        const int rank = static_cast<int>(dsm::rank());
        tma::load_tile_multicast(right + rank * right_rows * 128, of_right, column,
                                 place.right_row + rank * right_rows, full, everyone);
      } else {
        tma::load_tile(right, of_right, column, place.right_row, full);
      }
    }
  }
};

/// A ring of slices: `full` says that a stage's boxes have arrived, `empty` that all warps have
/// read it. Behind the last slices C comes, while they are multiplied, is updated where it lies,
/// and leaves by bulk tensor stores. A_ROWS: of the map's boxes of A. C comes and leaves in boxes
/// of that shape, whose permutation keeps its rows off each other's banks: a large tile's in two
/// stages, a small one's in one. Mover::produce(loader): the boxes of the next stage.
template <class Mover, class TileT, int CLUSTER, int A_ROWS>
struct BoxRing {
  using Tile = TileT;
  using Panel = PanelBoxes<CLUSTER>;
  using Feed = TensorBoxes<CLUSTER>;
  using View = BlockedMaps;
  using Blocks = matrix::SharingBlocks<CLUSTER>;
  static constexpr int cluster = CLUSTER;
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

  /// By a mover's constructor: the barriers, and the first stages.
  __device__ void begin(int thread) {
    if (thread == 0) {
#pragma unroll
      for (int s = 0; s < stages; ++s) {
        tma::init(storage.full + s, 1);
        tma::init(storage.empty + s, cluster * Tile::threads / 32);  // warps that read
      }
      tma::fence_init();
    }
    meet<cluster>();
    if (Tile::loads(thread)) {
#pragma unroll 1
      for (int s = 0; s < stages - 1; ++s) static_cast<Mover*>(this)->produce(Tile::loader(thread));
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
  __device__ void acquire() {
    const int thread = static_cast<int>(threadIdx.x);
    if (Tile::loads(thread)) static_cast<Mover*>(this)->produce(Tile::loader(thread));
    wait_full();
  }
  __device__ void release() {
    __syncwarp();
    if (Blocks::arrives()) Blocks::arrive(storage.empty + consumer.index);
    ++consumer;
  }
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
