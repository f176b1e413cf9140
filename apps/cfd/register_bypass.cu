// cfd/register_bypass: what lies together travels by cp.async and is waited for at once (Svedin et
// al. 2021, algorithm 1). Neighbours outside a block's elements lie anywhere; each is read by one
// thread, straight into its registers.
#include "apps/cfd/planes.cuh"
#include "apps/cfd/slots.cuh"
#include "apps/cfd/stage_tile.cuh"

namespace amasia::cfd {
namespace {

// iso: the faces of 192 elements in chunks of 16 bytes.
__global__ void __launch_bounds__(iso_threads) register_bypass_fluxes(IsoView v) {
  __shared__ FacePlanes planes;
#pragma unroll
  for (int f = 0; f < faces; ++f) planes.copy(v, f);
  async::commit();
  async::wait<0>();
  __syncthreads();

  const int i = IsoView::element();
  if (i >= v.elements) return;
  const Record own = v.record(i);
  Sums sums;
#pragma unroll
  for (int f = 0; f < faces; ++f) {
    const Face face = planes.face(f);
    sums.add_face(own, face, face.neighbour >= 0 ? v.record(face.neighbour) : v.far);
  }
  v.store_flux(i, sums.finish(own));
}

// Records: the whole tile.
__global__ void __launch_bounds__(tile_threads) register_bypass_stage(StageView v) {
  __shared__ StageTile tile;
  admit_successor();
  bool waited = false;
  for (TileRun run(v); !run.done(); run.next()) {
    const std::int64_t first = run.first(), i = first + threadIdx.x;
    tile.copy_faces(v, first);
    if (!waited) wait_for_predecessor();
    waited = true;
    tile.copy_own(v, first);
    tile.copy_old(v, first);
    async::commit();
    async::wait<0>();
    __syncthreads();
    if (i < v.elements) store_record(v.next + i, tile.after(v, tile.flux(v, first)));
    if (run.has(1)) __syncthreads();  // the tile has been read
  }
}

std::vector<ConfigOf<Problem>> register_bypass_configs() {
  std::vector<ConfigOf<Problem>> all;
  all.push_back(iso(register_bypass_fluxes, 1, sizeof(FacePlanes)));
  add_resident<SlotMover>(all, sizeof(SlotShare::slot));
  add_records(all, register_bypass_stage, {1, 0, stage_tile_bytes});
  return all;
}

const bool register_bypass_registered =
    register_variant<Problem>("cfd", Strategy::register_bypass, register_bypass_configs());

}  // namespace
}  // namespace amasia::cfd
