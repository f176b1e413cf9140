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
#include "apps/nw/diagonals.cuh"
#include "variants/copies/tile.cuh"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::nw {
namespace {

/// Scores that the first block of a cluster of two sends to the second, one by each thread. There
/// an mbarrier counts them, so that no barrier of the cluster follows, which would be a fence over
/// all of the device's memory.
struct Handing {
  tma::Barrier full;

  /// By all threads of both; dsm::cluster_wait() follows, before send().
  __device__ void begin() {
    if (threadIdx.x == 0) {
      tma::init(&full, 1);
      tma::fence_init();
    }
    dsm::cluster_arrive_initialised();
  }
  /// `to`: in this block's shared memory, what the score is sent to in the other's.
  __device__ void send(int& to, int score) {
    dsm::store_async(dsm::remote_address(&to, 1), score, dsm::remote_address(&full, 1));
  }
  /// The second block, and if it has no tile: it may not leave before all have come.
  __device__ void wait() {
    if (threadIdx.x == 0) tma::expect(&full, tile16 * sizeof(int));
    tma::wait(&full, 0);
  }
};

struct EdgeSharedStorage : TileSharedStorage<Iso> {
  int handed[tile16];  // right edge of the tile between this one and its neighbour
  Handing handing;
};
struct RowSharedStorage : TileSharedStorage<Iso> {
  Handing handing;
};

__device__ __forceinline__ void load_ref(RefTile& ref, const DiagonalRun& run, const Tile16& tile) {
  baseline::copy_tile<Tile<int, tile16, tile16>, tile16>(&ref[0][0], run.ref, tile.origin(),
                                                         threadIdx.x);
}

__global__ void __launch_bounds__(tile16) diagonal(DiagonalRun run) {
  __shared__ EdgeSharedStorage shared;
  const unsigned rank = dsm::rank();
  const int t = threadIdx.x;
  shared.handing.begin();
  // Prologue: the right edge of the tile above this one is the left border of the next block's
  const Tile16 tile = tile_of_block<Iso>(run, 0);
  // A launch of an odd number of tiles ends with a block that has none
  const bool exists = tile.row >= 0 && tile.columns > 0;
  const bool receives = rank == 1 && exists;
  int edge = 0;
  if (exists) {
    const bool hands = rank == 0 && tile.row > 0 && tile.column + tile16 < run.ref.columns;
    edge =
        *(hands ? &run.score.at(tile.row - tile16 + t, tile.column + tile16 - 1) : run.score.data);
    Borders<> borders(run, tile, true, !receives);
    load_ref(shared.ref[0], run, tile);
    borders.store(shared.scores);
  }
  dsm::cluster_wait();
  if (rank == 0) {
    shared.handing.send(shared.handed[t], edge);
  } else {
    shared.handing.wait();
  }
  if (!exists) return;
  if (receives) shared.scores[t + 1][0] = shared.handed[t];
  // Main loop
  __syncthreads();
  WholeRef ref{shared.ref[0]};
  sweep(shared.scores, ref, run.penalty);
  // Epilogue
  store_scores(shared.scores, run, tile);
}

__global__ void __launch_bounds__(tile16) diagonal_of_pairs(DiagonalRun run) {
  __shared__ RowSharedStorage shared;
  Scores& scores = shared.scores;
  shared.handing.begin();
  // Prologue: two blocks share a column of the launch
  const unsigned rank = dsm::rank();
  const std::int64_t column = run.first_column + blockIdx.x / IsoPairs::tiles;
  const Tile16 tile(run, (run.diagonal - column) * IsoPairs::tiles + rank, column);
  const Borders<> borders(run, tile, rank == 0);
  load_ref(shared.ref[0], run, tile);
  if (rank == 0) {
    borders.store(scores);
  } else {
    borders.store_left(scores);
  }
  __syncthreads();
  dsm::cluster_wait();
  // Main loop: the lower tile waits for the row that the upper one ends with
  WholeRef ref{shared.ref[0]};
  if (rank == 1) shared.handing.wait();
  sweep(scores, ref, run.penalty);
  if (rank == 0) {
    shared.handing.send(scores[0][threadIdx.x + 1], scores[tile16][threadIdx.x + 1]);
  }
  // Epilogue
  store_scores(scores, run, tile);
}

template <class Schedule, class Kernel>
ConfigOf<Problem> tiles(Kernel kernel) {
  return diagonals_config<Schedule>("", kernel, {{"stages", 1}}, sizeof(RefTile), NoArguments{}, 2,
                                    Schedule::tiles);
}

const bool registered = register_variant<Problem>(
    "nw", Strategy::dsm,
    {tiles<Iso>(diagonal), columns_by_boxes<7, 8, 2>("7-stages-clusters-8-and-2"),
     columns_by_boxes<7, 2>("7-stages-cluster-2"), tiles<IsoPairs>(diagonal_of_pairs)},
    {{"bands-128x32", "with a hand-over in the cluster it was slower than columns at every size"}});

}  // namespace
}  // namespace amasia::nw
