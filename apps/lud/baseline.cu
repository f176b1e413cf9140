// lud/baseline: everything through registers. iso is Rodinia's; the other config fetches, while a
// slice is multiplied, the next one, 16 bytes per thread and eighth of the slice: four registers
// hide the latency where a whole slice would need 32.
#include "apps/lud/blocked.cuh"
#include "apps/lud/rodinia.cuh"
#include "variants/baseline.cuh"

namespace amasia::lud {
namespace {

__global__ void __launch_bounds__(32) rodinia_diagonal(RodiniaStep s) {
  __shared__ alignas(16) float own[tile_elements];
  const int lane = threadIdx.x;
  baseline::copy_tile<RodiniaTile, 32>(own, s.source(), {s.first, s.first}, lane);
  __syncthreads();
  factor_tile(own, s.size(), lane);
  store_rows(s, {s.first, s.first}, own, lane, 32);
}

__global__ void __launch_bounds__(32) rodinia_perimeter(RodiniaStep s) {
  __shared__ alignas(16) float diagonal_tile[tile_elements];
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  const int lane = threadIdx.x, i = static_cast<int>(blockIdx.x);
  baseline::copy_tile<RodiniaTile, 32>(diagonal_tile, s.source(), {s.first, s.first}, lane);
  baseline::copy_tile<RodiniaTile, 32>(beside, s.source(), s.beside(i), lane);
  baseline::copy_tile<RodiniaTile, 32>(below, s.source(), s.below(i), lane);
  __syncthreads();
  solve_perimeter(diagonal_tile, beside, below, lane);
  __syncthreads();
  store_rows(s, s.beside(i), beside, lane, 32);
  store_rows(s, s.below(i), below, lane, 32);
}

__global__ void __launch_bounds__(internal_threads) rodinia_internal(RodiniaStep s) {
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  const int thread = threadIdx.x, row = thread / tile, column = thread % tile;
  baseline::copy_tile<RodiniaTile, internal_threads>(
      beside, s.source(), s.beside(static_cast<int>(blockIdx.x)), thread);
  baseline::copy_tile<RodiniaTile, internal_threads>(
      below, s.source(), s.below(static_cast<int>(blockIdx.y)), thread ^ RodiniaTile::chunks);
  __syncthreads();
  const std::int64_t i = s.next() + std::int64_t{blockIdx.y} * tile + row;
  const std::int64_t j = s.next() + std::int64_t{blockIdx.x} * tile + column;
  if (i < s.m.rows && j < s.m.columns) s.m.at(i, j) -= inner_product(below, beside, row, column);
}

/// Two stages of shared memory, refilled one piece at a time.
struct ThroughRegisters {
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1, stages = 2;
  static constexpr std::size_t shared_bytes = stages * slice_bytes;
  static constexpr bool pads = false;

  float* ring;  // (stages, slice)
  Pieces pieces;
  const Problem& problem;
  const TileProduct& t;
  float4 held;

  static __device__ bool load_block(unsigned char* shared, View, const Problem& p, int first,
                                    int size, int thread) {
    auto* lu = reinterpret_cast<DiagonalBlock*>(shared)->lu;
    for (int e = thread; e < panel_width * panel_width / 4; e += block_threads) {
      const BlockChunk c(e, size);
      if (c.inside) {
        *reinterpret_cast<float4*>(lu + c.row * block_pitch + c.column) =
            *reinterpret_cast<const float4*>(&p.matrix.at(first + c.row, first + c.column));
      }
    }
    __syncthreads();
    return true;
  }

  __device__ ThroughRegisters(unsigned char* shared, View, const Problem& p,
                              const TileProduct& tile, int thread)
      : ring(reinterpret_cast<float*>(shared)), pieces(p, tile, thread), problem(p), t(tile) {
    float4 first[Pieces::count];
#pragma unroll
    for (int i = 0; i < Pieces::count; ++i) {
      first[i] = *reinterpret_cast<const float4*>(pieces.global(0, i));
    }
#pragma unroll
    for (int i = 0; i < Pieces::count; ++i) {
      *reinterpret_cast<float4*>(ring + pieces.shared(i)) = first[i];
    }
    held = fetch(1, 0);
  }
  __device__ float4 fetch(int s, int piece) const {
    return *reinterpret_cast<const float4*>(pieces.global(s, piece));
  }
  __device__ const float* a(int s) const { return ring + s % stages * BlockTile::slice_elements; }
  __device__ const float* b(int s) const { return a(s) + BlockTile::a_elements; }
  __device__ void acquire(int) { __syncthreads(); }
  // The piece that was asked for an eighth of a slice ago, about 1000 cycles, has come.
  __device__ void between(int s, int chunk) {
    if (s + 1 == slices) return;
    float* const to = ring + (s + 1) % stages * BlockTile::slice_elements;
    *reinterpret_cast<float4*>(to + pieces.shared(chunk)) = held;
    if (chunk + 1 < Pieces::count) {
      held = fetch(s + 1, chunk + 1);
    } else if (s + 2 < slices) {
      held = fetch(s + 2, 0);
    }
  }
  __device__ void release(int) {}
  __device__ void finish(const Accumulator& acc) const {
    finish_in_global(acc, problem.matrix, t, static_cast<int>(threadIdx.x));
  }
};
static_assert(Pieces::count == BlockTile::chunks, "one piece per chunk of the inner product");

ConfigOf<Problem> iso() {
  ConfigOf<Problem> config;
  config.info = {"iso",
                 rodinia_geometry,
                 {{reinterpret_cast<const void*>(rodinia_internal), internal_threads, 0, 1,
                   2 * RodiniaTile::bytes},
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
    "lud", Strategy::baseline,
    {iso(), blocked<ThroughRegisters>("blocked-128", ThroughRegisters::stages, slice_bytes)});

}  // namespace
}  // namespace amasia::lud
