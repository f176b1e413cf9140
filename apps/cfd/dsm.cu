// cfd/dsm: the blocks of a cluster take neighbouring tiles, so that a neighbour is found in shared
// memory if it lies in one of them. At iso and resident it is read where its own block keeps it; at
// records-walk the copy engine brings each tile to all blocks.
#include "apps/cfd/iso.cuh"
#include "apps/cfd/resident.cuh"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/cluster.cuh"

namespace amasia::cfd {
namespace {

struct DsmIso : IsoMover {
  struct Storage {
    float variable[variables][iso_threads];
  };
  static constexpr int cluster_blocks = 4;
  static constexpr bool block_waits = true;
  static constexpr std::size_t bytes_in_flight = sizeof(Storage);
  Storage& kept;
  const int t = static_cast<int>(threadIdx.x);
  const int first = i - t - static_cast<int>(dsm::rank()) * iso_threads;  // of the cluster

  __device__ DsmIso(const IsoView& view, Storage& s) : IsoMover(view, s), kept(s) {
#pragma unroll
    for (int k = 0; k < variables && i < v.p.elements; ++k) {
      kept.variable[k][t] = v.p.result[k * v.p.pitch + i];
    }
    dsm::cluster_sync();
  }
  __device__ Record own() const {
    return complete([&](int k) { return kept.variable[k][t]; });
  }
  __device__ Record behind(int, int n) const {
    const unsigned place = static_cast<unsigned>(n - first);
    if (place >= cluster_blocks * iso_threads) return v.record(n);
    const unsigned remote =
        dsm::remote_address(&kept.variable[0][place % iso_threads], place / iso_threads);
    return complete([&](int k) {
      return dsm::load_float(remote + static_cast<unsigned>(k) * iso_threads * 4);
    });
  }
  __device__ void leave() { dsm::cluster_sync(); }  // nobody leaves while others read
};

struct DsmTileMover : TileMover {
  static constexpr int cluster_blocks = 4;
  struct Storage {
    alignas(128) Record records[cluster_blocks][tile_threads];
    tma::Barrier arrived;
  };
  static constexpr std::size_t bytes_in_flight = sizeof(Storage::records);
  Storage& tiles;
  unsigned phase = 0;
  __device__ DsmTileMover(const StageView& view, Storage& s)
      : TileMover(view, reinterpret_cast<TileMover::Storage&>(s)), tiles(s) {
    if (t == 0) {
      tma::init(&tiles.arrived, 1);
      tma::fence_init();
    }
    dsm::cluster_sync();
  }
  __device__ static int rank() { return static_cast<int>(dsm::rank()); }
  __device__ void ask_faces(int slot, int first) {
    if (first + t < v.p.elements) TileMover::ask_faces(slot, first);
  }
  __device__ void ask_records(int, int first) {
    constexpr int bytes = sizeof(tiles.records[0]);
    if (t == 0) {
      const int left = (v.p.elements - first + rank() * tile_threads - 1) / tile_threads + 1;
      tma::expect(&tiles.arrived, min(left, cluster_blocks) * bytes);
      if (first < v.p.elements) {
        dsm::load_bytes_multicast(tiles.records[rank()], v.now + first, bytes, &tiles.arrived,
                                  static_cast<std::uint16_t>((1u << cluster_blocks) - 1));
      }
    }
    if (v.stage > 0 && first + t < v.p.elements) {
      before = load_record(v.records, place_of(std::int64_t{first} + t));
    }
  }
  __device__ void wait(int, bool) {
    tma::wait(&tiles.arrived, phase);
    phase ^= 1;
  }
  __device__ const Record* records(int) const { return tiles.records[0]; }
  __device__ void release(int, int, bool) {
    tma::fence_async_proxy();  // reads before the next tiles arrive
    dsm::cluster_sync();       // nobody overwrites or leaves while others read
  }
};

struct DsmMover : Mover {
  static constexpr int cluster_blocks = 2;
  static constexpr int beside = 1 << 29;  // the other block's
  const unsigned other = dsm::rank() ^ 1;
  using Mover::Mover;

  __device__ int place_in_share(int n) const {
    const auto i = static_cast<unsigned>(n - first + (other == 0 ? v.share : -v.share));
    return i < static_cast<unsigned>(v.share) ? beside + place_of(static_cast<int>(i))
                                              : Mover::place_in_share(n);
  }
  /// Records of the cluster's other block are read where it keeps them.
  __device__ Record near(int place) const {
    if (place < beside) return Mover::near(place);
    const unsigned at =
        dsm::remote_address(share.record, other) + static_cast<unsigned>(place - beside);
    return record_of(dsm::load_float4(at), dsm::load_float4(at ^ 16));
  }
  __device__ void meet() { dsm::cluster_sync(); }
};

const bool dsm_registered = register_variant<Problem>(
    "cfd", Strategy::dsm,
    {iso<DsmIso>(), resident_config<DsmMover>(), walk_config<DsmTileMover>(false)},
    {{dependent_name,
      "blocks of a cluster that come early wait for one another: slower than "
      "without at every size measured"}});

}  // namespace
}  // namespace amasia::cfd
