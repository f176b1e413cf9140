// nw/dsm: borders go to the block that continues them through the shared memory of its cluster.
//
// iso: tiles of one anti-diagonal need nothing of each other, only of the tile between them that
// the launch before computed. Two neighbours share what they need of that one: the lower left block
// reads it, and hands its right edge to the upper right block.
//
// iso-pairs: a cluster takes two tiles, one below the other. The lower one continues what it reads
// from the upper one.
//
// columns-128: the walker writes a band's last column straight into the shared memory of the next
// block. Only the last block of a cluster goes through global memory. ref and scores travel as in
// nw/tma. Clusters of 8 do not fill a GPU: the bands that they leave are taken by a second launch
// in clusters of 2, which starts beside the first.
#include "apps/nw/column_boxes.cuh"
#include "apps/nw/dsm_diagonals.cuh"

namespace amasia::nw {
namespace {

template <class Schedule, class Kernel>
ConfigOf<Problem> tiles(Kernel kernel) {
  return diagonals_config<Schedule>("", kernel, {{"stages", 1}}, sizeof(RefTile), NoArguments{}, 2,
                                    Schedule::tiles);
}

template <int STAGES, int... CLUSTERS>
ConfigOf<Problem> columns(const char* name) {
  using B = ColumnBands<STAGES>;
  return columns_config<B>({name, column_box_threads, sizeof(ColumnBoxes<B>), 1, STAGES - 2},
                           std::vector{column_part<B, CLUSTERS>()...}, maps_of_columns<B>);
}

const bool registered = register_variant<Problem>(
    "nw", Strategy::dsm,
    {tiles<Iso>(diagonal), columns<7, 8, 2>("7-stages-clusters-8-and-2"),
     columns<7, 2>("7-stages-cluster-2"), tiles<IsoPairs>(diagonal_of_pairs)},
    {{"bands-128x32", "with a hand-over in the cluster it was slower than columns at every size"}});

}  // namespace
}  // namespace amasia::nw
