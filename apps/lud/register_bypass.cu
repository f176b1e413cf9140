// lud/register_bypass: panels and diagonal tiles by cp.async, waited for at once (Svedin et al.
// 2021, algorithm 1). One stage per block; what hides its latency is the other block of the SM.
#include "apps/lud/rodinia.cuh"
#include "apps/lud/staged.cuh"

namespace amasia::lud {
namespace {

__global__ void __launch_bounds__(32) rodinia_diagonal(RodiniaStep s) {
  __shared__ alignas(16) float own[tile_elements];
  const int lane = threadIdx.x;
  async::copy_tile<RodiniaTile, 32>(own, s.source(), {s.first, s.first}, lane);
  async::commit();
  async::wait<0>();
  __syncthreads();
  factor_tile(own, s.size(), lane);
  store_rows(s, {s.first, s.first}, own, lane, 32);
}

__global__ void __launch_bounds__(32) rodinia_perimeter(RodiniaStep s) {
  __shared__ alignas(16) float diagonal_tile[tile_elements];
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  const int lane = threadIdx.x, i = static_cast<int>(blockIdx.x);
  async::copy_tile<RodiniaTile, 32>(diagonal_tile, s.source(), {s.first, s.first}, lane);
  async::copy_tile<RodiniaTile, 32>(beside, s.source(), s.beside(i), lane);
  async::copy_tile<RodiniaTile, 32>(below, s.source(), s.below(i), lane);
  async::commit();
  async::wait<0>();
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
  async::copy_tile<RodiniaTile, internal_threads>(beside, s.source(),
                                                  s.beside(static_cast<int>(blockIdx.x)), thread);
  async::copy_tile<RodiniaTile, internal_threads>(
      below, s.source(), s.below(static_cast<int>(blockIdx.y)), thread ^ RodiniaTile::chunks);
  async::commit();
  async::wait<0>();
  __syncthreads();
  const std::int64_t i = s.next() + std::int64_t{blockIdx.y} * tile + row;
  const std::int64_t j = s.next() + std::int64_t{blockIdx.x} * tile + column;
  if (i < s.m.rows && j < s.m.columns) s.m.at(i, j) -= inner_product(below, beside, row, column);
}

struct AtOnce {
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1, stages = 1;
  static constexpr std::size_t shared_bytes = stages * slice_bytes;
  static constexpr bool pads = false;

  Stages stage;
  Pieces pieces;
  const Problem& problem;
  const TileProduct& t;

  static __device__ bool load_block(unsigned char* shared, View, const Problem& p, int first,
                                    int size, int thread) {
    copy_block(reinterpret_cast<DiagonalBlock*>(shared)->lu, p, first, size, thread);
    async::commit();
    async::wait<0>();
    __syncthreads();
    return true;
  }

  __device__ AtOnce(unsigned char* shared, View, const Problem& p, const TileProduct& tile,
                    int thread)
      : stage(shared, stages), pieces(p, tile, thread), problem(p), t(tile) {}
  __device__ void acquire() {
#pragma unroll
    for (int chunk = 0; chunk < BlockTile::chunks; ++chunk) {
      pieces.share(chunk,
                   [&](unsigned to, const float* from) { async::copy16(stage.at(0) + to, from); });
    }
    pieces.next_slice();
    async::commit();
    async::wait<0>();
    __syncthreads();
  }
  __device__ BlockTile::Left left(int thread) const { return stage.left(thread); }
  __device__ unsigned b() const { return stage.b(); }
  __device__ void between(int) const {}
  __device__ void release() const { __syncthreads(); }
  __device__ void finish(const Accumulator& acc, int thread) const {
    finish_in_global(acc, problem.matrix, t, thread);
  }
};

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

const bool registered =
    register_variant<Problem>("lud", Strategy::register_bypass,
                              {iso(), blocked<AtOnce>("blocked-128x2", 2, slice_bytes),
                               blocked<AtOnce>("blocked-128x4", 4, slice_bytes),
                               blocked<AtOnce>("blocked-128x1", 1, slice_bytes)});

}  // namespace
}  // namespace amasia::lud
