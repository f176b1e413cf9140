// What the blocks of a cluster have counted, added up (dsm): each block does it for a share of the
// counters and adds that to the result. `words` are shared memory, one per counter or one per two,
// the same in all blocks. By all threads; call when the block's counters are final, after a block
// barrier. Ends with a barrier of the cluster.
#pragma once

#include "apps/histogram/counting.cuh"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/cluster.cuh"

namespace amasia::histogram {

/// Counter i of block `rank`, whose copies have been gathered.
template <class C>
__device__ unsigned remote_counter(const unsigned* words, int i, unsigned rank) {
  if constexpr (in_halves(C::home)) {
    const auto two = static_cast<unsigned>(dsm::load(dsm::remote_address(words + i / 2, rank)));
    return i % 2 == 0 ? two & 0xffff : two >> 16;
  } else {
    return static_cast<unsigned>(dsm::load(dsm::remote_address(words + i, rank)));
  }
}

/// By loads from the other blocks' memory.
template <class Keys, class C>
__device__ void add_cluster_by_loads(const Run& run, const unsigned* words) {
  dsm::cluster_sync();
  const unsigned blocks = dsm::size();
  for (int i = static_cast<int>(dsm::rank()) * C::launched_threads + threadIdx.x; i < run.counters;
       i += static_cast<int>(blocks) * C::launched_threads) {
    unsigned sum = 0;
    for (unsigned r = 0; r < blocks; ++r) sum += remote_counter<C>(words, i, r);
    if (sum != 0) atomicAdd(run.counts + Keys::bin_of_counter(i, run.binning), sum);
  }
  dsm::cluster_sync();  // shared memory must outlive the neighbours' reads
}

/// Adds a run of 32-bit integers in shared memory to another block's, element by element; that
/// block's mbarrier counts the bytes. Addresses and bytes are multiples of 16.
__device__ inline void add_bytes_remote(unsigned remote, const unsigned* shared, unsigned bytes,
                                        unsigned remote_barrier) {
  AMASIA_SM90_ASM(
      "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
      "[%0], [%1], %2, [%3];\n" ::"r"(remote),
      "r"(dsm::shared_address(shared)), "r"(bytes), "r"(remote_barrier)
      : "memory");
}

/// By bulk reductions: each block sends every other one's share there. `merged`: an mbarrier for
/// one arrival, initialised before an earlier barrier of the cluster. Counters of 32 bits.
template <class Keys, class C>
__device__ void add_cluster_by_bulk(const Run& run, unsigned* words, tma::Barrier* merged) {
  static_assert(!in_halves(C::home), "the engine adds words");
  const int blocks = static_cast<int>(dsm::size()), rank = static_cast<int>(dsm::rank());
  const int share = static_cast<int>(round_up(ceil_div(run.plan.window, blocks), 4));
  const auto begin = [&](int r) { return min(r * share, run.plan.window); };
  const auto bytes = [&](int r) { return static_cast<unsigned>(4 * (begin(r + 1) - begin(r))); };
  tma::fence_async_proxy();
  dsm::cluster_sync();
  if (threadIdx.x == 0) {
    tma::expect(merged, bytes(rank) * static_cast<unsigned>(blocks - 1));
    for (int r = 0; r < blocks; ++r) {
      if (r == rank || bytes(r) == 0) continue;
      add_bytes_remote(dsm::remote_address(words + begin(r), r), words + begin(r), bytes(r),
                       dsm::remote_address(merged, r));
    }
  }
  __syncwarp();
  tma::wait(merged, 0);
  for (int i = begin(rank) + static_cast<int>(threadIdx.x); i < begin(rank + 1);
       i += C::launched_threads) {
    if (words[i] == 0) continue;
    atomicAdd(run.counts + Keys::bin_of_counter(i, run.binning), words[i]);
  }
  __syncwarp();
  dsm::cluster_sync();  // shared memory must outlive what is sent from it
}

}  // namespace amasia::histogram
