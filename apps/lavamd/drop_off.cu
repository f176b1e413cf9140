// lavamd/drop_off: no block barrier between arrival and use (Svedin et al. 2021, algorithm 3). By
// groups, eight neighbours are seen by one warp alone: each warp has its own slots, four groups
// deep, and the lanes that copied meet at the warp's barrier. At iso every thread reads every
// neighbour, so nothing is a warp's own: each warp copies the whole tile for itself, four times the
// traffic.
#include "apps/lavamd/walk.cuh"

namespace amasia::lavamd {
namespace {

/// iso: two tiles for each warp.
struct OwnTiles {
  static constexpr int stages = 2, cluster = 1;
  static constexpr std::size_t bytes_in_flight = std::size_t{warps} * tile_bytes;
  struct Stages {
    Tile tile[warps][stages];
  };
  Tile* tiles;
  const List& list;
  int lane = static_cast<int>(threadIdx.x) % 32;

  __device__ OwnTiles(Stages& shared, const List& boxes)
      : tiles(shared.tile[threadIdx.x / 32]), list(boxes) {
    for (int s = 0; s < stages; ++s) clear_pads(tiles[s], list, lane, 32);
    produce(0);
  }
  __device__ void produce(int n) {
    if (n < list.count()) each_chunk<32>(list, tiles[n % stages], n, copy_chunk, lane);
    async::commit();
  }
  template <bool L2, class Compute>
  __device__ void run(Compute& compute) {
    for (int n = 0; n < list.count(); ++n) {
      fetch_ahead<L2>(list, n);
      async::wait<0>();
      __syncwarp();  // the warp's copies are here, and it has read tile n - 1
      produce(n + 1);
      compute.add(tiles[n % stages], n);
    }
  }
};

/// A group of neighbours, as in a Tile.
struct Slot {
  alignas(16) Vector positions[group];
  alignas(16) double charges[group];
};

/// By groups. Group m of this warp is the warps * m + warp-th of all tiles together.
struct OwnGroups {
  static constexpr int stages = 4, cluster = 1;
  static constexpr std::size_t bytes_in_flight = std::size_t{warps} * (stages - 1) * sizeof(Slot);
  struct Stages {
    Slot slot[warps][stages];
  };
  Slot* slots;
  const List& list;
  int lane = static_cast<int>(threadIdx.x) % 32;
  int groups, next_tile = 0, next_group;  // of the next group to copy

  __device__ OwnGroups(Stages& shared, const List& boxes)
      : slots(shared.slot[threadIdx.x / 32]),
        list(boxes),
        groups(groups_of(boxes.p.particles)),
        next_group(static_cast<int>(threadIdx.x) / 32) {
    for (int m = 0; m < stages - 1; ++m) produce(m);
  }
  /// Lanes 0 ... 15 copy positions, 16 ... 19 charges. Behind the last particle copies are filled
  /// with zero.
  __device__ void produce(int m) {
    for (; next_group >= groups; next_group -= groups) ++next_tile;
    if (next_tile < list.count() && lane < 20) {
      const int box = list.row.box[next_tile], first = next_group * group;
      const bool position = lane < 16;
      const int chunk = position ? lane : lane - 16;
      const int particle = first + (position ? chunk / 2 : 2 * chunk);
      Slot& slot = slots[m % stages];
      auto* const to = reinterpret_cast<int4*>(position ? static_cast<void*>(slot.positions)
                                                        : static_cast<void*>(slot.charges));
      const auto* const from = reinterpret_cast<const int4*>(
          position ? static_cast<const void*>(list.positions(box) + first)
                   : static_cast<const void*>(list.charges(box) + first));
      const bool inside = particle < list.p.pitch;
      async::copy<16>(to + chunk, from + (inside ? chunk : 0), inside ? 16 : 0);
    }
    async::commit();
    next_group += warps;
  }
  template <bool L2, class Compute>
  __device__ void run(Compute& compute) {
    const int all = list.count() * groups - static_cast<int>(threadIdx.x) / 32;
    int tile = -1, g = static_cast<int>(threadIdx.x) / 32 + groups;
    for (int m = 0; m * warps < all; ++m, g += warps) {
      for (; g >= groups; g -= groups) {
        if (++tile < list.count()) fetch_ahead<L2>(list, tile);
      }
      async::wait<stages - 2>();
      __syncwarp();  // the warp's copies are here, and it has read group m - 1
      produce(m + stages - 1);
      compute.add_group(slots[m % stages].positions, slots[m % stages].charges);
    }
  }
};

const bool registered =
    register_variant<Problem>("lavamd", Strategy::drop_off, configs<OwnTiles, OwnGroups>());

}  // namespace
}  // namespace amasia::lavamd
