// `columns-128` by the tensor copy engine, for tma and dsm: a stage is a box, in and out, and one
// thread asks for both. Two mbarriers per stage, full and empty.
//
// Warps: 0 walks, 1 asks, 2 keeps the ring.
#pragma once

#include "apps/nw/column_walk.cuh"
#include "apps/nw/tma_stages.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::nw {

inline constexpr int column_box_threads = 96;

template <class B>
struct ColumnBoxes {
  alignas(128) int stage[B::stages][B::stage_elements];
  tma::Barrier full[B::stages];
  tma::Barrier empty[B::stages];
  ColumnShared column;
};

/// The walker's side.
template <class B>
struct BoxConsumer {
  static constexpr bool always_meets = false;
  ColumnBoxes<B>& shared;
  const unsigned full, empty;
  PipelineState<B::stages> filled, left;
  int found = 0;

  __device__ explicit BoxConsumer(ColumnBoxes<B>& boxes)
      : shared(boxes),
        full(held(async::shared_address(boxes.full))),
        empty(held(async::shared_address(boxes.empty))) {}
  __device__ void begin() {
    wait();
    entered();
  }
  __device__ void look() { found = tma::completed_at(full + 8 * filled.index, filled.phase); }
  __device__ int missing() const { return !found; }
  __device__ void wait() { tma::warp_wait(&shared.full[filled.index], filled.phase); }
  __device__ void entered() { ++filled; }
  __device__ void release() {
    if (threadIdx.x % 32 == 0) tma::arrive_at(empty + 8 * left.index);
    ++left;
  }
  __device__ void step(int) {}
};

/// The thread that asks, for one band.
template <class B>
__device__ void move_boxes(ColumnBoxes<B>& shared, const CUtensorMap& ref, const CUtensorMap& score,
                           int band, int filled) {
  const int column = band * B::columns;
  PipelineState<B::stages> loaded, stored;
  for (int n = 0; n < filled + B::stages - 1; ++n) {
    if (n >= B::stages - 1) {
      // The fence lies between the walker's scores and the engine, on the way from one to the
      // other: any thread on it may execute it (PTX ISA, "proxy-preserved base causality order")
      tma::wait(&shared.empty[stored.index], stored.phase);
      tma::fence_async_proxy();
      tma::store_tile(&score, column, (n - (B::stages - 1)) * B::stage_rows,
                      shared.stage[stored.index]);
      tma::commit_stores();
      tma::wait_stores_read<1>();  // the store before that: its stage is free
      ++stored;
    }
    if (n < filled) {
      tma::expect(&shared.full[loaded.index], B::stage_bytes);
      tma::load_tile(shared.stage[loaded.index], &ref, column, n * B::stage_rows,
                     &shared.full[loaded.index]);
    } else if (n == filled) {
      tma::arrive(&shared.full[loaded.index]);  // the last lanes run into it
    }
    ++loaded;
  }
  tma::wait_stores_read<0>();
}

/// CLUSTER blocks take neighbouring bands and hand over through shared memory among themselves.
template <class B, int CLUSTER>
__global__ void __launch_bounds__(column_box_threads, 1)
    column_boxes(ColumnRun run, const __grid_constant__ CUtensorMap ref_map,
                 const __grid_constant__ CUtensorMap score_map) {
  extern __shared__ __align__(128) unsigned char bytes[];
  auto& shared = *reinterpret_cast<ColumnBoxes<B>*>(bytes);
  const int bands = B::bands(run.ref.columns), filled = B::filled(run.ref.rows);
  const int warp = uniform_warp();
  const int rank = CLUSTER > 1 ? uniform(static_cast<int>(dsm::rank())) : 0;
  const auto meet = [] {
    if (CLUSTER > 1) {
      dsm::cluster_sync();
    } else {
      __syncthreads();
    }
  };
  if (CLUSTER > 1) dsm::cluster_sync();  // all blocks are there
  for (bool first = true;; first = false) {
    if (threadIdx.x == 0) {
      for (int s = 0; s < B::stages; ++s) {
        for (tma::Barrier* barrier : {&shared.full[s], &shared.empty[s]}) {
          first ? tma::init(barrier, 1) : tma::init_again(barrier, 1);
        }
      }
      tma::fence_init();
      if (rank == 0) {
        const int band = take_tickets(run.handover, CLUSTER);
        shared.column.band = band;
        for (int other = 1; other < CLUSTER; ++other) {
          dsm::store(dsm::remote_address(&shared.column.band, other), band);
        }
      }
    }
    begin_column_ring(shared.column, {0, bands, false, rank < CLUSTER - 1});
    // The row above the first one, which lanes idle in: nothing but -p
    for (int i = threadIdx.x; i < B::stage_elements; i += column_box_threads) {
      shared.stage[B::stages - 1][i] = -run.penalty;
    }
    meet();
    const int first_band = uniform(shared.column.band);
    const ColumnPlace place{first_band + rank, bands, rank > 0,
                            rank < CLUSTER - 1 && first_band + rank < bands - 1};
    if (first) admit_successor();  // its bands come after these
    if (first_band >= bands) break;
    if (place.band < bands) {
      if (warp == 0) {
        BoxConsumer<B> consumer(shared);
        const auto walk = [&](auto to_ring) {
          const ColumnLink<to_ring.value> link(run, shared.column, place);
          ColumnWalk<B, BoxConsumer<B>, to_ring.value>(run, place.band, consumer, link,
                                                       held(async::shared_address(shared.stage)))
              .walk(filled);
        };
        if (CLUSTER > 1 && place.to_right) {
          walk(std::integral_constant<bool, (CLUSTER > 1)>{});
        } else {
          walk(std::false_type{});
        }
      } else if (warp == 2) {
        keep_column_ring(run, shared.column, place, static_cast<int>(run.pitch));
      } else if (threadIdx.x % 32 == 0) {
        move_boxes<B>(shared, ref_map, score_map, place.band, filled);
      }
    }
    __syncwarp();
    meet();
  }
  if (rank == 0 && threadIdx.x == 0) finish_run(run.handover, run.parties);
  wait_for_predecessor();  // a run ends with its last launch
}

/// A launch for each of CLUSTERS.
template <int STAGES, int... CLUSTERS>
ConfigOf<Problem> columns_by_boxes(const char* name) {
  using B = ColumnBands<STAGES>;
  using Part = ColumnPart<CUtensorMap, CUtensorMap>;
  return columns_config<B>(
      {name, column_box_threads, sizeof(ColumnBoxes<B>), 1, STAGES - 2},
      std::vector{Part{column_boxes<B, CLUSTERS>, CLUSTERS}...},
      [](const Problem& p) { return tensor_maps(p, B::stage_rows, B::columns); });
}

}  // namespace amasia::nw
