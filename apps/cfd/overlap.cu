// cfd/overlap: cp.async into a ring, the oldest stage is waited for (Svedin et al. 2021, algorithm
// 2). At iso a stage is one face of all elements. Of records a stage is a tile in two groups: faces
// and own records, and what only the update needs, which is in flight while the flux is computed.
// A block that walks has the whole next tile in flight as well.
#include "apps/cfd/planes.cuh"
#include "apps/cfd/slots.cuh"
#include "apps/cfd/stage_tile.cuh"

namespace amasia::cfd {
namespace {

constexpr int ring_stages = 2;

/// Waits for face f; the ones behind it, one group each, stay in flight.
__device__ void wait_for_face(int f) {
  static_assert(faces == 4);
  if (f == 0) async::wait<3>();
  if (f == 1) async::wait<2>();
  if (f == 2) async::wait<1>();
  if (f == 3) async::wait<0>();
  __syncthreads();
}

__global__ void __launch_bounds__(iso_threads) overlap_fluxes(IsoView v) {
  __shared__ FacePlanes planes;
#pragma unroll
  for (int f = 0; f < faces; ++f) {
    planes.copy(v, f);
    async::commit();
  }
  const int i = IsoView::element();
  const bool exists = i < v.elements;
  const Record own = exists ? v.record(i) : v.far;
  Sums sums;
#pragma unroll
  for (int f = 0; f < faces; ++f) {
    wait_for_face(f);
    if (!exists) continue;
    const Face face = planes.face(f);
    sums.add_face(own, face, face.neighbour >= 0 ? v.record(face.neighbour) : v.far);
  }
  if (exists) v.store_flux(i, sums.finish(own));
}

__global__ void __launch_bounds__(tile_threads) overlap_stage(StageView v) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto* const ring = reinterpret_cast<StageTile*>(memory);  // (ring_stages)
  // Two groups a tile, empty ones behind the last tile.
  const auto copy = [&](StageTile& tile, std::int64_t first, bool exists) {
    if (exists) tile.copy_own(v, first);
    async::commit();
    if (exists) tile.copy_old(v, first);
    async::commit();
  };

  // Prologue: what no stage writes comes before the wait for the stage before this one
  TileRun run(v);
  admit_successor();
  if (!run.done()) ring[0].copy_faces(v, run.first());
  wait_for_predecessor();
  copy(ring[0], run.first(), !run.done());

  // Main loop
  for (int stage = 0; !run.done(); run.next(), stage ^= 1) {
    StageTile& tile = ring[stage];
    StageTile& other = ring[stage ^ 1];
    if (run.has(1)) other.copy_faces(v, run.first(1));
    copy(other, run.first(1), run.has(1));
    async::wait<3>();
    __syncthreads();
    const std::int64_t i = run.first() + threadIdx.x;
    const bool exists = i < v.elements;
    Flux flux;
    if (exists) flux = tile.flux(v, run.first());
    async::wait<2>();  // the thread's own copies: no barrier
    if (exists) store_record(v.next + i, tile.after(v, flux));
    if (run.has(1)) __syncthreads();  // the tile has been read
  }
}

std::vector<ConfigOf<Problem>> overlap_configs() {
  std::vector<ConfigOf<Problem>> all;
  all.push_back(iso(overlap_fluxes, faces, sizeof(FacePlanes)));
  add_resident<AheadMover<false>>(all, sizeof(SlotShare::slot));
  add_records(all, overlap_stage,
              {1, ring_stages * sizeof(StageTile), ring_stages * stage_tile_bytes, ring_stages});
  return all;
}

const bool overlap_registered =
    register_variant<Problem>("cfd", Strategy::overlap, overlap_configs());

}  // namespace
}  // namespace amasia::cfd
