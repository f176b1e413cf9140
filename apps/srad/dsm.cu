// srad/dsm: blocks of a cluster read neighbours' pixels from each other. In iso eight tiles lie
// side by side, each without its side columns, which are in the blocks beside it. In strips two
// blocks lie one above the other, and of the rows that both read one sends them to the other
// (mail.cuh).
#include "apps/srad/iso.cuh"
#include "apps/srad/mail.cuh"
#include "variants/copies/tile.cuh"

namespace amasia::srad {
namespace {

inline constexpr int iso_cluster = 8;  // the portable maximum

/// The value `apart` columns from a thread's place in a tile of 16 columns: of this block, of the
/// one beside it, or beyond the cluster from memory.
__device__ float beside(const float* own, int apart, const Cell& cell, const Grid<const float>& g) {
  const int rank = static_cast<int>(dsm::rank());
  const int x = cell.x + apart;
  if (x >= 0 && x < tile) return own[apart];
  const int peer = rank + apart;
  if (peer >= 0 && peer < iso_cluster) {
    return dsm::load_float(
        dsm::remote_address(own + apart - apart * tile, static_cast<unsigned>(peer)));
  }
  const int column = cell.column + apart;
  const bool inside = cell.inside && column >= 0 && column < static_cast<int>(g.columns);
  return inside ? g.at(cell.row, column) : 0;
}

__global__ void __launch_bounds__(tile_threads) dsm_coefficients(IsoView v) {
  using Columns = Tile<float, tile + 2, tile>;
  __shared__ alignas(16) float pixels[Columns::elements];  // (18, 16)
  const Cell cell(v);
  baseline::copy_tile<Columns, tile_threads>(pixels, v.source,
                                             {cell.first_row - 1, cell.first_column}, threadIdx.x);
  dsm::cluster_sync();
  const float* own = pixels + (cell.y + 1) * tile + cell.x;
  const float west = beside(own, -1, cell, v.source), east = beside(own, 1, cell, v.source);
  Coefficient(v, cell, *own, own[-tile], own[tile], west, east).store(v, cell);
  __syncwarp();
  dsm::cluster_sync();  // shared memory must outlive the neighbours' reads
}

__global__ void __launch_bounds__(tile_threads) dsm_update(IsoView v) {
  using Columns = Tile<float, tile + 1, tile>;
  __shared__ alignas(16) float c[Columns::elements];  // (17, 16)
  const Cell cell(v);
  baseline::copy_tile<Columns, tile_threads>(c, readable(v.coefficient), cell.coefficients(),
                                             threadIdx.x);
  Gradient d{};
  float pixel = 0;
  if (cell.inside) {
    d = {v.north.at(cell.row, cell.column), v.south.at(cell.row, cell.column),
         v.west.at(cell.row, cell.column), v.east.at(cell.row, cell.column)};
    pixel = v.source.at(cell.row, cell.column);
  }
  __syncwarp();
  dsm::cluster_sync();
  const float* own = c + cell.y * tile + cell.x;
  const float east = beside(own, 1, cell, readable(v.coefficient));
  store_pixel(v, cell, next_pixel(v, cell, pixel, d, *own, own[tile], east));
  __syncwarp();
  dsm::cluster_sync();
}

// Four rows in registers and four on their way, as baseline; the last ones come by mail.
template <Mail MAIL>
struct MailedRows {
  static constexpr int stage_rows = 4, stages = 1, l2_ahead = 0, cluster = 2;
  static constexpr std::size_t shared_bytes = sizeof(typename MailBox<MAIL, false>::Storage),
                               bytes_in_flight = stage_rows * sizeof(TileRow);

  template <bool UPWARDS>
  struct Mover {
    using Box = MailBox<MAIL, UPWARDS>;
    static_assert(sizeof(typename Box::Storage) <= shared_bytes);
    const StripView& view;
    const Place& place;
    Box mail;
    float4 now[stage_rows], next[stage_rows];

    __device__ Mover(unsigned char* memory, const StripView& v, const Place& p)
        : view(v),
          place(p),
          mail(*reinterpret_cast<typename Box::Storage*>(memory), v, p, cluster) {
      load(0);
    }
    __device__ void load(int n) {
#pragma unroll
      for (int i = 0; i < stage_rows; ++i) {
        const int number = n * stage_rows + i;
        if (number >= mail.first_received) return;
        next[i] = *reinterpret_cast<const float4*>(
            lane_pixels(view.source, place.row<UPWARDS>(number), place.column));
      }
    }
    __device__ void wait(int n) {
#pragma unroll
      for (int i = 0; i < stage_rows; ++i) now[i] = next[i];
      load(n + 1);
      if (n == 0) mail.send(now);
    }
    __device__ float4 row(int n, int i) {
      const int number = n * stage_rows + i;
      const bool mailed = number >= mail.first_received && number < place.row_count;
      return mailed ? mail.receive(number) : now[i];
    }
    __device__ void release(int) {}
    __device__ void finish() { mail.finish(); }
  };
};

std::vector<ConfigOf<Problem>> dsm_configs() {
  std::vector<ConfigOf<Problem>> all{iso(dsm_coefficients, dsm_update, iso_cluster)};
  add_strips<MailedRows<Mail::messages>>(all);
  add_strips<MailedRows<Mail::bulk>>(all, "/bulk");
  return all;
}

const bool dsm_registered = register_variant<Problem>("srad", Strategy::dsm, dsm_configs());

}  // namespace
}  // namespace amasia::srad
