// pathfinder/dsm: boundary costs travel inside a thread-block cluster, through distributed shared
// memory.
//
// iso     Blocks of a cluster are side by side without halo. After each row a block's outermost
//         threads send their cost to the neighbour (st.async), whose mbarrier counts it in. That
//         makes 2008 columns per cluster in place of 8 * 216 = 1728, for a message latency per row.
// strips  The group is the cluster. The inner exchange crosses blocks, by words in tall
//         schedules and by messages in wide ones (cluster_exchange.cuh). So only a cluster's
//         two ends need the wide halo and the trip through L2, and they make it less often than
//         blocks that work alone. The wall comes by tensor map, as in tma.
#include "apps/pathfinder/cluster_exchange.cuh"
#include "apps/pathfinder/pyramid.cuh"
#include "apps/pathfinder/strips.cuh"
#include "apps/pathfinder/tma_wall.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::pathfinder {
namespace {

using Linked = Pyramid<8>;  // 8: the largest cluster every Hopper GPU can run

struct LinkedRows {
  int above[Linked::threads];
  int made[Linked::threads];
  int sent[2][2];        // (stage, from the left or the right): costs beyond the block
  tma::Barrier full[2];  // one per stage; a row uses one, the next row the other
};

__global__ void __launch_bounds__(Linked::threads) pyramid(PyramidRun run) {
  __shared__ LinkedRows rows;
  const int thread = threadIdx.x;
  const int position = Linked::position(blockIdx.x, thread);
  const std::int64_t column = Linked::column(blockIdx.x, thread);
  const bool inside = column >= 0 && column < run.wall.columns;
  const unsigned rank = dsm::rank();
  // The side on which this thread borders on another block of the cluster
  const bool left_end = thread == 0 && rank > 0;
  const bool right_end = thread == Linked::threads - 1 && rank < Linked::cluster - 1;
  const unsigned message_bytes = 4 * ((rank > 0) + (rank < Linked::cluster - 1));

  // Prologue: the source row, with the two costs beyond the block
  follow_predecessor();
  if (thread == 0) {
    for (tma::Barrier& barrier : rows.full) tma::init(&barrier, 1);
    tma::fence_init();
  }
  if (inside) rows.above[thread] = run.source[column];
  if (left_end && column > 0 && column <= run.wall.columns)
    rows.sent[0][0] = run.source[column - 1];
  if (right_end && column >= -1 && column + 1 < run.wall.columns) {
    rows.sent[0][1] = run.source[column + 1];
  }
  dsm::cluster_sync();  // barriers exist, source costs are visible

  const int* wall = run.wall.data + run.first_row * run.wall.pitch + column;
  bool computed = inside;
  int cost = rows.above[thread];
  for (int i = 0; i < run.steps; ++i) {
    const int now = i % 2, next = 1 - now;  // stages
    if (i > 0 && (left_end || right_end || thread == 0)) {
      if (thread == 0) tma::expect(&rows.full[now], message_bytes);
      tma::wait(&rows.full[now], (i - 1) / 2 % 2);
    }
    computed = inside && Linked::correct(position, i + 1);
    if (computed) {
      const int above = rows.above[thread];
      const int left = left_end ? rows.sent[now][0] : thread > 0 ? rows.above[thread - 1] : above;
      const int right = right_end                      ? rows.sent[now][1]
                        : thread < Linked::threads - 1 ? rows.above[thread + 1]
                                                       : above;
      cost = step(wall[i * run.wall.pitch], column == 0 ? above : left, above,
                  column == run.wall.columns - 1 ? above : right);
      rows.made[thread] = cost;
    }
    if (i == run.steps - 1) break;
    // Safe to overwrite: who gets a row's message has used the one two rows before.
    if (left_end) {
      dsm::store_async(dsm::remote_address(&rows.sent[next][1], rank - 1), cost,
                       dsm::remote_address(&rows.full[next], rank - 1));
    }
    if (right_end) {
      dsm::store_async(dsm::remote_address(&rows.sent[next][0], rank + 1), cost,
                       dsm::remote_address(&rows.full[next], rank + 1));
    }
    __syncthreads();
    if (computed) rows.above[thread] = rows.made[thread];
    __syncthreads();
  }
  if (computed && Linked::correct(position, Linked::height)) run.result[column] = cost;
}

template <class S>
using Mail = std::conditional_t<S::tall, ClusterWords<S>, ClusterMail<S>>;

template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm)
    strips(Walk walk, const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<SharedStorage<S, TmaWall<S>, Mail<S>>*>(memory);
  TmaWall<S>::prepare(shared.wall);
  Mail<S>::prepare(shared.mail);
  dsm::cluster_sync();  // barriers exist before anyone posts
  if (computes<S>()) {
    TmaWall<S> wall(shared.wall);
    Walker<S> walker(walk.wall.columns);
    Mail<S> mail(shared.mail, walker);
    walk_strips<S>(walk, walker, wall, mail);
  } else {
    TmaWall<S>::produce(shared.wall, map, walk.first_row, S::stages_of(walk.steps));
  }
  __syncwarp();
  dsm::cluster_sync();  // no block leaves while its memory may be written
}

template <class Schedule, class M>
ConfigOf<Problem> strips_in_clusters() {
  using S = Strips<Schedule, M>;
  using Box = typename TmaWall<S>::Box;
  return strips_config<S>(
      "", strips<S>, sizeof(SharedStorage<S, TmaWall<S>, Mail<S>>), TmaWall<S>::stages_in_flight,
      [](const Problem& p) { return std::tuple(tensor_map(p.wall, Box::rows, Box::columns)); });
}

// Rows per stage, stages, producer warps, depth, blocks per cluster, exchanges
const bool registered = register_variant<Problem>(
    "pathfinder", Strategy::dsm,
    {pyramid_config<Linked>("", pyramid, 0, {{"rows_in_flight", 1}}),
     pyramid_config<Linked>("", pyramid, 0, {{"rows_in_flight", 1}}, Start::dependent),
     strips_in_clusters<Tall2, Movement<28, 3, 1, 0, 8, 9>>(),
     strips_in_clusters<Tall3, Movement<36, 3, 1, 0, 8, 9>>(),
     strips_in_clusters<Tall3Close, Movement<40, 3, 1, 0, 8, 9>>(),
     strips_in_clusters<Tall3Cluster, Movement<40, 3, 1, 0, 8, 7>>(),
     strips_in_clusters<Middle, Movement<4, 6, 1, 0, 2>>(),
     strips_in_clusters<MiddleClose, Movement<4, 6, 1, 0, 2>>(),
     strips_in_clusters<Wide8, Movement<2, 3, 1, 0, 2>>(),
     strips_in_clusters<Wide8, Movement<2, 3, 1, 0, 2, 0, 6>>(),
     strips_in_clusters<Wide25, Movement<1, 6, 1, 0, 2>>()});

}  // namespace
}  // namespace amasia::pathfinder
