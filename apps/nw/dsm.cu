// nw/dsm: borders go to the block that continues them through the shared memory of its cluster.
//
// - iso: tiles of one anti-diagonal need nothing of each other, only of the tile between them that
//   the launch before computed. Two neighbours share what they need of that one: the lower left
//   block reads it, and hands its right edge to the upper right block.
// - iso-pairs: a cluster takes two tiles, one below the other: the lower one continues what it
//   reads from the upper one.
// - bands: a cluster takes neighbouring bands: a block sends the columns of a hand-over straight
//   into the shared memory of the block below (st.async, which counts on the mbarrier it comes
//   with). Only the last block of a cluster goes through global memory. ref and scores travel as in
//   nw/tma.
#include "apps/nw/column_boxes.cuh"
#include "apps/nw/dsm_diagonals.cuh"
#include "apps/nw/dsm_link.cuh"
#include "apps/nw/dsm_tickets.cuh"
#include "apps/nw/tma_stages.cuh"
#include "variants/ptx/cluster_begin.cuh"

namespace amasia::nw {
namespace {

template <class B>
struct SharedStorage {
  TmaSharedStorage<B> tma;
  Inbox<B> inbox;
  TicketBox tickets;
};

template <class B>
__global__ void __launch_bounds__(tma_threads)
    bands(BandRun run, const __grid_constant__ CUtensorMap ref_map,
          const __grid_constant__ CUtensorMap score_map) {
  extern __shared__ __align__(128) unsigned char bytes[];
  auto& shared = *reinterpret_cast<SharedStorage<B>*>(bytes);
  // Prologue
  const unsigned tag = run_tag(run);
  const int count = B::bands(run.ref.rows);
  ClusterLink<B> link(shared.inbox, run, tag);
  init_pipeline(shared.tma);
  if (threadIdx.x == 0) {
    ClusterTickets::init(shared.tickets);
    ClusterLink<B>::init(shared.inbox);
    tma::fence_init();
  }
  dsm::cluster_arrive_initialised();
  TmaConsumer<B> consumer(shared.tma, run.ref.columns);
  TmaProducer<B> producer(shared.tma, ref_map, score_map, run.ref.columns);
  ClusterTickets tickets(shared.tickets);
  const int size = static_cast<int>(link.size), rank = static_cast<int>(link.rank);
  dsm::cluster_wait();  // every block's barriers are ready
  if (threadIdx.x == 0) {
    ClusterTickets::announce(shared.tickets);
    ClusterLink<B>::announce(shared.inbox);
  }
  // Main loop
  for (;;) {
    const int ticket = tickets.next(run);
    const int band = ticket * size + rank;
    if (ticket * size >= count) break;
    if (band < count) {
      if (threadIdx.x < 32) {
        walk_band<B>(run, band, consumer, link, shared.tma.above);
      } else if (is_producer()) {
        producer.produce(band);
      }
    }
    __syncthreads();
  }
  // Epilogue
  dsm::cluster_sync();  // no block leaves while others arrive at its barriers
  if (rank == 0 && threadIdx.x == 0) finish_run(run, gridDim.x / size);
}

template <class Schedule, class Kernel>
ConfigOf<Problem> tiles(Kernel kernel) {
  return diagonals_config<Schedule>("", kernel, {{"stages", 1}}, sizeof(RefTile), NoArguments{}, 2,
                                    Schedule::tiles);
}

template <class Schedule, int BATCH, int AHEAD, int STAGES, unsigned CLUSTER>
ConfigOf<Problem> ring(const char* name) {
  using B = Bands<Schedule, BATCH, STAGES, AHEAD>;
  return bands_config<Schedule, B>(
      {name, tma_threads, sizeof(SharedStorage<B>), tma_producers, STAGES - 3, CLUSTER}, bands<B>,
      maps_of_bands<B>);
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
     columns<10, 8, 2>("10-stages-clusters-8-and-2"), columns<7, 4>("7-stages-cluster-4"),
     columns<7, 2>("7-stages-cluster-2"), ring<Bands64x32, 2, 1, 12, 8>("12-stages-cluster-8"),
     ring<Bands64x32, 2, 1, 6, 16>("6-stages-cluster-16"),
     ring<Bands64x32, 2, 2, 12, 8>("12-stages-cluster-8-ahead-2"),
     ring<Bands128x32, 1, 1, 12, 8>("12-stages-cluster-8"),
     ring<Bands128x32, 1, 1, 6, 16>("6-stages-cluster-16"),
     ring<Bands128x32, 2, 1, 6, 8>("6-stages-pairs-cluster-8"),
     ring<Bands128x32, 2, 2, 6, 8>("6-stages-pairs-cluster-8-ahead-2"),
     tiles<IsoPairs>(diagonal_of_pairs)});

}  // namespace
}  // namespace amasia::nw
