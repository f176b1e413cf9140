// srad/register_bypass: cp.async brings pixels to shared memory without a register, and the block
// waits for them at once (Svedin et al. 2021, algorithm 1).
#include "apps/srad/own_cells.cuh"
#include "apps/srad/tile_rows.cuh"

namespace amasia::srad {
namespace {

__global__ void __launch_bounds__(tile_threads) register_bypass_update(IsoView v) {
  __shared__ alignas(16) float c[CoefficientTile::elements];  // (17, 20)
  __shared__ OwnCells own;
  const Cell cell(v);
  async::copy_tile<CoefficientTile, tile_threads>(c, readable(v.coefficient), cell.coefficients(),
                                                  threadIdx.x);
  own.copy(v, cell);
  async::commit();
  async::wait<0>();
  __syncthreads();
  const float* at = c + cell.y * CoefficientTile::columns + cell.x;
  store_pixel(
      v, cell,
      next_pixel(v, cell, own.pixel(), own.gradient(), *at, at[CoefficientTile::columns], at[1]));
}

// One stage, larger than that of a ring because nothing arrives while it is used.
struct WaitedRows {
  static constexpr int stage_rows = 8, stages = 1, l2_ahead = 0, cluster = 1;
  using Stage = TileRow[stage_rows];
  static constexpr std::size_t shared_bytes = sizeof(Stage), bytes_in_flight = sizeof(Stage);

  template <bool UPWARDS>
  struct Mover {
    Stage& stage;
    const StripView& view;
    const Place& place;
    Pieces pieces;
    __device__ Mover(unsigned char* memory, const StripView& v, const Place& p)
        : stage(*reinterpret_cast<Stage*>(memory)), view(v), place(p), pieces(v, p) {}
    __device__ void wait(int n) {
      __syncthreads();  // the group before has been read
      copy_rows<stage_rows, UPWARDS>(stage, view, place, pieces, n);
      async::commit();
      async::wait<0>();
      __syncthreads();
    }
    __device__ float4 row(int, int i) const {
      return *reinterpret_cast<const float4*>(&stage[i][tile_place()]);
    }
    __device__ void release(int) {}
    __device__ void finish() {}
  };
};

std::vector<ConfigOf<Problem>> register_bypass_configs() {
  std::vector<ConfigOf<Problem>> all{
      iso(copied_coefficients<tile_threads>, register_bypass_update)};
  add_strips<WaitedRows>(all);
  return all;
}

const bool register_bypass_registered =
    register_variant<Problem>("srad", Strategy::register_bypass, register_bypass_configs());

}  // namespace
}  // namespace amasia::srad
