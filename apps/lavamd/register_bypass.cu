// lavamd/register_bypass: baseline's tiles and barriers, but cp.async carries them past the
// registers (Svedin et al. 2021, algorithm 1). The wait follows at once; other blocks of the SM
// cover it. What it saves are the registers in which baseline holds its next tile.
#include "apps/lavamd/walk.cuh"

namespace amasia::lavamd {
namespace {

struct WaitedCopies {
  static constexpr int stages = 1, cluster = 1;
  static constexpr std::size_t bytes_in_flight = tile_bytes;
  using Stages = Tile;
  Tile& tile;
  const List& list;

  __device__ WaitedCopies(Stages& stage, const List& boxes) : tile(stage), list(boxes) {
    clear_pads(tile, list);
  }
  template <bool L2, class Compute>
  __device__ void run(Compute& compute) {
    for (int n = 0; n < list.count(); ++n) {
      fetch_ahead<L2>(list, n);
      each_chunk<threads>(list, tile, n, copy_chunk);
      async::commit();
      async::wait<0>();
      __syncthreads();
      compute.add(tile, n);
      __syncthreads();  // the tile has been read
    }
  }
};

const bool registered =
    register_variant<Problem>("lavamd", Strategy::register_bypass, configs<WaitedCopies>());

}  // namespace
}  // namespace amasia::lavamd
