// cfd/dsm: the blocks of a cluster take neighbouring tiles and read each other's variables, so that
// a neighbour is found in shared memory if it lies in one of the cluster's tiles. `read`: it is
// read where its own block keeps it. `multicast`: the copy engine brings each tile to all blocks.
#include "apps/cfd/iso.cuh"
#include "apps/cfd/records.cuh"
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

enum class Way { read, multicast };

template <Way WAY, int CLUSTER>
struct ClusterTiles {
  alignas(128) Record records[WAY == Way::read ? 1 : CLUSTER][tile_threads];
  tma::Barrier arrived;
};

template <Way WAY, int CLUSTER>
__global__ void __launch_bounds__(tile_threads) dsm_stage(StageView v) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<ClusterTiles<WAY, CLUSTER>*>(memory);
  const int rank = static_cast<int>(dsm::rank()), t = static_cast<int>(threadIdx.x);
  admit_successor();
  if (WAY == Way::multicast && t == 0) {
    tma::init(&shared.arrived, 1);
    tma::fence_init();
  }
  if (WAY == Way::multicast) dsm::cluster_sync();
  wait_for_predecessor();

  // All blocks of a cluster have as many turns, those behind the last tile with nothing to do.
  unsigned phase = 0;
  for (TileRun run(v); run.tile - rank < v.tiles; run.next(), phase ^= 1) {
    const std::int64_t i = run.first() + t;
    const int first = (run.tile - rank) * tile_threads;  // of the cluster
    const bool exists = i < v.elements;
    Record own = v.far;
    if (exists) own = load_record(v.now + i);
    if constexpr (WAY == Way::read) {
      store_record(&shared.records[0][t], own);
      dsm::cluster_sync();
    } else if (t == 0) {
      const int left = v.tiles - (run.tile - rank);
      tma::expect(&shared.arrived, (left < CLUSTER ? left : CLUSTER) * sizeof(shared.records[0]));
      if (!run.done()) {
        dsm::load_bytes_multicast(shared.records[rank], v.now + run.first(),
                                  sizeof(shared.records[0]), &shared.arrived,
                                  static_cast<std::uint16_t>((1u << CLUSTER) - 1));
      }
    }
    Face face[faces];
    float root_of_area = 0;
    Record old = own;
    if (exists) {
#pragma unroll
      for (int f = 0; f < faces; ++f) face[f] = load_face(v.faces + f * v.pitch + i);
      root_of_area = v.roots[i];
      if (v.stage > 0) old = load_record(v.old + i);
    }
    if constexpr (WAY == Way::multicast) tma::wait(&shared.arrived, phase);
    if (exists) {
      const Flux flux = flux_of(v, own, face, [&](int, int n) {
        const unsigned place = static_cast<unsigned>(n - first);
        if (place >= CLUSTER * tile_threads) return load_record(v.now + n);
        if constexpr (WAY == Way::multicast) {
          return load_record(&shared.records[0][0] + place);
        } else {
          const unsigned remote =
              dsm::remote_address(&shared.records[0][place % tile_threads], place / tile_threads);
          const float4 a = dsm::load_float4(remote), b = dsm::load_float4(remote + 16);
          return Record{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
        }
      });
      store_record(v.next + i, after_stage(v, old, root_of_area, flux));
    }
    if (WAY == Way::multicast) tma::fence_async_proxy();  // reads before the next tiles arrive
    dsm::cluster_sync();  // nobody overwrites or leaves while others read
  }
}

template <Way WAY, int CLUSTER>
void add_dsm(std::vector<ConfigOf<Problem>>& all, const char* suffix) {
  using Storage = ClusterTiles<WAY, CLUSTER>;
  add_records(all, dsm_stage<WAY, CLUSTER>,
              {CLUSTER, sizeof(Storage), sizeof(Storage::records), 1, suffix});
}

std::vector<ConfigOf<Problem>> dsm_configs() {
  std::vector<ConfigOf<Problem>> all;
  all.push_back(iso(dsm_fluxes, 1, variables * iso_threads * sizeof(float), iso_cluster));
  add_dsm<Way::multicast, 4>(all, "multicast-4");
  add_dsm<Way::read, 4>(all, "read-4");
  add_dsm<Way::read, 8>(all, "read-8");
  return all;
}

const bool dsm_registered = register_variant<Problem>("cfd", Strategy::dsm, dsm_configs());

}  // namespace
}  // namespace amasia::cfd
