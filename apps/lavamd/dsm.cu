// lavamd/dsm: two home boxes with consecutive numbers, neighbours in x, form a cluster. Of their 27
// boxes each they share 18 inside the cube: these come first, each by one multicast into both
// blocks, issued by the blocks in turn; then every block brings its own rest by bulk copies. What
// is shared is found in the table, so that any table will do.
#include "apps/lavamd/walk.cuh"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/cluster.cuh"

namespace amasia::lavamd {
namespace {

struct SharedRing {
  static constexpr int stages = 4, cluster = 2;  // even: a stage is always issued by the same block
  static_assert(stages % cluster == 0);
  static constexpr std::size_t bytes_in_flight = (stages - 1) * tile_bytes;
  struct Stages {
    Tile tile[stages];
    // Handed back by this block's warps; by the peer's, for what this block sends there.
    tma::Barrier full[stages], empty[stages], peer_empty[stages];
    int box[most_neighbours];  // shared ones first
    int shared_boxes;
  };
  Stages& shared;
  const List& list;
  int rank = static_cast<int>(dsm::rank());
  int both, count;  // boxes of both lists, and of this one

  __device__ SharedRing(Stages& ring, const List& boxes)
      : shared(ring), list(boxes), count(boxes.count()) {
    for (Tile& tile : shared.tile) clear_pads(tile, list);
    if (threadIdx.x == 0) {
      for (int s = 0; s < stages; ++s) {
        tma::init(&shared.full[s], 1);
        tma::init(&shared.empty[s], warps);
        tma::init(&shared.peer_empty[s], warps);
      }
      tma::fence_init();
    }
    if (threadIdx.x < 32) order_boxes();
    dsm::cluster_sync();
    both = shared.shared_boxes;
    if (threadIdx.x == 0) {
      for (int n = 0; n < stages - 1; ++n) produce(n);
    }
    __syncwarp();
  }
  /// By a warp. Both blocks have the shared boxes in the order of the first block's list.
  __device__ void order_boxes() {
    const List peer(list.p, static_cast<int>(blockIdx.x) ^ 1);
    const Neighbours& first = rank == 0 ? list.row : peer.row;
    const Neighbours& second = rank == 0 ? peer.row : list.row;
    const int lane = static_cast<int>(threadIdx.x);
    const unsigned before = (1u << lane) - 1;
    const auto is_in = [](int box, const Neighbours& row) {
      bool found = false;
      for (int k = 0; k < row.count; ++k) found = found || row.box[k] == box;
      return found;
    };
    const bool in_both = lane < first.count && is_in(first.box[lane], second);
    const unsigned of_both = __ballot_sync(~0u, in_both);
    const bool alone = lane < count && !is_in(list.row.box[lane], peer.row);
    const unsigned of_one = __ballot_sync(~0u, alone);
    if (in_both) shared.box[__popc(of_both & before)] = first.box[lane];
    if (alone) shared.box[__popc(of_both) + __popc(of_one & before)] = list.row.box[lane];
    if (lane == 0) shared.shared_boxes = __popc(of_both);
  }
  /// By one thread. The stage of tile n has been used by tile n - stages, in both blocks if tile n
  /// is shared.
  __device__ void produce(int n) {
    if (n >= count) return;
    const auto [s, parity] = PipelineState<stages>::after(n);
    const bool sends = n < both && s % cluster == rank;
    if (n >= stages) {
      tma::wait(&shared.empty[s], parity ^ 1);
      if (sends) tma::wait(&shared.peer_empty[s], parity ^ 1);
    }
    const auto bytes = static_cast<unsigned>(list.p.pitch) * sizeof(double);
    tma::expect(&shared.full[s], 5 * bytes);
    const int box = shared.box[n];  // behind the arrival, which no read may overtake
    const Vector* const positions = list.positions(box);
    const double* const charges = list.charges(box);
    Tile& tile = shared.tile[s];
    if (sends) {
      constexpr std::uint16_t to_both = 3;
      dsm::load_bytes_multicast(tile.positions, positions, 4 * bytes, &shared.full[s], to_both);
      dsm::load_bytes_multicast(tile.charges, charges, bytes, &shared.full[s], to_both);
    } else if (n >= both) {
      tma::load_bytes(tile.positions, positions, 4 * bytes, &shared.full[s]);
      tma::load_bytes(tile.charges, charges, bytes, &shared.full[s]);
    }
  }
  template <bool L2, class Compute>
  __device__ void run(Compute& compute) {
    for (int n = 0; n < count; ++n) {
      fetch_ahead<L2>(list, n);
      if (threadIdx.x == 0) produce(n + stages - 1);
      __syncwarp();
      const auto [s, parity] = PipelineState<stages>::after(n);
      tma::wait(&shared.full[s], parity);
      __syncwarp();
      compute.add(shared.tile[s], n);
      tma::fence_async_proxy();  // what was read, before the copy that overwrites it
      __syncwarp();
      if (threadIdx.x % 32 == 0) {
        tma::arrive(&shared.empty[s]);
        if (n < both && s % cluster != rank) {
          dsm::arrive_read(dsm::remote_address(&shared.peer_empty[s], rank ^ 1));
        }
      }
    }
    __syncwarp();
    dsm::cluster_sync();  // barriers must outlive what the peer's warps say
  }
};

const bool registered = register_variant<Problem>("lavamd", Strategy::dsm, configs<SharedRing>());

}  // namespace
}  // namespace amasia::lavamd
