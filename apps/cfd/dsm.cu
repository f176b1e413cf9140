// cfd/dsm: the blocks of a cluster take neighbouring tiles, so that a neighbour is found in shared
// memory if it lies in one of them. At iso and resident it is read where its own block keeps it; of
// records the copy engine brings each tile to all blocks.
#include "apps/cfd/iso.cuh"
#include "apps/cfd/resident.cuh"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/cluster_loads.cuh"

namespace amasia::cfd {
namespace {

constexpr int iso_cluster = 4;

__global__ void __launch_bounds__(iso_threads) dsm_fluxes(IsoView v) {
  __shared__ float variable[variables][iso_threads];
  const int t = static_cast<int>(threadIdx.x), i = IsoView::element();
  const int first = i - t - static_cast<int>(dsm::rank()) * iso_threads;  // of the cluster
  const bool exists = i < v.elements;
  if (exists) {
#pragma unroll
    for (int k = 0; k < variables; ++k) variable[k][t] = v.now[k * v.pitch + i];
  }
  dsm::cluster_sync();
  if (exists) {
    const Record own = record_of([&](int k) { return variable[k][t]; });
    const auto neighbour = [&](int n) {
      const unsigned place = static_cast<unsigned>(n - first);
      if (place >= iso_cluster * iso_threads) return v.record(n);
      const unsigned remote =
          dsm::remote_address(&variable[0][place % iso_threads], place / iso_threads);
      return record_of([&](int k) {
        return dsm::load_float(remote + static_cast<unsigned>(k) * iso_threads * 4);
      });
    };
    Sums sums;
#pragma unroll
    for (int f = 0; f < faces; ++f) {
      const Face face = v.face(f, i);
      sums.add_face(own, face, face.neighbour >= 0 ? neighbour(face.neighbour) : v.far);
    }
    v.store_flux(i, sums.finish(own));
  }
  dsm::cluster_sync();  // nobody leaves while others read
}

template <int CLUSTER>
struct ClusterTiles {
  alignas(128) Record records[CLUSTER][tile_threads];
  tma::Barrier arrived;
};

template <int CLUSTER>
__global__ void __launch_bounds__(tile_threads) dsm_stage(StageView v) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<ClusterTiles<CLUSTER>*>(memory);
  const int rank = static_cast<int>(dsm::rank()), t = static_cast<int>(threadIdx.x);
  admit_successor();
  if (t == 0) {
    tma::init(&shared.arrived, 1);
    tma::fence_init();
  }
  dsm::cluster_sync();
  wait_for_predecessor();

  // All blocks of a cluster have as many turns, those behind the last tile with nothing to do.
  unsigned phase = 0;
  for (TileRun run(v); run.tile - rank < v.tiles; run.next(), phase ^= 1) {
    const std::int64_t i = run.first() + t;
    const int first = (run.tile - rank) * tile_threads;  // of the cluster
    const bool exists = i < v.elements;
    if (t == 0) {
      const int left = v.tiles - (run.tile - rank);
      tma::expect(&shared.arrived, (left < CLUSTER ? left : CLUSTER) * sizeof(shared.records[0]));
      if (!run.done()) {
        dsm::load_bytes_multicast(shared.records[rank], v.now + run.first(),
                                  sizeof(shared.records[0]), &shared.arrived,
                                  static_cast<std::uint16_t>((1u << CLUSTER) - 1));
      }
    }
    Record own, old;
    Face face[faces];
    float root_of_area = 0;
    if (exists) {
      own = load_record(v.now + i);
      old = v.stage > 0 ? load_record(v.old + i) : own;
#pragma unroll
      for (int f = 0; f < faces; ++f) face[f] = load_face(v.faces + f * v.pitch + i);
      root_of_area = v.roots[i];
    }
    tma::wait(&shared.arrived, phase);
    if (exists) {
      const Flux flux = flux_of(v, own, face, [&](int, int n) {
        const unsigned place = static_cast<unsigned>(n - first);
        if (place >= CLUSTER * tile_threads) return load_record(v.now + n);
        return load_record(&shared.records[0][place]);
      });
      store_record(v.next + i, after_stage(v, old, root_of_area, flux));
    }
    tma::fence_async_proxy();  // reads before the next tiles arrive
    dsm::cluster_sync();       // nobody overwrites or leaves while others read
  }
}

// resident: records of the cluster's other block are read where it keeps them.
constexpr int resident_cluster = 2;

struct DsmMover : Mover {
  static constexpr int beside = 1 << 29;  // the other block's
  const unsigned other = dsm::rank() ^ 1;
  using Mover::Mover;

  __device__ int place_in_share(int n) const {
    const auto i = static_cast<unsigned>(n - first + (other == 0 ? v.share : -v.share));
    return i < static_cast<unsigned>(v.share) ? beside + place_of(static_cast<int>(i))
                                              : Mover::place_in_share(n);
  }
  __device__ Record near(int place) const {
    if (place < beside) return Mover::near(place);
    const unsigned records = dsm::remote_address(share.record, other);
    const float4 a = dsm::load_float4(records + static_cast<unsigned>(place - beside));
    const float4 b = dsm::load_float4(records + static_cast<unsigned>((place - beside) ^ 16));
    return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
  }
  __device__ void meet() { dsm::cluster_sync(); }
};

std::vector<ConfigOf<Problem>> dsm_configs() {
  std::vector<ConfigOf<Problem>> all;
  all.push_back(iso(dsm_fluxes, 1, variables * iso_threads * sizeof(float), iso_cluster));
  add_resident<DsmMover>(all, 0, resident_cluster);
  using Tiles4 = ClusterTiles<4>;
  add_records(all, dsm_stage<4>, {4, sizeof(Tiles4), sizeof(Tiles4::records), 1, "multicast-4"});
  return all;
}

const bool dsm_registered = register_variant<Problem>("cfd", Strategy::dsm, dsm_configs());

}  // namespace
}  // namespace amasia::cfd
