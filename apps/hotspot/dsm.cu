// hotspot/dsm: neighbouring blocks of a cluster tell each other their halos through distributed
// shared memory instead of recomputing them: the ghost zone that a pass of several steps needs
// exists only at the two ends of a cluster.
#include "apps/hotspot/pyramid.cuh"
#include "apps/hotspot/slots.cuh"
#include "variants/copies/tile_through_registers.cuh"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::hotspot {
namespace {

// iso: the tiles of eight blocks lie side by side, 16 columns each without overlap. A thread at the
// side of a tile reads its neighbour's cell from the block beside; in the row direction, where no
// cluster reaches, Rodinia's pyramid stays. Two copies of the tile, so that one cluster barrier per
// step suffices.
inline constexpr int pyramid_cluster = 8;  // the portable maximum
inline constexpr int pyramid_columns =
    pyramid_cluster * tile_size - 2 * pyramid_height;  // finished

__global__ void __launch_bounds__(tile_threads) dsm_pyramid(PyramidView v) {
  __shared__ alignas(16) float tile[2][tile_threads];  // (2, 16, 16)
  __shared__ alignas(16) float power[tile_threads];
  const int rank = static_cast<int>(dsm::rank());
  const int first =
      static_cast<int>(blockIdx.x) / pyramid_cluster * pyramid_columns - pyramid_height;
  const TileOrigin origin{std::int64_t{blockIdx.y} * core - pyramid_height,
                          first + rank * tile_size};
  baseline::copy_tile<Tile<float, tile_size, tile_size, 4>, tile_threads>(tile[0], v.temperature,
                                                                          origin, threadIdx.x);
  baseline::copy_tile<Tile<float, tile_size, tile_size, 4>, tile_threads>(power, v.power, origin,
                                                                          threadIdx.x);
  dsm::cluster_sync();

  const TileCell cell(origin, threadIdx.x, v.result.rows, v.result.columns);
  const int in_row = threadIdx.x % tile_size;
  const bool from_west = in_row == 0 && rank > 0 && cell.column > 0;
  const bool from_east =
      in_row == tile_size - 1 && rank < pyramid_cluster - 1 && cell.column < v.result.columns - 1;
  const float source = source_term(power[threadIdx.x], v.coefficients);
  float value = tile[0][threadIdx.x];
  for (int step = 0; step < v.steps; ++step) {
    const float* own = &tile[step % 2][threadIdx.x];
    const float west = from_west
                           ? dsm::load_float(dsm::remote_address(own + tile_size - 1, rank - 1))
                           : own[cell.west];
    const float east = from_east
                           ? dsm::load_float(dsm::remote_address(own - tile_size + 1, rank + 1))
                           : own[cell.east];
    value = advance(value, own[cell.north], own[cell.south], west, east, source, v.coefficients);
    tile[(step + 1) % 2][threadIdx.x] = value;
    // After the last step it keeps a block from leaving while others read its tile.
    dsm::cluster_sync();
  }
  const int in_cluster = rank * tile_size + in_row;
  if (in_cluster >= pyramid_height && in_cluster < pyramid_height + pyramid_columns &&
      TileCell::in_core(threadIdx.x / tile_size) && cell.row < v.result.rows &&
      cell.column < v.result.columns) {
    v.result.at(cell.row, cell.column) = value;
  }
}

// best: private slots as in drop_off. After each row-block the outermost finishing lane of a window
// sends all it holds, 2 STEPS rows of four cells, to the halo lane of the window beside, in this
// block or the next. Receivers wait on an mbarrier of their own: neighbours go in step, the cluster
// does not.
template <class S>
struct Inbox {                       // of one warp, for alternating row-blocks
  float4 state[2][2][2 * S::steps];  // (row-blocks, from west and east, opened and newest per step)
  tma::Barrier arrived[2];
};

template <class S>
struct Exchange : Slots<S> {
  Inbox<S>& inbox;
  bool sends, receives;
  unsigned to_state, to_arrived;  // in the neighbour's inbox, of row-block parity 0
  int parity = 0;
  unsigned phase = 0;

  // `window` counts the windows of the cluster.
  __device__ Exchange(typename Slots<S>::Slot* slots, Inbox<S>* inboxes, const PassView& pass,
                      const RowRun& run, int column, bool finishes, int window)
      : Slots<S>(slots, pass, run, column, finishes), inbox(inboxes[window % S::warps]) {
    const int lane = threadIdx.x % lanes;
    const bool to_west = window > 0 && lane <= 1;
    const bool to_east = window < S::windows - 1 && lane >= lanes - 2;
    sends = (lane == 1 && to_west) || (lane == lanes - 2 && to_east);
    receives = (lane == 0 && to_west) || (lane == lanes - 1 && to_east);
    const int neighbour = to_west ? window - 1 : to_east ? window + 1 : window;
    const Inbox<S>& beside = inboxes[neighbour % S::warps];
    to_state = dsm::remote_address(&beside.state[0][to_west], neighbour / S::warps);
    to_arrived = dsm::remote_address(&beside.arrived[0], neighbour / S::warps);
    if (lane == 0) {
      const int neighbours = (window > 0) + (window < S::windows - 1);
      for (tma::Barrier& arrived : inbox.arrived) tma::init(&arrived, 2 * neighbours);
      tma::fence_init();
    }
    dsm::cluster_sync();  // every inbox is ready
  }
  // Two lanes arrive at a neighbour's barrier: the one that has sent the state of this row-block,
  // and the one that has read what the neighbour sent for the last. So a neighbour that has
  // received this row-block's may overwrite the inbox of the last, and two inboxes need no other
  // hand-shake.
  __device__ void exchange(Pipeline<S::steps>& pipeline) {
    __syncwarp();
    if (sends) {
      const unsigned to = to_state + parity * static_cast<unsigned>(sizeof(inbox.state[0]));
#pragma unroll
      for (int s = 0; s < S::steps; ++s) {
        const float* opened = pipeline.opened[s];
        const float* newest = pipeline.newest[s];
        dsm::store(to + 32 * s, make_float4(opened[0], opened[1], opened[2], opened[3]));
        dsm::store(to + 32 * s + 16, make_float4(newest[0], newest[1], newest[2], newest[3]));
      }
    }
    if (sends || receives) {
      dsm::arrive_remote(to_arrived + parity * static_cast<unsigned>(sizeof(tma::Barrier)));
    }
    dsm::wait_cluster(&inbox.arrived[parity], phase);
    if (receives) {
      const float4* from = inbox.state[parity][threadIdx.x % lanes != 0];
#pragma unroll
      for (int s = 0; s < S::steps; ++s) {
        const float4 opened = from[2 * s], newest = from[2 * s + 1];
        const float o[] = {opened.x, opened.y, opened.z, opened.w};
        const float e[] = {newest.x, newest.y, newest.z, newest.w};
#pragma unroll
        for (int c = 0; c < columns_per_lane; ++c) {
          pipeline.opened[s][c] = o[c];
          pipeline.newest[s][c] = e[c];
        }
      }
    }
    phase ^= static_cast<unsigned>(parity);
    parity ^= 1;
  }
};

template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) dsm_strip(PassView pass) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int rank = static_cast<int>(dsm::rank());
  const int in_cluster = rank * S::warps + static_cast<int>(threadIdx.x) / lanes;
  const int lane = threadIdx.x % lanes;
  const RowRun run = row_run<S>(blockIdx.y, pass.chunk_rows, static_cast<int>(pass.result.rows));
  const int column =
      S::lane_column(static_cast<int>(blockIdx.x) / S::cluster_blocks, in_cluster, lane);
  auto* slots = reinterpret_cast<typename Slots<S>::Slot*>(shared);
  auto* inboxes = reinterpret_cast<Inbox<S>*>(slots + S::stages);
  Exchange<S> mover(slots, inboxes, pass, run, column, S::lane_finishes(in_cluster, lane),
                    in_cluster);
  stream<S>(mover, run.blocks, pass.coefficients);
  dsm::cluster_sync();  // shared memory must outlive the neighbours' stores to it
}

template <int CLUSTER>
struct Kernels {
  template <class Plain>
  using InCluster = ClusterStrip<Plain::steps, Plain::warps, Plain::stages, CLUSTER>;

  template <class S>
  static constexpr std::size_t shared_bytes() {
    return S::stages * sizeof(typename Slots<S>::Slot) + S::warps * sizeof(Inbox<S>);
  }
  template <class Plain>
  static KernelUse use() {
    using S = InCluster<Plain>;
    return {reinterpret_cast<const void*>(dsm_strip<S>), S::threads, shared_bytes<S>(), CLUSTER,
            (S::stages - 1) * sizeof(typename Slots<S>::Slot)};
  }
  template <class Plain>
  static Launch pass(const Problem& problem, const Pass& pass, const Device& device) {
    using S = InCluster<Plain>;
    return enqueue_pass<S>(dsm_strip<S>, problem, pass, device, shared_bytes<S>());
  }
};

ConfigOf<Problem> iso() {
  ConfigOf<Problem> config;
  config.info = {"iso",
                 pyramid_geometry,
                 {{reinterpret_cast<const void*>(dsm_pyramid), tile_threads, 0, pyramid_cluster,
                   2 * PyramidTile::bytes}}};
  config.info.geometry.push_back({"cluster_blocks", pyramid_cluster});
  config.prepare = [](const Problem& problem, const Device&) {
    LaunchShape shape{pyramid_grid(problem), dim3(tile_threads)};
    shape.grid.x =
        static_cast<unsigned>(ceil_div(problem.result.columns, pyramid_columns)) * pyramid_cluster;
    shape.cluster_blocks = pyramid_cluster;
    return climb_in_passes(problem, [shape](const PyramidView& view) -> Launch {
      return [=](Stream stream) { launch(dsm_pyramid, shape, stream, view); };
    });
  };
  return config;
}

const bool registered =
    register_variant<Problem>("hotspot", Strategy::dsm,
                              {iso(), streaming<Kernels<2>, 4, 2, 1, 2, 5, 10, 12>("cluster-2"),
                               streaming<Kernels<3>, 4, 2, 1, 2, 5, 10, 12>("cluster-3"),
                               streaming<Kernels<2>, 4, 2, 1, 2, 5, 8>("cluster-2-8-steps")});

}  // namespace
}  // namespace amasia::hotspot
