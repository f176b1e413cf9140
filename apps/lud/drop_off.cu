// lud/drop_off: the elements of C that a thread updates are read by nobody else, so they travel to
// a slot of its own while the product is computed, and the thread waits for them alone (Svedin et
// al. 2021, algorithm 3). The panels are shared by the block; they move as in overlap. The slots
// are the ring's stages again: when its last slices are being multiplied, the first stages are free
// for C.
#include "apps/lud/rodinia.cuh"
#include "apps/lud/staged.cuh"

namespace amasia::lud {
namespace {

// iso: in the diagonal and perimeter kernels a warp is the block, and a lane's columns are its own
// when it starts; what others wrote it never reads before a barrier of the computation.
__global__ void __launch_bounds__(32) rodinia_diagonal(RodiniaStep s) {
  __shared__ alignas(16) float slot[tile_elements];
  __shared__ alignas(16) float own[tile_elements];
  const int lane = threadIdx.x;
  async::copy_tile<RodiniaTile, 32>(slot, s.source(), {s.first, s.first}, lane);
  async::commit();
  async::wait<0>();
  for (int e = lane; e < RodiniaTile::chunks; e += 32) {  // its own chunks, nobody else's
    reinterpret_cast<float4*>(own)[e] = reinterpret_cast<const float4*>(slot)[e];
  }
  __syncthreads();
  factor_tile(own, s.size(), lane);
  store_rows(s, {s.first, s.first}, own, lane, 32);
}

__global__ void __launch_bounds__(32) rodinia_perimeter(RodiniaStep s) {
  __shared__ alignas(16) float diagonal_tile[tile_elements];
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  __shared__ float slots[tile][tile];  // (rows, lanes): private columns of `beside`
  const int lane = threadIdx.x, i = static_cast<int>(blockIdx.x);
  async::copy_tile<RodiniaTile, 32>(diagonal_tile, s.source(), {s.first, s.first}, lane);
  async::copy_tile<RodiniaTile, 32>(below, s.source(), s.below(i), lane);
  async::commit();
  const TileOrigin to = s.beside(i);
  const bool owns = lane < tile && to.column + lane < s.m.columns;
#pragma unroll
  for (int r = 0; r < tile; ++r) {
    if (owns) async::copy<4>(&slots[r][lane], &s.m.at(to.row + r, to.column + lane));
  }
  async::commit();
  async::wait<0>();
#pragma unroll
  for (int r = 0; r < tile; ++r) {
    if (lane < tile) beside[r * tile + lane] = owns ? slots[r][lane] : 0.0f;
  }
  __syncthreads();
  solve_perimeter(diagonal_tile, beside, below, lane);
  __syncthreads();
  store_rows(s, s.beside(i), beside, lane, 32);
  store_rows(s, s.below(i), below, lane, 32);
}

__global__ void __launch_bounds__(internal_threads) rodinia_internal(RodiniaStep s) {
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  __shared__ float slot[internal_threads];  // each thread's element of C
  const int thread = threadIdx.x, row = thread / tile, column = thread % tile;
  async::copy_tile<RodiniaTile, internal_threads>(beside, s.source(),
                                                  s.beside(static_cast<int>(blockIdx.x)), thread);
  async::copy_tile<RodiniaTile, internal_threads>(
      below, s.source(), s.below(static_cast<int>(blockIdx.y)), thread ^ RodiniaTile::chunks);
  async::commit();
  const std::int64_t i = s.next() + std::int64_t{blockIdx.y} * tile + row;
  const std::int64_t j = s.next() + std::int64_t{blockIdx.x} * tile + column;
  const bool inside = i < s.m.rows && j < s.m.columns;
  if (inside) async::copy<4>(&slot[thread], &s.m.at(i, j));
  async::commit();
  async::wait<1>();  // the tiles; the element is still on its way
  __syncthreads();
  const float product = inner_product(below, beside, row, column);
  async::wait<0>();
  if (inside) s.m.at(i, j) = slot[thread] - product;
}

struct OwnSlots {
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1, stages = 3;
  static constexpr std::size_t shared_bytes = stages * slice_bytes;
  static constexpr bool pads = true;
  // Half of C fills one stage: four of a thread's eight rows, 8 chunks of 16 bytes.
  static constexpr int rows_per_slot = BlockTile::rows_per_thread / 2;
  static_assert(rows_per_slot * 2 * 16 * BlockTile::threads == slice_bytes, "half of C is a stage");

  float* ring;  // (stages, slice)
  Pieces pieces;
  const Problem& problem;
  const TileProduct& t;

  // Each thread waits for its own chunks of the diagonal block, pads them, and publishes them.
  static __device__ bool load_block(unsigned char* shared, View, const Problem& p, int first,
                                    int size, int thread) {
    float* const lu = reinterpret_cast<DiagonalBlock*>(shared)->lu;
    copy_block(lu, p, first, size, thread);
    async::commit();
    async::wait<0>();
    for (int e = thread; e < panel_width * panel_width / 4; e += block_threads) {
      const int row = e / (panel_width / 4), column = e % (panel_width / 4) * 4;
      pad_chunk(lu + row * block_pitch, row, column, size);
    }
    __syncthreads();
    return true;
  }

  __device__ OwnSlots(unsigned char* shared, View, const Problem& p, const TileProduct& tile,
                      int thread)
      : ring(reinterpret_cast<float*>(shared)), pieces(p, tile, thread), problem(p), t(tile) {
#pragma unroll
    for (int s = 0; s < stages - 1; ++s) prefetch(s);
  }
  __device__ float* stage(int s) const { return ring + s % stages * BlockTile::slice_elements; }
  __device__ const float* a(int s) const { return stage(s); }
  __device__ const float* b(int s) const { return stage(s) + BlockTile::a_elements; }
  // Slices, then the two halves of C, in the order in which stages become free.
  __device__ void prefetch(int s) {
    if (s < slices) {
      copy_slice(stage(s), pieces, s);
    } else if (s < slices + 2 && t.subtract) {
      copy_c(s - slices, stage(s));
    }
    async::commit();
  }
  __device__ bool owns(int i, int g) const {
    const int thread = static_cast<int>(threadIdx.x);
    return t.c_row + BlockTile::row(thread, i) < problem.matrix.rows &&
           t.c_column + BlockTile::column(thread, g) < problem.matrix.columns;
  }
  // Chunks of a warp's lanes side by side: no bank is asked twice.
  __device__ static int slot(int i, int g) {
    return 4 * ((i % rows_per_slot * 2 + g) * BlockTile::threads + static_cast<int>(threadIdx.x));
  }
  __device__ float* element(int i, int g) const {
    const int thread = static_cast<int>(threadIdx.x);
    return &problem.matrix.at(t.c_row + BlockTile::row(thread, i),
                              t.c_column + BlockTile::column(thread, g));
  }
  __device__ void copy_c(int half, float* to) const {
#pragma unroll
    for (int i = half * rows_per_slot; i < (half + 1) * rows_per_slot; ++i) {
#pragma unroll
      for (int g = 0; g < 2; ++g) {
        if (owns(i, g)) async::copy16(async::shared_address(to + slot(i, g)), element(i, g));
      }
    }
  }
  __device__ void acquire(int s) {
    async::wait<stages - 2>();
    __syncthreads();  // slice s is there, and slice s - 1 is read
    prefetch(s + stages - 1);
  }
  __device__ void between(int, int) {}
  __device__ void release(int) {}
  __device__ void finish(const Accumulator& acc) const {
    async::wait<0>();  // this thread's own elements, nobody else's
#pragma unroll
    for (int i = 0; i < BlockTile::rows_per_thread; ++i) {
#pragma unroll
      for (int g = 0; g < 2; ++g) {
        const float* from = stage(slices + i / rows_per_slot) + slot(i, g);
        const float4 old = *reinterpret_cast<const float4*>(from);
        if (owns(i, g)) {
          *reinterpret_cast<float4*>(element(i, g)) = finished(acc, i, g, t.subtract, old);
        }
      }
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
    return rodinia(
        p,
        [](const RodiniaStep& s, Stream stream) {
          launch(rodinia_diagonal, {dim3(1), dim3(32)}, stream, s);
        },
        [](const RodiniaStep& s, unsigned side, Stream stream) {
          launch(rodinia_perimeter, {dim3(side), dim3(32)}, stream, s);
        },
        [](const RodiniaStep& s, unsigned side, Stream stream) {
          launch(rodinia_internal, {dim3(side, side), dim3(internal_threads)}, stream, s);
        });
  };
  return config;
}

const bool registered = register_variant<Problem>(
    "lud", Strategy::drop_off,
    {iso(), blocked<OwnSlots>("blocked-128", OwnSlots::stages, 2 * slice_bytes)});

}  // namespace
}  // namespace amasia::lud
