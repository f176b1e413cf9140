// The kernels of dsm at iso and iso-pairs: a border goes from one block to the other of a cluster
// of two.
#pragma once

#include "apps/nw/diagonals.cuh"
#include "variants/copies/tile_through_registers.cuh"
#include "variants/ptx/cluster.cuh"

namespace amasia::nw {

struct EdgeSharedStorage : TileSharedStorage<Iso> {
  int handed[tile16];  // right edge of the tile between this one and its neighbour
};

__device__ __forceinline__ void load_ref(RefTile& ref, const DiagonalRun& run, const Tile16& tile) {
  baseline::copy_tile<Tile<int, tile16, tile16>, tile16>(&ref[0][0], run.ref, tile.origin(),
                                                         threadIdx.x);
}

inline __global__ void __launch_bounds__(tile16) diagonal(DiagonalRun run) {
  __shared__ EdgeSharedStorage shared;
  const unsigned rank = dsm::rank();
  const int t = threadIdx.x;
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
    shared.handed[t] = edge;
    borders.store(shared.scores);
  }
  dsm::cluster_sync();
  if (receives) {
    shared.scores[t + 1][0] = dsm::load(dsm::remote_address(&shared.handed[t], 0));
  }
  dsm::cluster_arrive();  // and read: its block may end
  // Main loop
  if (exists) {
    __syncthreads();
    WholeRef ref{shared.ref[0]};
    sweep(shared.scores, ref, run.penalty);
    store_scores(shared.scores, run, tile);
  }
  // Epilogue
  dsm::cluster_wait();
}

inline __global__ void __launch_bounds__(tile16) diagonal_of_pairs(DiagonalRun run) {
  __shared__ TileSharedStorage<Iso> shared;
  Scores& scores = shared.scores;
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
  // Main loop
  WholeRef ref{shared.ref[0]};
  if (rank == 0) sweep(scores, ref, run.penalty);
  dsm::cluster_sync();  // the upper tile is done
  if (rank == 1) {
    scores[0][threadIdx.x + 1] =
        dsm::load(dsm::remote_address(&scores[tile16][threadIdx.x + 1], 0));
  }
  dsm::cluster_sync();  // and read: its block may end
  if (rank == 1) sweep(scores, ref, run.penalty);
  // Epilogue
  store_scores(scores, run, tile);
}

}  // namespace amasia::nw
