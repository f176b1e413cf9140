// lud/tma: one elected thread names boxes of the matrix, an mbarrier per stage counts their bytes.
// The elements of C travel as boxes, too (box_ring.cuh), so nobody computes an address of global
// memory. Boxes end at the matrix's edge by themselves.
#include "apps/lud/blocked.cuh"
#include "apps/lud/box_ring.cuh"
#include "apps/lud/panel_boxes.cuh"
#include "apps/lud/rodinia.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/geometry/pipeline_state.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/shared_memory.cuh"
#include "variants/ptx/tensor.cuh"

namespace amasia::lud {
namespace {

struct RodiniaMaps {
  CUtensorMap tile;  // boxes of 16 x 16
};

__device__ void begin(tma::Barrier* full) {
  if (threadIdx.x == 0) {
    tma::init(full, 1);
    tma::fence_init();
  }
  __syncthreads();
}
__device__ void load(float* to, const RodiniaMaps& maps, TileOrigin from, tma::Barrier* full) {
  tma::load_tile(to, &maps.tile, static_cast<int>(from.column), static_cast<int>(from.row), full);
}
__device__ void store(const RodiniaMaps& maps, TileOrigin to, const float* from) {
  tma::store_tile(&maps.tile, static_cast<int>(to.column), static_cast<int>(to.row), from);
}
__device__ void finish_stores() {
  tma::commit_stores();
  tma::wait_stores_read<0>();  // shared memory must outlive the copy
}

__global__ void __launch_bounds__(32)
    rodinia_diagonal(RodiniaStep s, const __grid_constant__ RodiniaMaps maps) {
  __shared__ alignas(128) float own[tile_elements];
  __shared__ tma::Barrier full;
  const int lane = threadIdx.x;
  begin(&full);
  if (lane == 0) {
    tma::expect(&full, RodiniaTile::bytes);
    load(own, maps, {s.first, s.first}, &full);
  }
  tma::wait(&full, 0);
  factor_tile(own, s.size(), lane);
  tma::fence_async_proxy();
  __syncthreads();
  if (lane == 0) {
    store(maps, {s.first, s.first}, own);
    finish_stores();
  }
}

__global__ void __launch_bounds__(32)
    rodinia_perimeter(RodiniaStep s, const __grid_constant__ RodiniaMaps maps) {
  __shared__ alignas(128) float diagonal_tile[tile_elements];
  __shared__ alignas(128) float beside[tile_elements];
  __shared__ alignas(128) float below[tile_elements];
  __shared__ tma::Barrier full;
  const int lane = threadIdx.x, i = static_cast<int>(blockIdx.x);
  begin(&full);
  if (lane == 0) {
    tma::expect(&full, 3 * RodiniaTile::bytes);
    load(diagonal_tile, maps, {s.first, s.first}, &full);
    load(beside, maps, s.beside(i), &full);
    load(below, maps, s.below(i), &full);
  }
  tma::wait(&full, 0);
  solve_perimeter(diagonal_tile, beside, below, lane);
  tma::fence_async_proxy();
  __syncthreads();
  if (lane == 0) {
    store(maps, s.beside(i), beside);
    store(maps, s.below(i), below);
    finish_stores();
  }
}

// Walking, two stages: what follows the next tile is asked for as soon as this one has left.
template <class Schedule>
__global__ void __launch_bounds__(internal_threads)
    rodinia_internal(RodiniaStep s, const __grid_constant__ RodiniaMaps maps) {
  constexpr int stages = Schedule::tiles > 1 ? 2 : 1;
  __shared__ alignas(128) float beside[stages][tile_elements];
  __shared__ alignas(128) float below[tile_elements];
  __shared__ alignas(128) float own[stages][tile_elements];  // of C
  __shared__ tma::Barrier full[stages];
  const int thread = threadIdx.x;
  const RowOfTiles<Schedule> tiles(s);
  const auto origin = [&](int i) {
    return TileOrigin{s.next() + std::int64_t{blockIdx.y} * tile,
                      s.next() + std::int64_t{i} * tile};
  };
  const auto ask_for = [&](int i, int stage, int bytes) {
    tma::expect(&full[stage], bytes);
    load(beside[stage], maps, s.beside(i), &full[stage]);
    load(own[stage], maps, origin(i), &full[stage]);
  };

  // Prologue
  if (thread == 0) {
    for (tma::Barrier& b : full) tma::init(&b, 1);
    tma::fence_init();
  }
  __syncthreads();
  if (thread == 0) {
    ask_for(tiles.begin, 0, 3 * RodiniaTile::bytes);
    load(below, maps, s.below(static_cast<int>(blockIdx.y)), &full[0]);
    if (stages > 1 && tiles.begin + 1 < tiles.end) {
      ask_for(tiles.begin + 1, 1, 2 * RodiniaTile::bytes);
    }
  }

  // Main loop
  PipelineState<stages> state;
  for (int i = tiles.begin; i < tiles.end; ++i, ++state) {
    const int stage = state.index;
    tma::wait(&full[stage], state.phase);
    own[stage][thread] -= inner_product(below, beside[stage], thread / tile, thread % tile);
    tma::fence_async_proxy();
    __syncthreads();
    if (thread == 0) {
      store(maps, origin(i), own[stage]);
      finish_stores();
      if (i + stages < tiles.end) ask_for(i + stages, stage, 2 * RodiniaTile::bytes);
    }
  }
}

/// Rows by bulk copies, because rows in shared memory lie further apart than a box's.
struct BulkRows {
  static constexpr int cluster = 1;
  static constexpr bool pads = false;
  static __device__ bool load(unsigned char* shared, const Problem& p, int first, int size,
                              int thread) {
    auto& d = *reinterpret_cast<DiagonalBlock*>(shared);
    auto* const full = reinterpret_cast<tma::Barrier*>(shared + sizeof(DiagonalBlock));
    if (thread == 0) {
      tma::init(full, 1);
      tma::fence_init();
    }
    __syncthreads();
    const unsigned row_bytes =
        static_cast<unsigned>((size + 3) / 4 * 16);  // the padding is readable
    if (thread == 0) tma::expect(full, static_cast<unsigned>(size) * row_bytes);
    if (thread % 32 == 0) {  // one warp alone would take longer than the rows do
      for (int row = thread / 32; row < size; row += block_threads / 32) {
        tma::load_bytes(d.lu + row * block_pitch, &p.matrix.at(first + row, first), row_bytes,
                        full);
      }
    }
    tma::wait(full, 0);
    __syncthreads();
    return true;
  }
};

/// Every operand in boxes.
template <class TileT>
struct Bulk : BoxRing<TileT, TileT::a_box_rows> {
  using Tile = TileT;
  using Ring = BoxRing<Tile, Tile::a_box_rows>;
  using Diagonal = BulkRows;
  using Panel = PanelBoxes<1>;
  using View = BlockedMaps;
  using Ring::consumer, Ring::produced, Ring::storage, Ring::t;
  static constexpr int cluster = 1, stages = Ring::stages;

  static View view(const Problem& p) {
    return blocked_maps(p, Tile::a_box_rows, Tile::k, Tile::k, Tile::b_box_columns);
  }

  __device__ Bulk(unsigned char* shared, const View& view, const Problem&, const TileProduct& tile,
                  int thread)
      : Ring(shared, view, tile) {
    this->init(thread, Tile::threads / 32);
    __syncthreads();
    if (Tile::loads(thread)) {
#pragma unroll 1
      for (int s = 0; s < stages - 1; ++s) produce(Tile::loader(thread));
    }
  }

  /// A producer's boxes of the next slice or stage of C.
  __device__ void produce(int loader) {
    if (this->all_produced()) return;
    this->acquire_empty();
    this->expect_next(loader);
    if (this->next_is_c()) {
      this->load_c(loader);
    } else {
      load_slice(this->next_stage(), this->full_of_next(), loader);
    }
    this->advance();
  }
  __device__ __forceinline__ void load_slice(unsigned char* to, tma::Barrier* full,
                                             int loader) const {
    const int k = produced * Tile::k;
    const int of_a = Tile::boxes_of_a(t), all = of_a + Tile::boxes_of_b(t);
    const CUtensorMap* const a_map = this->map_of_a();
    const CUtensorMap* const b_map = this->map_of_b();
#pragma unroll Tile::loaders == 1 ? 2 : 1
    for (int box = loader; box < all; box += Tile::loaders) {
      const bool is_a = box < of_a;
      const int of_operand = is_a ? box : box - of_a;
      tma::load_tile(to + (is_a ? 0 : of_a * Tile::a_bytes) +
                         of_operand * (is_a ? Tile::a_bytes : Tile::b_bytes),
                     is_a ? a_map : b_map,
                     is_a ? t.a_column + k : t.b_column + of_operand * Tile::b_box_columns,
                     is_a ? t.a_row + of_operand * Tile::a_box_rows : t.b_row + k, full);
    }
  }

  __device__ void acquire() {
    const int thread = static_cast<int>(threadIdx.x);
    if (Tile::loads(thread)) produce(Tile::loader(thread));
    this->wait_full();
  }
  __device__ void release() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) tma::arrive(storage.empty + consumer.index);
    ++consumer;
  }
};

template <class Schedule>
ConfigOf<Problem> original() {
  const auto internal = rodinia_internal<Schedule>;
  ConfigOf<Problem> config;
  config.info = rodinia_info<Schedule>(
      Schedule::tiles > 1 ? 2 : 1,
      {{reinterpret_cast<const void*>(internal), internal_threads, 0, 1, 3 * RodiniaTile::bytes},
       {reinterpret_cast<const void*>(rodinia_perimeter), 32},
       {reinterpret_cast<const void*>(rodinia_diagonal), 32}});
  config.prepare = [=](const Problem& p, const Device&) -> Launch {
    const Grid<float>& m = p.matrix;
    const RodiniaMaps maps{
        tensor_map(Grid<const float>{m.data, m.rows, m.columns, m.pitch}, tile, tile)};
    return rodinia(
        p,
        [maps](const RodiniaStep& s, Stream stream) {
          launch(rodinia_diagonal, {dim3(1), dim3(32)}, stream, s, maps);
        },
        [maps](const RodiniaStep& s, unsigned side, Stream stream) {
          launch(rodinia_perimeter, {dim3(side), dim3(32)}, stream, s, maps);
        },
        [=](const RodiniaStep& s, unsigned side, Stream stream) {
          launch(internal, {internal_grid<Schedule>(side), dim3(internal_threads)}, stream, s,
                 maps);
        });
  };
  return config;
}

const bool registered = register_variant<Problem>(
    "lud", Strategy::tma, configs<Bulk>(original<Iso>(), original<IsoWalk>()));

}  // namespace
}  // namespace amasia::lud
