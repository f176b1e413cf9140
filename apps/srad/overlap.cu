// srad/overlap: cp.async into a ring of stages, and the next rows travel while these are computed
// (Svedin et al. 2021, algorithm 2). A block of iso has one tile; there only the thread's own pixel
// and differences travel while the coefficients are read.
#include "apps/srad/own_cells.cuh"
#include "apps/srad/tile_rows.cuh"

namespace amasia::srad {
namespace {

__global__ void __launch_bounds__(tile_threads) overlap_update(IsoView v) {
  __shared__ alignas(16) float c[CoefficientTile::elements];  // (17, 20)
  __shared__ OwnCells own;
  const Cell cell(v);
  async::copy_tile<CoefficientTile, tile_threads>(c, readable(v.coefficient), cell.coefficients(),
                                                  threadIdx.x);
  async::commit();
  own.copy(v, cell);
  async::commit();
  async::wait<1>();
  __syncthreads();
  const float* at = c + cell.y * CoefficientTile::columns + cell.x;
  const float here = *at, south = at[CoefficientTile::columns], east = at[1];
  async::wait<0>();  // the thread's own
  store_pixel(v, cell, next_pixel(v, cell, own.pixel(), own.gradient(), here, south, east));
}

struct RingRows {
  static constexpr int stage_rows = 4, stages = 3, l2_ahead = 0, cluster = 1;
  using Stage = TileRow[stage_rows];
  static constexpr std::size_t shared_bytes = stages * sizeof(Stage),
                               bytes_in_flight = (stages - 1) * sizeof(Stage);

  template <bool UPWARDS>
  struct Mover {
    Stage* ring;
    const StripView& view;
    const Place& place;
    Pieces pieces;
    __device__ Mover(unsigned char* memory, const StripView& v, const Place& p)
        : ring(reinterpret_cast<Stage*>(memory)), view(v), place(p), pieces(v, p) {
      for (int n = 0; n < stages - 1; ++n) copy(n);
    }
    __device__ void copy(int n) {
      if (n * stage_rows < place.row_count) {
        copy_rows<stage_rows, UPWARDS>(ring[n % stages], view, place, pieces, n);
      }
      async::commit();
    }
    __device__ void wait(int n) {
      async::wait<stages - 2>();
      __syncthreads();       // everybody's copies of n are there, and n - 1 has been read
      copy(n + stages - 1);  // to the stage of n - 1
    }
    __device__ float4 row(int n, int i) const {
      return *reinterpret_cast<const float4*>(&ring[n % stages][i][tile_place()]);
    }
    __device__ void release(int) {}
    __device__ void finish() {}
  };
};

std::vector<ConfigOf<Problem>> overlap_configs() {
  std::vector<ConfigOf<Problem>> all{iso(copied_coefficients<tile_threads>, overlap_update)};
  add_strips<RingRows>(all);
  return all;
}

const bool overlap_registered =
    register_variant<Problem>("srad", Strategy::overlap, overlap_configs());

}  // namespace
}  // namespace amasia::srad
