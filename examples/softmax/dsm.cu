// softmax/dsm: four blocks of a cluster have a row together, each a quarter of its threads. Bulk
// copies bring a block's share; its maximum and sum go to the other three as messages that arrive
// at a barrier of theirs. Blocks are a quarter as large as in tma, so that an SM has more of them,
// which wait at different times.
#include "bulk_rows.cuh"
#include "variants/ptx/cluster.cuh"

namespace amasia::softmax {
namespace {

constexpr int cluster = 4;

/// As many threads per SM as the schedule says, in at most the 32 blocks that an SM has.
template <class S>
constexpr int blocks_per_sm = S::blocks_per_sm* cluster < 32 ? S::blocks_per_sm* cluster : 32;

/// What the blocks of a cluster tell each other of a row; two, used in turn. A peer can only send
/// for the row after the next when it has this block's part of the next, which is sent when all of
/// this block have read those of this row.
struct Exchange {
  Part of_block[2][cluster];
  tma::Barrier arrived[2];
};

template <class S, int STAGES>
__global__ void __launch_bounds__(S::threads / cluster, blocks_per_sm<S>)
    softmax_clusters(const __grid_constant__ Problem p) {
  __shared__ Parts<S::warps / cluster> parts;
  __shared__ Exchange exchange;
  const int rank = static_cast<int>(dsm::rank()), thread = static_cast<int>(threadIdx.x);
  const std::int64_t group = blockIdx.x / cluster, groups = gridDim.x / cluster;
  BulkRows<S, STAGES, cluster> pipeline(p, group, groups, rank);
  pipeline.initialise();
  if (thread == 0) {
    for (int turn = 0; turn < 2; ++turn) tma::init(&exchange.arrived[turn], 1);
    tma::fence_init();
  }
  dsm::cluster_sync();  // barriers are there for all that send

  unsigned phase = 0;
  walk_rows<S>(p, pipeline, rank * pipeline.threads + thread, group, groups,
               [&](Part own, int turn) {
                 const Part block = parts.joined_in_block(own, turn);
                 if (thread == 0) tma::expect(&exchange.arrived[turn], cluster * sizeof(Part));
                 if (thread < cluster) {
                   const auto peer = static_cast<unsigned>(thread);
                   const unsigned there = dsm::remote_address(&exchange.of_block[turn][rank], peer);
                   const unsigned barrier = dsm::remote_address(&exchange.arrived[turn], peer);
                   dsm::store_async(there, __float_as_int(block.maximum), barrier);
                   dsm::store_async(there + 4, __float_as_int(block.sum), barrier);
                 }
                 dsm::wait_cluster(&exchange.arrived[turn], phase);
                 phase ^= static_cast<unsigned>(turn);  // both have been used once more
                 Part all = exchange.of_block[turn][0];
#pragma unroll
                 for (int b = 1; b < cluster; ++b) all = joined(all, exchange.of_block[turn][b]);
                 return all;
               });

  // Epilogue: nobody leaves while a peer still sends to it
  dsm::cluster_sync();
}

template <class S, int STAGES>
ConfigOf<Problem> clusters(const std::string& suffix = "") {
  return config_of<S>(softmax_clusters<S, STAGES>, STAGES, bulk_bytes<S, STAGES, cluster>,
                      STAGES - 1, suffix, cluster);
}

const bool registered = register_variant<Problem>(
    "softmax", Strategy::dsm,
    {clusters<Iso, 3>(), clusters<Narrow, 3>(), clusters<Middle, 3>(), clusters<Wide, 3>(),
     clusters<Iso, 2>("/2-stages"), clusters<Narrow, 2>("/2-stages"),
     clusters<Middle, 2>("/2-stages"), clusters<Wide, 2>("/2-stages")});

}  // namespace
}  // namespace amasia::softmax
