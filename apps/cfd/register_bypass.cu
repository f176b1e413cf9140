// cfd/register_bypass: what lies together travels by cp.async and is waited for at once (Svedin et
// al. 2021, algorithm 1). Neighbours outside a block's elements lie anywhere; each is read by one
// thread, straight into its registers.
#include "apps/cfd/iso.cuh"
#include "apps/cfd/resident.cuh"

namespace amasia::cfd {
namespace {

struct BypassIso : PlanesMover {
  static constexpr bool block_waits = true;
  __device__ BypassIso(const IsoView& view, FacePlanes& p) : PlanesMover(view, p) {
#pragma unroll
    for (int f = 0; f < faces; ++f) copy(f);
    async::commit();
    async::wait<0>();
    __syncthreads();
  }
};

const bool register_bypass_registered = register_variant<Problem>(
    "cfd", Strategy::register_bypass,
    {iso<BypassIso>(), resident_config<SlotMover>(), walk_config<CopiedTileMover<1>>(true),
     walk_config<CopiedTileMover<1>>(false)});

}  // namespace
}  // namespace amasia::cfd
