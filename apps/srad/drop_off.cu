// srad/drop_off: each thread copies what it reads into slots of its own and waits for its own
// copies alone: no barrier comes between arrival and use (Svedin et al. 2021, algorithm 3). In
// strips nothing is lost by that, since neighbours ask by shuffle. In iso every pixel is copied by
// the five threads that read it.
#include "apps/srad/iso.cuh"
#include "apps/srad/own_cells.cuh"
#include "apps/srad/stream.cuh"

namespace amasia::srad {
namespace {

/// Copies the cell at (row, column), or the nearest one in the grid.
__device__ void copy_cell(float* slot, const Grid<const float>& g, int row, int column) {
  const int last_row = static_cast<int>(g.rows) - 1, last = static_cast<int>(g.columns) - 1;
  async::copy<4>(slot, &g.at(min(max(row, 0), last_row), min(max(column, 0), last)));
}

__global__ void __launch_bounds__(tile_threads) drop_off_coefficients(IsoView v) {
  __shared__ float slot[5][tile_threads];
  const Cell cell(v);
  const int t = static_cast<int>(threadIdx.x);
  copy_cell(&slot[0][t], v.source, cell.row, cell.column);
  copy_cell(&slot[1][t], v.source, cell.row - 1, cell.column);
  copy_cell(&slot[2][t], v.source, cell.row + 1, cell.column);
  copy_cell(&slot[3][t], v.source, cell.row, cell.column - 1);
  copy_cell(&slot[4][t], v.source, cell.row, cell.column + 1);
  async::commit();
  async::wait<0>();
  Coefficient(v, cell, slot[0][t], slot[1][t], slot[2][t], slot[3][t], slot[4][t]).store(v, cell);
}

__global__ void __launch_bounds__(tile_threads) drop_off_update(IsoView v) {
  __shared__ OwnCells own;
  __shared__ float c[3][tile_threads];
  const Cell cell(v);
  const int t = static_cast<int>(threadIdx.x);
  own.copy(v, cell);
  copy_cell(&c[0][t], readable(v.coefficient), cell.row, cell.column);
  copy_cell(&c[1][t], readable(v.coefficient), cell.row + 1, cell.column);
  copy_cell(&c[2][t], readable(v.coefficient), cell.row, cell.column + 1);
  async::commit();
  async::wait<0>();
  store_pixel(v, cell, next_pixel(v, cell, own.pixel(), own.gradient(), c[0][t], c[1][t], c[2][t]));
}

// A ring of slots for a lane's four pixels of a row.
struct SlotRows {
  static constexpr int stage_rows = 4, stages = 3, l2_ahead = 0, cluster = 1;
  using Slots = float4[stage_rows][strip_threads];
  static constexpr std::size_t shared_bytes = stages * sizeof(Slots),
                               bytes_in_flight = (stages - 1) * sizeof(Slots);

  template <bool UPWARDS>
  struct Mover {
    Slots* ring;
    const StripView& view;
    const Place& place;
    __device__ Mover(unsigned char* memory, const StripView& v, const Place& p)
        : ring(reinterpret_cast<Slots*>(memory)), view(v), place(p) {
      for (int n = 0; n < stages - 1; ++n) copy(n);
    }
    __device__ void copy(int n) {
      if (n * stage_rows < place.row_count) {
#pragma unroll
        for (int i = 0; i < stage_rows; ++i) {
          async::copy16(
              async::shared_address(&ring[n % stages][i][threadIdx.x]),
              lane_pixels(view.source, place.row<UPWARDS>(n * stage_rows + i), place.column));
        }
      }
      async::commit();
    }
    __device__ void wait(int) { async::wait<stages - 2>(); }
    __device__ float4 row(int n, int i) const { return ring[n % stages][i][threadIdx.x]; }
    __device__ void release(int n) { copy(n + stages - 1); }
    __device__ void finish() {}
  };
};

std::vector<ConfigOf<Problem>> drop_off_configs() {
  std::vector<ConfigOf<Problem>> all{iso(drop_off_coefficients, drop_off_update)};
  add_strips<SlotRows>(all);
  return all;
}

const bool drop_off_registered =
    register_variant<Problem>("srad", Strategy::drop_off, drop_off_configs());

}  // namespace
}  // namespace amasia::srad
