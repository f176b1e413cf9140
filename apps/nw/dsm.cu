// nw/dsm: bottom rows go to the block below through the shared memory of its cluster.
//
// - iso: a cluster takes two tiles of the original, one below the other: the lower one continues
// what it reads from the upper one, so that there are fewer launches, each as long as two tiles.
// - bands: a cluster takes neighbouring bands: a block sends 32 columns at a time straight into the
// shared memory of the block below (st.async, which counts on the mbarrier it comes with). Only the
// last block of a cluster goes through global memory. ref and scores travel as in nw/tma.
#include "apps/nw/diagonals.cuh"
#include "apps/nw/tma_stages.cuh"
#include "variants/copies/tile_through_registers.cuh"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::nw {
namespace {

using Pair = Diagonals<2>;

__global__ void __launch_bounds__(Pair::threads) diagonal(DiagonalRun run) {
  __shared__ Scores scores;
  __shared__ alignas(16) int ref[Iso::tile][Iso::tile];
  const unsigned rank = dsm::rank();
  const std::int64_t column = run.first_column + blockIdx.x / Pair::cluster;
  const Tile16 tile(run, (run.diagonal - column) * Pair::cluster + rank, column);
  const Borders borders(run, tile, rank == 0);
  baseline::copy_tile<Tile<int, Iso::tile, Iso::tile>, Iso::threads>(
      &ref[0][0], run.ref, {tile.row, tile.column}, threadIdx.x);
  if (rank == 0) {
    borders.store(scores, tile);
  } else {
    borders.store_left(scores, tile);
  }
  __syncthreads();
  WholeRef source{ref};
  if (rank == 0) sweep(scores, source, run.penalty);
  dsm::cluster_sync();  // the upper tile is done
  if (rank == 1) {
    scores[0][threadIdx.x + 1] =
        dsm::load(dsm::remote_address(&scores[Iso::tile][threadIdx.x + 1], 0));
  }
  dsm::cluster_sync();  // and read: its block may end
  if (rank == 1) sweep(scores, source, run.penalty);
  store_scores(scores, run, tile);
}

constexpr int slots = 8;              // of the inbox: how far memory may make two walks drift apart
constexpr unsigned slot_bytes = 128;  // 32 scores

template <class B>
struct DsmMemory {
  TmaMemory<B> tma;
  alignas(16) int inbox[slots][32];
  tma::Barrier arrived[slots];  // a slot's bytes have come from the block above
  tma::Barrier free[slots];     // the block below has read what this block sent
};

/// The walker's link inside a cluster. Which of its two neighbours is in the cluster is the same
/// for all bands of a block. Addresses, here and there, are worked out once: a walk waits for each.
template <class B>
struct ClusterLink {
  WordLink words;
  const unsigned rank, size;
  const int lane;
  const bool receives, sends;
  const unsigned inbox, arrived, free;                    // of this block
  const unsigned above_free, below_inbox, below_arrived;  // of its neighbours in the cluster
  int left = 0;              // 32 columns, so often, that this walk has yet to take
  int to_give = 0;           // and to send
  int taken = 0, given = 0;  // so far, over all bands
  int4 picked{};

  __device__ ClusterLink(DsmMemory<B>& m, const BandRun& run, unsigned tag)
      : words(run, tag),
        rank(dsm::rank()),
        size(dsm::size()),
        lane(threadIdx.x % 32),
        receives(rank > 0),
        sends(rank + 1 < size),
        inbox(held(async::shared_address(m.inbox) + 16 * lane)),
        arrived(held(async::shared_address(m.arrived))),
        free(held(async::shared_address(m.free))),
        above_free(held(dsm::remote_address(m.free, receives ? rank - 1 : rank))),
        below_inbox(held(dsm::remote_address(m.inbox, sends ? rank + 1 : rank) + 16 * lane)),
        below_arrived(held(dsm::remote_address(m.arrived, sends ? rank + 1 : rank))) {}

  __device__ static void prepare(DsmMemory<B>& m) {
    if (threadIdx.x == 0) {
      for (int s = 0; s < slots; ++s) {
        tma::init(&m.arrived[s], 1);
        tma::init(&m.free[s], 1);
      }
      tma::fence_init();
      for (int s = 0; s < slots; ++s) tma::expect(&m.arrived[s], slot_bytes);
    }
  }
  __device__ void begin(int band) {
    const int pieces = static_cast<int>(words.pitch / 32);
    words.begin(band);
    if (receives) words.waits = 0;
    left = receives ? pieces : 0;
    to_give = sends && band + 1 < B::bands(words.run.ref.rows) ? pieces : 0;
  }

  __device__ unsigned missing(int late) const {
    const auto slot = ring_slot<slots>(taken);
    const unsigned absent = left > 0 && !tma::completed_at(arrived + 8 * slot.stage, slot.parity);
    return absent | words.missing(late);
  }
  __device__ void await() {
    words.await();
    const auto slot = ring_slot<slots>(taken);
    if (left > 0) tma::wait_at(arrived + 8 * slot.stage, slot.parity);
  }
  __device__ void take(unsigned row) {
    if (!receives) {
      words.take(row);
    } else if (left > 0) {
      const auto slot = ring_slot<slots>(taken);
      if (lane < 8) async::store16(row + 16 * lane, async::load16(inbox + slot.stage * slot_bytes));
      __syncwarp();
      if (lane == 0) {
        tma::expect_at(arrived + 8 * slot.stage, slot_bytes);
        dsm::arrive_remote_relaxed(above_free + 8 * slot.stage);
      }
      --left;
      ++taken;
    }
  }
  __device__ void pick(unsigned row) {
    if (!sends) {
      words.pick(row);
    } else {
      __syncwarp();
      picked = async::load16(row + 16 * (lane % 8));
    }
  }
  __device__ void give(int first) {
    if (!sends) {
      words.give(first);
    } else if (first >= 0 && to_give > 0) {
      const auto slot = ring_slot<slots>(given);
      // Parity 1 before the first use: a fresh barrier counts its phase -1 as complete.
      tma::wait_at(free + 8 * slot.stage, slot.parity ^ 1);
      if (lane < 8) {
        dsm::store_async(below_inbox + slot.stage * slot_bytes, picked,
                         below_arrived + 8 * slot.stage);
      }
      --to_give;
      ++given;
    }
  }
};

template <class B>
__global__ void __launch_bounds__(tma_threads)
    bands(BandRun run, const __grid_constant__ CUtensorMap ref_map,
          const __grid_constant__ CUtensorMap score_map) {
  extern __shared__ __align__(128) unsigned char bytes[];
  auto& memory = *reinterpret_cast<DsmMemory<B>*>(bytes);
  const unsigned tag = run_tag(run);
  const int count = B::bands(run.ref.rows);
  ClusterLink<B> link(memory, run, tag);
  prepare(memory.tma);
  ClusterLink<B>::prepare(memory);
  TmaRing<B> ring(memory.tma, run.ref.columns);
  TmaMover<B> mover(memory.tma, ref_map, score_map, run.ref.columns);
  const int size = static_cast<int>(link.size), rank = static_cast<int>(link.rank);
  for (;;) {
    // A ticket is for a whole cluster, taken by its first block
    if (rank == 0 && threadIdx.x == 0) memory.tma.ticket = take_ticket(run);
    dsm::cluster_sync();
    const int ticket = dsm::load(dsm::remote_address(&memory.tma.ticket, 0));
    dsm::cluster_sync();  // all have read it
    const int band = ticket * size + rank;
    if (ticket * size >= count) break;
    if (band < count) {
      if (threadIdx.x < 32) {
        walk_band<B>(run, band, ring, link, memory.tma.above);
      } else if (asks()) {
        mover.walk(band);
      }
    }
    __syncthreads();
  }
  if (rank == 0 && threadIdx.x == 0) finish_run(run, gridDim.x / size);
}

template <class B, unsigned CLUSTER>
ConfigOf<Problem> config(const char* name) {
  return bands_config<B>(name, bands<B>, tma_threads, sizeof(DsmMemory<B>), B::stages - 3,
                         tensor_maps<B>, CLUSTER);
}

const bool registered = register_variant<Problem>(
    "nw", Strategy::dsm,
    {diagonals_config<Pair>(diagonal, sizeof(int) * Iso::tile * Iso::tile),
     config<Bands<12>, 8>("bands-12-cluster-8"), config<Bands<6>, 8>("bands-6-cluster-8"),
     config<Bands<6>, 4>("bands-6-cluster-4"), config<Bands<6>, 16>("bands-6-cluster-16")});

}  // namespace
}  // namespace amasia::nw
