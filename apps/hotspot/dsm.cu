// hotspot/dsm: neighbouring blocks of a cluster tell each other their halos through distributed
// shared memory instead of recomputing them: the ghost zone that a pass of several steps needs
// exists only at the two ends of a cluster.
#include "apps/hotspot/borders.cuh"
#include "apps/hotspot/exchange.cuh"
#include "apps/hotspot/pyramid.cuh"
#include "variants/ptx/cluster.cuh"

namespace amasia::hotspot {
namespace {

// iso, iso-walk: the tiles of eight blocks lie side by side, 16 columns each without overlap, and
// tell each other the columns at their sides in every step (borders.cuh). In the row direction,
// where no cluster reaches, Rodinia's pyramid stays. Walking, a thread holds its cells of the next
// tile, as baseline.
inline constexpr int pyramid_cluster = 8;  // the portable maximum
inline constexpr int pyramid_columns =
    pyramid_cluster * tile_size - 2 * pyramid_height;  // finished

// As many on an SM as of the other strategies' kernels, which need no bound for that.
inline constexpr int pyramid_blocks = 8;

using OneClusterTile = OneTile<pyramid_cluster, pyramid_columns>;
using ClusterWalk = Walk<pyramid_cluster, pyramid_columns>;

template <class Tiles>
__global__ void __launch_bounds__(tile_threads, pyramid_blocks) dsm_pyramid(PyramidView v) {
  __shared__ BorderStorage shared;
  const int rank = static_cast<int>(dsm::rank());
  const auto origin_of = [&](const Tiles& tiles) {
    const TileOrigin whole = tiles.origin();
    return TileOrigin{whole.row, whole.column + rank * tile_size};
  };

  // Prologue
  Borders pipeline(shared, rank, pyramid_cluster);
  Tiles tiles(v);
  float kelvin, watt;
  const auto load = [&] {
    const OwnCell own(v, origin_of(tiles));
    kelvin = own.load(v.temperature);
    watt = own.load(v.power);
  };
  load();
  pipeline.begin();

  // Main loop
  while (!tiles.done()) {
    const TileCell cell(origin_of(tiles), threadIdx.x, v.result.rows, v.result.columns);
    const float source = source_term(watt, v.coefficients);
    float value = kelvin;
    tiles.next();
    if (!tiles.done()) load();
    const int place = static_cast<int>(threadIdx.x);
    const int west =
        pipeline.receives_west() && cell.column > 0 ? pipeline.west_border() - place : cell.west;
    const int east = pipeline.receives_east() && cell.column < v.result.columns - 1
                         ? pipeline.east_border() - place
                         : cell.east;
    const bool even = is_even(cell.row, cell.column);
    const int beside_north = even ? west : east, beside_south = even ? east : west;
    by_isotropy(v.coefficients, [&](auto isotropic) {
#pragma unroll 1
      for (int step = 0; step < v.steps; ++step) {
        pipeline.exchange(value);
        const float* own = pipeline.own();
        value = advance<isotropic.value>(value, own[cell.north], own[cell.south], own[beside_north],
                                         own[beside_south], source, v.coefficients);
        pipeline.release();
      }
    });
    const int in_cluster = rank * tile_size + static_cast<int>(threadIdx.x) % tile_size;
    if (in_cluster >= pyramid_height && in_cluster < pyramid_height + pyramid_columns &&
        TileCell::in_core(threadIdx.x / tile_size) && cell.inside) {
      v.result.at(cell.row, cell.column) = value;
    }
  }
  // A block that leaves has received all that is ever sent to it: no neighbour needs it any more.
}

// Streaming: private slots, and what windows tell each other (exchange.cuh).
template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) dsm_strip(PassView pass) {
  extern __shared__ __align__(128) unsigned char memory[];
  const int rank = static_cast<int>(dsm::rank());
  const int in_cluster = rank * S::warps + static_cast<int>(threadIdx.x) / lanes;
  const int lane = threadIdx.x % lanes;
  follow_predecessor();
  const RowRun run = row_run<S>(blockIdx.y, pass.chunk_rows, static_cast<int>(pass.result.rows));
  const int column =
      S::lane_column(static_cast<int>(blockIdx.x) / S::cluster_blocks, in_cluster, lane);
  auto* slots = reinterpret_cast<typename Slots<S>::Slot*>(memory);
  auto* inboxes = reinterpret_cast<Inbox<S>*>(slots + S::stages);
  Exchange<S> pipeline(slots, inboxes, pass, run, column, S::lane_finishes(in_cluster, lane),
                       in_cluster);
  stream<S>(pipeline, run.blocks, pass);
  // A block that leaves has received all that is ever sent to it: no neighbour needs it any more.
}

// Two blocks: more wait for the slowest, and their columns divide a grid more coarsely.
inline constexpr int cluster_blocks = 2;

struct Kernels : PlainKernels {
  template <class Plain>
  using Of = ClusterStrip<Plain::steps, Plain::warps, Plain::blocks_per_sm, Movement<Plain::stages>,
                          cluster_blocks, Plain::rolled>;
  template <class S>
  static auto kernel() {
    return dsm_strip<S>;
  }
  template <class S>
  static constexpr std::size_t shared_bytes =
      S::stages * sizeof(typename Slots<S>::Slot) + S::warps * sizeof(Inbox<S>);
  template <class S>
  static constexpr std::size_t in_flight = (S::stages - 1) * sizeof(typename Slots<S>::Slot);
};

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all, strips;
  all.push_back(pyramid<OneClusterTile>(dsm_pyramid<OneClusterTile>, 1, 2 * PyramidTile::bytes));
  add_streaming<Kernels, Movement<2>>(strips);
  for (ConfigOf<Problem>& config : strips) {
    config.info.geometry.push_back({"cluster_blocks", cluster_blocks});
    // A halo lane's columns, used up by as many rows.
    config.info.movement[1].second = columns_per_lane;
    all.push_back(std::move(config));
  }
  all.push_back(pyramid<ClusterWalk>(dsm_pyramid<ClusterWalk>, 1, 2 * PyramidTile::bytes));
  return all;
}

const char* const no_exchange =
    "its squares overlap by the halo of a whole launch, so that no block needs anything from "
    "another; to exchange halos in every step instead is what iso shows";
const bool registered = register_variant<Problem>(
    "hotspot", Strategy::dsm, configs(),
    {{std::string(square_name), no_exchange}, {std::string(square_dependent_name), no_exchange}});

}  // namespace
}  // namespace amasia::hotspot
