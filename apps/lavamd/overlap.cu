// lavamd/overlap: a ring of three tiles. Two travel by cp.async while one is computed (Svedin et
// al. 2021, algorithm 2, corrected: a stage is refilled after the barrier that all pass when they
// have read it). One barrier a tile.
#include "apps/lavamd/walk.cuh"

namespace amasia::lavamd {
namespace {

struct CopyRing {
  static constexpr int stages = 3, cluster = 1;
  static constexpr std::size_t bytes_in_flight = (stages - 1) * tile_bytes;
  struct Stages {
    Tile tile[stages];
  };
  Stages& shared;
  const List& list;

  __device__ CopyRing(Stages& ring, const List& boxes) : shared(ring), list(boxes) {
    for (Tile& tile : shared.tile) clear_pads(tile, list);
    for (int n = 0; n < stages - 1; ++n) produce(n);
  }
  /// A group of copies for every tile, empty behind the last, so that waiting counts tiles.
  __device__ void produce(int n) {
    if (n < list.count()) each_chunk<threads>(list, shared.tile[n % stages], n, copy_chunk);
    async::commit();
  }
  template <bool L2, class Compute>
  __device__ void run(Compute& compute) {
    for (int n = 0; n < list.count(); ++n) {
      fetch_ahead<L2>(list, n);
      async::wait<stages - 2>();
      __syncthreads();  // tile n is here, and tile n - 1 has been read
      produce(n + stages - 1);
      compute.add(shared.tile[n % stages], n);
    }
  }
};

const bool registered = register_variant<Problem>("lavamd", Strategy::overlap, configs<CopyRing>());

}  // namespace
}  // namespace amasia::lavamd
