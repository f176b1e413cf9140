// lud/tma: one elected thread names boxes of the matrix, an mbarrier per stage counts their bytes.
// The elements of C travel as boxes, too, through the ring's stages as they become free, are
// updated where they lie, and leave by bulk tensor stores; so nobody computes an address of global
// memory. Boxes end at the matrix's edge by themselves.
#include "apps/lud/blocked.cuh"
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

__device__ void begin(tma::Barrier* arrived) {
  if (threadIdx.x == 0) {
    tma::init(arrived, 1);
    tma::fence_init();
  }
  __syncthreads();
}
__device__ void load(float* to, const RodiniaMaps& maps, TileOrigin from, tma::Barrier* arrived) {
  tma::load_tile(to, &maps.tile, static_cast<int>(from.column), static_cast<int>(from.row),
                 arrived);
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
  __shared__ tma::Barrier arrived;
  const int lane = threadIdx.x;
  begin(&arrived);
  if (lane == 0) {
    tma::expect(&arrived, RodiniaTile::bytes);
    load(own, maps, {s.first, s.first}, &arrived);
  }
  tma::wait(&arrived, 0);
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
  __shared__ tma::Barrier arrived;
  const int lane = threadIdx.x, i = static_cast<int>(blockIdx.x);
  begin(&arrived);
  if (lane == 0) {
    tma::expect(&arrived, 3 * RodiniaTile::bytes);
    load(diagonal_tile, maps, {s.first, s.first}, &arrived);
    load(beside, maps, s.beside(i), &arrived);
    load(below, maps, s.below(i), &arrived);
  }
  tma::wait(&arrived, 0);
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
  __shared__ tma::Barrier arrived[stages];
  const int thread = threadIdx.x;
  const RowOfTiles<Schedule> tiles(s);
  const auto origin = [&](int i) {
    return TileOrigin{s.next() + std::int64_t{blockIdx.y} * tile,
                      s.next() + std::int64_t{i} * tile};
  };
  const auto ask_for = [&](int i, int stage, int bytes) {
    tma::expect(&arrived[stage], bytes);
    load(beside[stage], maps, s.beside(i), &arrived[stage]);
    load(own[stage], maps, origin(i), &arrived[stage]);
  };

  // Prologue
  if (thread == 0) {
    for (tma::Barrier& b : arrived) tma::init(&b, 1);
    tma::fence_init();
  }
  __syncthreads();
  if (thread == 0) {
    ask_for(tiles.begin, 0, 3 * RodiniaTile::bytes);
    load(below, maps, s.below(static_cast<int>(blockIdx.y)), &arrived[0]);
    if (stages > 1 && tiles.begin + 1 < tiles.end) {
      ask_for(tiles.begin + 1, 1, 2 * RodiniaTile::bytes);
    }
  }

  // Main loop
  PipelineState<stages> state;
  for (int i = tiles.begin; i < tiles.end; ++i, ++state) {
    const int stage = state.index;
    tma::wait(&arrived[stage], state.phase);
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

struct BlockedMaps {
  CUtensorMap a, b;          // of the matrix: boxes of A, permuted, and of B
  CUtensorMap lower, upper;  // of the diagonal block's L and U: boxes of A, and of B
};

/// Rows by bulk copies, because rows in shared memory lie further apart than a box's.
struct BulkRows {
  static constexpr int cluster = 1;
  static constexpr bool pads = false;
  static __device__ bool load(unsigned char* shared, const Problem& p, int first, int size,
                              int thread) {
    auto& d = *reinterpret_cast<DiagonalBlock*>(shared);
    auto* barrier = reinterpret_cast<tma::Barrier*>(shared + sizeof(DiagonalBlock));
    if (thread == 0) {
      tma::init(barrier, 1);
      tma::fence_init();
    }
    __syncthreads();
    const unsigned row_bytes =
        static_cast<unsigned>((size + 3) / 4 * 16);  // the padding is readable
    if (thread == 0) tma::expect(barrier, static_cast<unsigned>(size) * row_bytes);
    if (thread % 32 == 0) {  // one warp alone would take longer than the rows do
      for (int row = thread / 32; row < size; row += block_threads / 32) {
        tma::load_bytes(d.lu + row * block_pitch, &p.matrix.at(first + row, first), row_bytes,
                        barrier);
      }
    }
    tma::wait(barrier, 0);
    __syncthreads();
    return true;
  }
};

template <class TileT>
struct Bulk {
  using Tile = TileT;
  using Diagonal = BulkRows;
  using View = BlockedMaps;
  static constexpr int cluster = 1, stages = 3;
  static constexpr std::size_t shared_bytes =
      stages * (Tile::slice_bytes + 2 * sizeof(tma::Barrier));
  static constexpr std::size_t bytes_in_flight = (stages - 1) * Tile::slice_bytes;
  // C comes and leaves in boxes of A's shape, whose permutation keeps its rows off each other's
  // banks, in the ring's stages: a large tile's in two, a small one's in one.
  static constexpr int boxes_per_stage = Tile::c_boxes_per_stage;
  static constexpr int stages_of_c = Tile::c_boxes / boxes_per_stage;
  static constexpr int row_bytes = Tile::k * 4;

  static View view(const Problem& p) {
    const auto readable = [](const Grid<float>& g) {
      return Grid<const float>{g.data, g.rows, g.columns, g.pitch};
    };
    using T = Tile;
    return {tensor_map(readable(p.matrix), T::a_box_rows, T::k, Swizzle::bytes128),
            tensor_map(readable(p.matrix), T::k, T::b_box_columns),
            tensor_map(readable(p.lower), T::a_box_rows, T::k, Swizzle::bytes128),
            tensor_map(readable(p.upper), T::k, T::b_box_columns)};
  }

  unsigned char* ring;     // (stages, slice)
  unsigned base;           // its shared address
  tma::Barrier* arrived;   // (stages)
  tma::Barrier* released;  // (stages): the warps that have read it
  const View& maps;
  const TileProduct& t;
  int slices;
  int stage = 0;
  unsigned parity = 0;
  // The loaders', one thread of each warp that loads: what they fetch next.
  int next = 0, next_stage = 0;
  unsigned next_parity = 1;  // a ring's first round waits for nothing

  __device__ Bulk(unsigned char* shared, const View& view, const Problem&, const TileProduct& tile,
                  int thread)
      : ring(shared),
        base(async::shared_address(shared)),
        arrived(reinterpret_cast<tma::Barrier*>(shared + stages * Tile::slice_bytes)),
        released(arrived + stages),
        maps(view),
        t(tile),
        slices(tile.depth / Tile::k) {
    if (thread == 0) {
#pragma unroll
      for (int s = 0; s < stages; ++s) {
        tma::init(arrived + s, 1);
        tma::init(released + s, Tile::threads / 32);
      }
      tma::fence_init();
    }
    __syncthreads();
    if (Tile::loads(thread)) {
#pragma unroll 1
      for (int s = 0; s < stages - 1; ++s) fetch(Tile::loader(thread));
    }
  }

  // A loader's boxes of a slice, or, behind the last one, of a stage of C. What was read as numbers
  // is ordered before the engine's writes by the mbarrier. The first loader announces the bytes of
  // all; those that are earlier do not complete the phase, which it has to arrive at.
  __device__ void fetch(int loader) {
    const bool of_c = next >= slices;
    if (next == slices + (t.subtract ? stages_of_c : 0)) return;
    tma::wait(released + next_stage, next_parity);
    tma::Barrier* const barrier = arrived + next_stage;
    unsigned char* const to = ring + next_stage * Tile::slice_bytes;
    if (loader == 0) {
      tma::expect(barrier, of_c ? boxes_per_stage * Tile::a_bytes : Tile::bytes_of_slice(t));
    }
    if (of_c) {
#pragma unroll Tile::loaders == 1 ? boxes_per_stage : 1
      for (int box = loader; box < boxes_per_stage; box += Tile::loaders) {
        const int of_all = (next - slices) * boxes_per_stage + box;
        tma::load_tile(to + box * Tile::a_bytes, &maps.a, Tile::c_box_column(t, of_all),
                       Tile::c_box_row(t, of_all), barrier);
      }
    } else {
      const int k = next * Tile::k;
      const int of_a = Tile::boxes_of_a(t), all = of_a + Tile::boxes_of_b(t);
      const CUtensorMap* a_map = t.a_source == Source::matrix ? &maps.a : &maps.lower;
      const CUtensorMap* b_map = t.b_source == Source::matrix ? &maps.b : &maps.upper;
#pragma unroll Tile::loaders == 1 ? 2 : 1
      for (int box = loader; box < all; box += Tile::loaders) {
        const bool is_a = box < of_a;
        const int of_operand = is_a ? box : box - of_a;
        tma::load_tile(to + (is_a ? 0 : of_a * Tile::a_bytes) +
                           of_operand * (is_a ? Tile::a_bytes : Tile::b_bytes),
                       is_a ? a_map : b_map,
                       is_a ? t.a_column + k : t.b_column + of_operand * Tile::b_box_columns,
                       is_a ? t.a_row + of_operand * Tile::a_box_rows : t.b_row + k, barrier);
      }
    }
    ++next;
    if (++next_stage == stages) next_stage = 0, next_parity ^= 1;
  }
  __device__ void acquire() {
    const int thread = static_cast<int>(threadIdx.x);
    if (Tile::loads(thread)) fetch(Tile::loader(thread));
    tma::wait(arrived + stage, parity);
  }
  __device__ unsigned slice() const {
    return base + static_cast<unsigned>(stage * Tile::slice_bytes);
  }
  __device__ void between(int) const {}
  __device__ void step() {
    if (++stage == stages) stage = 0, parity ^= 1;
  }
  __device__ void release() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) tma::arrive(released + stage);
    step();
  }
  __device__ void finish(const typename Tile::Accumulator& acc, int thread) {
    if (!t.subtract) __syncthreads();  // every slice is read: the result may take any stage
#pragma unroll
    for (int part = 0; part < stages_of_c; ++part, step()) {
      if (t.subtract) tma::wait(arrived + stage, parity);
#pragma unroll
      for (int g = 0; g < Tile::columns_per_thread / 4; ++g) {
        const ChunkOfC own = Tile::chunk_of_c(thread, g);
        // A warp's columns are all in one stage.
        if (own.box / boxes_per_stage != part) continue;
        unsigned char* const at = ring + stage * Tile::slice_bytes +
                                  own.box % boxes_per_stage * Tile::a_bytes + own.row * row_bytes +
                                  16 * swizzled_chunk(own.row, own.chunk);
#pragma unroll
        for (int i = 0; i < Tile::rows_per_thread; ++i) {
          auto* const p = reinterpret_cast<float4*>(at + i * 8 * row_bytes);
          *p = less(t.subtract ? *p : float4{}, &acc.c[i][4 * g]);
        }
      }
    }
    tma::fence_async_proxy();
    __syncthreads();
    if (Tile::loads(thread)) {
      int from = (stage + stages - stages_of_c) % stages;
#pragma unroll Tile::loaders == 1 ? Tile::c_boxes : 1
      for (int box = Tile::loader(thread); box < Tile::c_boxes; box += Tile::loaders) {
        if (box == boxes_per_stage) from = from + 1 == stages ? 0 : from + 1;
        tma::store_tile(&maps.a, Tile::c_box_column(t, box), Tile::c_box_row(t, box),
                        ring + from * Tile::slice_bytes + box % boxes_per_stage * Tile::a_bytes);
      }
      tma::commit_stores();
      tma::wait_stores_read<0>();  // shared memory must outlive the copy
    }
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
