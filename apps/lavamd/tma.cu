// lavamd/tma: one thread brings the next tiles by bulk copies, two of them for a box (3.2 KB and
// 0.8 KB at 100 particles), into a ring of three stages. A tile is known by its bytes, a stage is
// handed back by the warps: no block barrier.
#include "apps/lavamd/walk.cuh"
#include "variants/ptx/bulk.cuh"

namespace amasia::lavamd {
namespace {

struct BulkRing {
  static constexpr int stages = 3, cluster = 1;
  static constexpr std::size_t bytes_in_flight = (stages - 1) * tile_bytes;
  struct Stages {
    Tile tile[stages];
    tma::Barrier full[stages], empty[stages];
  };
  Stages& shared;
  const List& list;

  __device__ BulkRing(Stages& ring, const List& boxes) : shared(ring), list(boxes) {
    for (Tile& tile : shared.tile) clear_pads(tile, list);
    if (threadIdx.x == 0) {
      for (int s = 0; s < stages; ++s) {
        tma::init(&shared.full[s], 1);
        tma::init(&shared.empty[s], warps);
      }
      tma::fence_init();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int n = 0; n < stages - 1; ++n) produce(n);
    }
    __syncwarp();
  }
  /// By one thread. The stage of tile n has been used by tile n - stages.
  __device__ void produce(int n) {
    if (n >= list.count()) return;
    const int s = n % stages, box = list.row.box[n];
    if (n >= stages) tma::wait(&shared.empty[s], PipelineState<stages>::after(n - stages).phase);
    const auto bytes = static_cast<unsigned>(list.p.pitch) * sizeof(double);
    tma::expect(&shared.full[s], 5 * bytes);
    tma::load_bytes(shared.tile[s].positions, list.positions(box), 4 * bytes, &shared.full[s]);
    tma::load_bytes(shared.tile[s].charges, list.charges(box), bytes, &shared.full[s]);
  }
  template <bool L2, class Compute>
  __device__ void run(Compute& compute) {
    for (int n = 0; n < list.count(); ++n) {
      fetch_ahead<L2>(list, n);
      if (threadIdx.x == 0) produce(n + stages - 1);
      __syncwarp();
      const auto [s, parity] = PipelineState<stages>::after(n);
      tma::wait(&shared.full[s], parity);
      __syncwarp();
      compute.add(shared.tile[s], n);
      tma::fence_async_proxy();  // what was read, before the copy that overwrites it
      __syncwarp();
      if (threadIdx.x % 32 == 0) tma::arrive(&shared.empty[s]);
    }
  }
};

const bool registered = register_variant<Problem>("lavamd", Strategy::tma, configs<BulkRing>());

}  // namespace
}  // namespace amasia::lavamd
