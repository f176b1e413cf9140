// twin/dsm: a cluster of four neighbours shares what its blocks have in common. Each block fetches
// a quarter of the rows that are common to all four and multicasts it. The owner of rows at the
// border of two tiles fetches them and writes them into the other's halo. The block's own rows are
// fetched as in tma. A cluster barrier per tile guarantees that halos are complete and that all
// four have read the tile before.

#include "microbench/twin/bulk_ring.cuh"
#include "microbench/twin/way.hpp"
#include "variants/ptx/cluster.cuh"

namespace amasia::twin {
namespace {

template <int CHUNKS>
struct Mover : SharedTile {
  BulkRing ring;
  int rank = static_cast<int>(dsm::rank());

  __device__ Mover(const Work& work, const CUtensorMap& map) : ring(work, map) {}

  /// Own rows that this block fetches: its tile's, and the halo that no block of the cluster owns.
  __device__ int first_row() const { return rank == 0 ? 0 : ring.work.shape.halo; }
  __device__ int end_row() const {
    const Shape& s = ring.work.shape;
    return s.rows - s.common - (rank == neighbours - 1 ? 0 : s.halo);
  }

  __device__ void ask(int index) {
    if (threadIdx.x >= 32 || !ring.has_next()) return;
    const Shape& s = ring.work.shape;
    const int common = s.common * s.row_chunks;
    if (threadIdx.x == 0) {
      const int own = (end_row() - first_row()) * s.row_chunks;
      tma::expect(ring.full + index, 16U * static_cast<unsigned>(own + common));
      const int part = (common + neighbours - 1) / neighbours;
      const int begin = min(rank * part, common), end = min(begin + part, common);
      if (end > begin) {
        dsm::load_bytes_multicast(
            ring.stage(index) + begin, ring.work.in + ring.next.common_at + begin,
            16U * static_cast<unsigned>(end - begin), ring.full + index, (1U << neighbours) - 1);
      }
    }
    __syncwarp();
    ring.copy_own_rows(index, first_row(), end_row());
    ring.asked();
  }
  /// Writes `halo` rows that start at `from` of this stage to row `to` of a neighbour's.
  __device__ void give(int from, int to, int neighbour) const {
    const Shape& s = ring.work.shape;
    const float4* const own = ring.stage(ring.current);
    const unsigned theirs =
        dsm::remote_address(own + to * s.row_chunks, static_cast<unsigned>(neighbour));
    for (int i = static_cast<int>(threadIdx.x); i < s.halo * s.row_chunks;
         i += static_cast<int>(blockDim.x)) {
      dsm::store(theirs + 16U * static_cast<unsigned>(i), own[from * s.row_chunks + i]);
    }
  }

  __device__ void start() {
    if (threadIdx.x == 0) ring.initialise();
    dsm::cluster_sync();
#pragma unroll 1
    for (int s = 0; s < ring.work.stages - 1; ++s) ask(s);
  }
  __device__ void bring() {
    const Shape& s = ring.work.shape;
    ring.wait();
    if (s.halo > 0) {
      if (rank > 0) give(s.halo, s.rows - s.halo, rank - 1);
      if (rank < neighbours - 1) give(s.rows - 2 * s.halo, 0, rank + 1);
    }
    dsm::cluster_sync();
    ask(ring.last);
    tile = ring.stage(ring.current);
    ring.advance();
  }

  __device__ void release() const { tma::fence_async_proxy(); }
  /// Nobody's shared memory goes while a neighbour may still write to it.
  __device__ void finish() const { dsm::cluster_sync(); }
};

std::string nothing_to_share(const Traits& t) {
  return t.halo == 0 && t.common == 0
             ? "neighbouring blocks have no data in common (no halo, no common rows): dsm would be "
               "tma with a wider barrier"
             : "";
}

}  // namespace

Way dsm_way() {
  return {Strategy::dsm,
          kernels_of<Mover>(),
          {at_least(1, "UBLKCP", "cp.async.bulk", false), {"LDGSTS", "cp.async", 0, false}},
          whole_tiles,
          all_stages,
          neighbours,
          true,
          barrier_bytes,
          nothing_to_share};
}

}  // namespace amasia::twin
