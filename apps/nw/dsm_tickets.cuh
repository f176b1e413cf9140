// Tickets for a whole cluster, taken by its first block and sent into the shared memory of all. No
// barrier of the cluster goes with them: a block says that it has read one, and takes its band
// while the others still have theirs before.
#pragma once

#include "apps/nw/bands.cuh"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::nw {

struct TicketBox {
  int ticket;
  tma::Barrier full;  // it has come
  tma::Barrier read;  // the first block's: all have read the last one
};

/// By all threads of a block.
struct ClusterTickets {
  TicketBox& box;
  unsigned phase = 0;

  __device__ explicit ClusterTickets(TicketBox& storage) : box(storage) {}
  /// One thread; tma::fence_init() and a cluster barrier follow.
  __device__ static void init(TicketBox& box) {
    tma::init(&box.full, 1);
    tma::init(&box.read, dsm::size());
  }
  /// The same thread, behind that barrier.
  __device__ static void announce(TicketBox& box) { tma::expect(&box.full, sizeof(box.ticket)); }
  __device__ int next(const BandRun& run) {
    if (dsm::rank() == 0 && threadIdx.x == 0) {
      tma::wait(&box.read, phase ^ 1);  // the first one overwrites none
      const int taken = take_ticket(run);
      for (unsigned block = 0; block < dsm::size(); ++block) {
        dsm::store_async(dsm::remote_address(&box.ticket, block), taken,
                         dsm::remote_address(&box.full, block));
      }
    }
    tma::wait(&box.full, phase);
    const int ticket = box.ticket;
    // All have read it: the barrier asks for the ticket itself, which no thread has while its load
    // is under way.
    __syncthreads_and(ticket >= 0);
    if (threadIdx.x == 0) {
      tma::expect(&box.full, sizeof(box.ticket));
      dsm::arrive_remote_relaxed(dsm::remote_address(&box.read, 0));
    }
    phase ^= 1;
    return ticket;
  }
};

}  // namespace amasia::nw
