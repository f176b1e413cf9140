// lavamd/baseline: every tile goes global -> register -> shared, and a barrier makes it visible. By
// groups, the next tile waits in registers while this one is computed.
#include "apps/lavamd/walk.cuh"

namespace amasia::lavamd {
namespace {

template <bool AHEAD>
struct ThroughRegisters {
  static constexpr int stages = 1, cluster = 1;
  static constexpr std::size_t bytes_in_flight = tile_bytes;
  using Stages = Tile;
  static constexpr int per_thread = (most_chunks + threads - 1) / threads;
  Tile& tile;
  const List& list;
  int4 held[per_thread];

  __device__ ThroughRegisters(Stages& stage, const List& boxes) : tile(stage), list(boxes) {
    clear_pads(tile, list);
  }
  __device__ void load(int n) {
    if (n >= list.count()) return;
    each_chunk<threads>(list, tile, n, [&](int4*, const int4* from, int k) { held[k] = *from; });
  }
  __device__ void store(int n) {
    each_chunk<threads>(list, tile, n, [&](int4* to, const int4*, int k) { *to = held[k]; });
  }
  template <bool L2, class Compute>
  __device__ void run(Compute& compute) {
    if (AHEAD) load(0);
    for (int n = 0; n < list.count(); ++n) {
      fetch_ahead<L2>(list, n);
      if (!AHEAD) load(n);
      store(n);
      if (AHEAD) load(n + 1);
      __syncthreads();
      compute.add(tile, n);
      __syncthreads();  // the tile has been read
    }
  }
};

const bool registered = register_variant<Problem>(
    "lavamd", Strategy::baseline, configs<ThroughRegisters<false>, ThroughRegisters<true>>());

}  // namespace
}  // namespace amasia::lavamd
