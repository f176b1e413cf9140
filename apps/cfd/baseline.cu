// cfd/baseline: everything goes through registers. At iso nothing is kept in shared memory, as in
// Rodinia; at the other schedules a block puts its own records there, where most neighbours of 256
// consecutive elements are found, and a barrier makes them visible.
#include "apps/cfd/iso.cuh"
#include "apps/cfd/resident.cuh"

namespace amasia::cfd {
namespace {

const bool baseline_registered =
    register_variant<Problem>("cfd", Strategy::baseline,
                              {iso<IsoMover>(), resident_config<Mover>(),
                               walk_config<TileMover>(true), walk_config<TileMover>(false)});

}  // namespace
}  // namespace amasia::cfd
