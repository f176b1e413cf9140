// lud/baseline: everything through registers. iso is Rodinia's; the other config fetches, while a
// slice is multiplied, the next one, 32 bytes per thread and eighth of the slice: eight registers
// hide the latency where a whole slice would need 64.
#include "apps/lud/blocked.cuh"
#include "apps/lud/rodinia.cuh"
#include "variants/copies/tile_through_registers.cuh"
#include "variants/ptx/shared_memory.cuh"

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
/// The diagonal block.
struct ChunksThroughRegisters {
  static constexpr int cluster = 1;
  static constexpr bool pads = false;
  static __device__ bool load(unsigned char* shared, const Problem& p, int first, int size,
                              int thread) {
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
};

/// Two stages of shared memory; what is loaded during one chunk is stored during the next.
template <class TileT>
struct ThroughRegisters {
  using Tile = TileT;
  using Diagonal = ChunksThroughRegisters;
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1, stages = 2;
  static constexpr std::size_t shared_bytes = stages * Tile::slice_bytes;
  static constexpr std::size_t bytes_in_flight =
      Pieces<Tile>::per_chunk * 16 * Tile::threads;  // in registers

  unsigned ring;
  Pieces<Tile> pieces;
  const Problem& problem;
  const TileProduct& t;
  int left_to_load;  // slices
  int stage = 0;
  unsigned next;  // stage that is filled
  int4 held[Pieces<Tile>::per_chunk];
  unsigned places[Pieces<Tile>::per_chunk];
  int holds = 0;

  __device__ ThroughRegisters(unsigned char* shared, View, const Problem& p,
                              const TileProduct& tile, int thread)
      : ring(async::shared_address(shared)),
        pieces(p, tile, thread),
        problem(p),
        t(tile),
        left_to_load(tile.depth / Tile::k),
        next(ring) {
#pragma unroll Tile::shares_unrolled
    for (int chunk = 0; chunk < Tile::chunks; ++chunk) between(chunk);
    end_slice();
  }
  // Without a branch where it matters, which would have each load waited for where paths join: only
  // a small tile's last chunks have nothing to load (Pieces). Behind the last slice
  // it is loaded once more, into the stage that nobody reads.
  __device__ void between(int chunk) {
    if (chunk > 0) store();
    int i = 0;
    pieces.share(chunk, [&](unsigned to, const float* from) {
      places[i] = to;
      held[i++] = *reinterpret_cast<const int4*>(from);
    });
    holds = i;
  }
  __device__ void store() const {
#pragma unroll
    for (int i = 0; i < Pieces<Tile>::per_chunk; ++i) {
      if (i < holds) async::store16(next + places[i], held[i]);
    }
  }
  __device__ void end_slice() {
    store();
    if (--left_to_load > 0) {
      pieces.next_slice();
    } else {
      pieces.repeat_slice();
    }
    next = ring + static_cast<unsigned>(Tile::slice_bytes) - (next - ring);
  }
  // Stored by all, and the other stage is read.
  __device__ void acquire() const { __syncthreads(); }
  __device__ unsigned slice() const {
    return ring + static_cast<unsigned>(stage * Tile::slice_bytes);
  }
  __device__ void release() {
    end_slice();
    stage ^= 1;
  }
  __device__ void finish(const typename Tile::Accumulator& acc, int thread) const {
    finish_in_global<Tile>(acc, problem.matrix, t, thread);
  }
};

ConfigOf<Problem> iso() {
  return rodinia_config(rodinia_diagonal, rodinia_perimeter, rodinia_internal,
                        2 * RodiniaTile::bytes);
}

const bool registered =
    register_variant<Problem>("lud", Strategy::baseline, configs<ThroughRegisters>(iso()));

}  // namespace
}  // namespace amasia::lud
