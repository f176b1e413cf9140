// cfd/baseline: everything goes through registers. At iso nothing is kept in shared memory, as in
// Rodinia; at the other schedules a block puts its own records there, where most neighbours of 256
// consecutive elements are found, and a barrier makes them visible.
#include "apps/cfd/iso.cuh"
#include "apps/cfd/resident.cuh"

namespace amasia::cfd {
namespace {

__global__ void __launch_bounds__(iso_threads) baseline_fluxes(IsoView v) {
  const int i = IsoView::element();
  if (i >= v.elements) return;
  const Record own = v.record(i);
  Sums sums;
#pragma unroll
  for (int f = 0; f < faces; ++f) {
    const Face face = v.face(f, i);
    sums.add_face(own, face, face.neighbour >= 0 ? v.record(face.neighbour) : v.far);
  }
  v.store_flux(i, sums.finish(own));
}

__global__ void __launch_bounds__(tile_threads) baseline_stage(StageView v) {
  __shared__ Record tile[tile_threads];
  admit_successor();
  bool waited = false;
  for (TileRun run(v); !run.done(); run.next()) {
    // Prologue: what no stage writes comes before the wait for the stage before this one
    const std::int64_t i = run.first() + threadIdx.x;
    Face face[faces];
#pragma unroll
    for (int f = 0; f < faces; ++f) face[f] = load_face(v.faces + f * v.pitch + i);
    const float root_of_area = v.roots[i];
    if (!waited) wait_for_predecessor();
    waited = true;
    const Record own = load_record(v.now + i);
    const Record old = v.stage > 0 ? load_record(v.old + i) : own;
    store_record(tile + threadIdx.x, own);
    __syncthreads();

    // Compute
    if (i < v.elements) {
      const Flux flux = flux_of(v, own, face, FromTile{v, tile, run.first()});
      store_record(v.next + i, after_stage(v, old, root_of_area, flux));
    }
    if (run.has(1)) __syncthreads();  // the tile has been read
  }
}

std::vector<ConfigOf<Problem>> baseline_configs() {
  std::vector<ConfigOf<Problem>> all;
  all.push_back(iso(baseline_fluxes, 1, 0));
  add_resident<Mover>(all, 0);
  add_records(all, baseline_stage, {1, 0, sizeof(Record) * tile_threads});
  return all;
}

const bool baseline_registered =
    register_variant<Problem>("cfd", Strategy::baseline, baseline_configs());

}  // namespace
}  // namespace amasia::cfd
