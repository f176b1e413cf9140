// lud/tma: one elected thread names boxes of the matrix, an mbarrier per stage counts their bytes.
// The elements of C travel as boxes, too, through the ring's stages as they become free, are
// updated where they lie, and leave by bulk tensor stores; so nobody computes an address of global
// memory. Boxes end at the matrix's edge by themselves.
#include "apps/lud/blocked.cuh"
#include "apps/lud/rodinia.cuh"
#include "variants/bulk.cuh"
#include "variants/tensor_map.hpp"

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

__global__ void __launch_bounds__(internal_threads)
    rodinia_internal(RodiniaStep s, const __grid_constant__ RodiniaMaps maps) {
  __shared__ alignas(128) float beside[tile_elements];
  __shared__ alignas(128) float below[tile_elements];
  __shared__ alignas(128) float own[tile_elements];
  __shared__ tma::Barrier arrived;
  const int thread = threadIdx.x;
  const int i = static_cast<int>(blockIdx.y), j = static_cast<int>(blockIdx.x);
  const TileOrigin origin{s.next() + std::int64_t{i} * tile, s.next() + std::int64_t{j} * tile};
  begin(&arrived);
  if (thread == 0) {
    tma::expect(&arrived, 3 * RodiniaTile::bytes);
    load(beside, maps, s.beside(j), &arrived);
    load(below, maps, s.below(i), &arrived);
    load(own, maps, origin, &arrived);
  }
  tma::wait(&arrived, 0);
  own[thread] -= inner_product(below, beside, thread / tile, thread % tile);
  tma::fence_async_proxy();
  __syncthreads();
  if (thread == 0) {
    store(maps, origin, own);
    finish_stores();
  }
}

struct BlockedMaps {
  CUtensorMap a;                             // of the matrix: 128 rows x 32 columns, swizzled
  CUtensorMap b;                             // 32 rows x 128 columns
  CUtensorMap c;                             // 128 rows x 64 columns
  CUtensorMap lower_inverse, upper_inverse;  // boxes of a and of b
};

struct Bulk {
  using View = BlockedMaps;
  static constexpr int cluster = 1, stages = 3;
  static constexpr std::size_t shared_bytes = stages * slice_bytes + 128;
  static constexpr bool pads = false;
  // C comes in two halves of 64 columns, a stage each, after the slices.
  static constexpr int halves = 2, half_columns = BlockTile::n / halves;
  static_assert(BlockTile::m * half_columns * 4 == slice_bytes, "half of C is a stage");

  static View view(const Problem& p) {
    const auto readable = [](const Grid<float>& g) {
      return Grid<const float>{g.data, g.rows, g.columns, g.pitch};
    };
    using T = BlockTile;
    return {tensor_map(readable(p.matrix), T::m, T::k, Swizzle::bytes128),
            tensor_map(readable(p.matrix), T::k, T::n),
            tensor_map(readable(p.matrix), T::m, half_columns),
            tensor_map(readable(p.lower_inverse), T::m, T::k, Swizzle::bytes128),
            tensor_map(readable(p.upper_inverse), T::k, T::n)};
  }

  float* ring;             // (stages, slice)
  tma::Barrier* arrived;   // (stages)
  tma::Barrier* released;  // (stages): the warps that have read it
  const View& maps;
  const TileProduct& t;

  // Rows by bulk copies, because rows in shared memory lie further apart than a box's.
  static __device__ bool load_block(unsigned char* shared, const View&, const Problem& p, int first,
                                    int size, int thread) {
    auto& d = *reinterpret_cast<DiagonalBlock*>(shared);
    auto* barrier = reinterpret_cast<tma::Barrier*>(shared + sizeof(DiagonalBlock));
    if (thread == 0) {
      tma::init(barrier, 1);
      tma::fence_init();
    }
    __syncthreads();
    const unsigned row_bytes =
        static_cast<unsigned>((size + 3) / 4 * 16);  // the padding is readable
    if (thread == 0) {
      tma::expect(barrier, static_cast<unsigned>(size) * row_bytes);
      for (int row = 0; row < size; ++row) {
        tma::load_bytes(d.lu + row * block_pitch, &p.matrix.at(first + row, first), row_bytes,
                        barrier);
      }
    }
    tma::wait(barrier, 0);
    __syncthreads();
    return true;
  }

  __device__ Bulk(unsigned char* shared, const View& view, const Problem&, const TileProduct& tile,
                  int thread)
      : ring(reinterpret_cast<float*>(shared)),
        arrived(reinterpret_cast<tma::Barrier*>(shared + stages * slice_bytes)),
        released(arrived + stages),
        maps(view),
        t(tile) {
    if (thread == 0) {
#pragma unroll
      for (int s = 0; s < stages; ++s) {
        tma::init(arrived + s, 1);
        tma::init(released + s, BlockTile::threads / 32);
      }
      tma::fence_init();
    }
    __syncthreads();
    if (thread == 0) {
#pragma unroll
      for (int s = 0; s < stages; ++s) fetch(s);
    }
  }
  __device__ float* stage(int s) const { return ring + s % stages * BlockTile::slice_elements; }
  __device__ const float* a(int s) const { return stage(s); }
  __device__ const float* b(int s) const { return stage(s) + BlockTile::a_elements; }

  // The elected thread: slices, then the halves of C.
  __device__ void fetch(int s) const {
    tma::Barrier* const barrier = arrived + s % stages;
    if (s < slices) {
      tma::expect(barrier, slice_bytes);
      tma::load_tile(stage(s), t.a_source == Source::matrix ? &maps.a : &maps.lower_inverse,
                     t.a_column + s * BlockTile::k, t.a_row, barrier);
      tma::load_tile(stage(s) + BlockTile::a_elements,
                     t.b_source == Source::matrix ? &maps.b : &maps.upper_inverse, t.b_column,
                     t.b_row + s * BlockTile::k, barrier);
    } else if (t.subtract) {
      tma::expect(barrier, slice_bytes);
      tma::load_tile(stage(s), &maps.c, t.c_column + (s - slices) * half_columns, t.c_row, barrier);
    }
  }
  __device__ void acquire(int s) const { tma::wait(arrived + s % stages, s / stages & 1); }
  __device__ void between(int, int) const {}
  // What comes `stages` later may take the place of slice s once all warps have read it. Slices
  // that were read as numbers are ordered before the engine's writes by the mbarrier.
  __device__ void release(int s) const {
    __syncwarp();
    if (threadIdx.x % 32 == 0) tma::arrive(released + s % stages);
    if (s + stages < slices + halves && threadIdx.x == 0) {
      tma::wait(released + s % stages, s / stages & 1);
      fetch(s + stages);
    }
  }
  __device__ void finish(const Accumulator& acc) const {
    const int thread = static_cast<int>(threadIdx.x);
    __syncthreads();  // every slice is read: a panel's result may take any stage
#pragma unroll
    for (int half = 0; half < halves; ++half) {
      float* const c = stage(slices + half);
      if (t.subtract) acquire(slices + half);
      if (thread / 32 % halves == half) {  // the half that this warp's columns are in
#pragma unroll
        for (int i = 0; i < BlockTile::rows_per_thread; ++i) {
#pragma unroll
          for (int g = 0; g < 2; ++g) {
            auto* p = reinterpret_cast<float4*>(c + BlockTile::row(thread, i) * half_columns +
                                                BlockTile::column(thread, g) % half_columns);
            *p = finished(acc, i, g, t.subtract, t.subtract ? *p : float4{});
          }
        }
      }
    }
    tma::fence_async_proxy();
    __syncthreads();
    if (thread == 0) {
#pragma unroll
      for (int half = 0; half < halves; ++half) {
        tma::store_tile(&maps.c, t.c_column + half * half_columns, t.c_row, stage(slices + half));
      }
      tma::commit_stores();
      tma::wait_stores_read<0>();  // shared memory must outlive the copy
    }
  }
};

ConfigOf<Problem> iso() {
  ConfigOf<Problem> config;
  config.info = {"iso",
                 rodinia_geometry,
                 {{reinterpret_cast<const void*>(rodinia_internal), internal_threads, 0, 1,
                   3 * RodiniaTile::bytes},
                  {reinterpret_cast<const void*>(rodinia_perimeter), 32},
                  {reinterpret_cast<const void*>(rodinia_diagonal), 32}}};
  config.prepare = [](const Problem& p, const Device&) -> Launch {
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
        [maps](const RodiniaStep& s, unsigned side, Stream stream) {
          launch(rodinia_internal, {dim3(side, side), dim3(internal_threads)}, stream, s, maps);
        });
  };
  return config;
}

const bool registered = register_variant<Problem>(
    "lud", Strategy::tma, {iso(), blocked<Bulk>("blocked-128", Bulk::stages, 3 * slice_bytes)});

}  // namespace
}  // namespace amasia::lud
