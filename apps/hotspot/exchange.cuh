// dsm's windows, which recompute no halo inside a cluster. Private slots as in drop_off. After each
// row-block the outermost finishing lane of a window sends all it holds, 2 STEPS rows of four
// cells, to the halo lane of the window beside, in this block or the next. Receivers wait on an
// mbarrier of their own: neighbours go in step, the cluster does not.
#pragma once

#include "apps/hotspot/slots.cuh"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/warp_wait.cuh"

namespace amasia::hotspot {

template <class S>
struct Inbox {                      // of one warp, for alternating row-blocks
  float4 rows[2][2][2 * S::steps];  // (stages, from west and east, older and newer of each step)
  tma::Barrier full[2];
};

template <class S>
struct Exchange : Slots<S> {
  Inbox<S>& inbox;
  bool sends, receives;
  unsigned to_rows, to_full;  // in the neighbour's inbox, of stage 0
  PipelineState<2> turn;

  // `window` counts the windows of the cluster.
  __device__ Exchange(typename Slots<S>::Slot* slots, Inbox<S>* inboxes, const PassView& pass,
                      const RowRun& run, int column, bool finishes, int window)
      : Slots<S>(slots, pass, run, column, finishes), inbox(inboxes[window % S::warps]) {
    const int lane = threadIdx.x % lanes;
    const bool to_west = window > 0 && lane <= 1;
    const bool to_east = window < S::windows - 1 && lane >= lanes - 2;
    sends = (lane == 1 && to_west) || (lane == lanes - 2 && to_east);
    receives = (lane == 0 && to_west) || (lane == lanes - 1 && to_east);
    const int neighbour = to_west ? window - 1 : to_east ? window + 1 : window;
    const Inbox<S>& beside = inboxes[neighbour % S::warps];
    to_rows = dsm::remote_address(&beside.rows[0][to_west], neighbour / S::warps);
    to_full = dsm::remote_address(&beside.full[0], neighbour / S::warps);
    if (lane == 0) {
      const int neighbours = (window > 0) + (window < S::windows - 1);
      for (tma::Barrier& full : inbox.full) tma::init(&full, 2 * neighbours);
      tma::fence_init();
    }
    dsm::cluster_sync();  // every inbox is ready
  }
  // Two lanes arrive at a neighbour's barrier: the one that has sent the state of this row-block,
  // and the one that has read what the neighbour sent for the last. So a neighbour that has
  // received this row-block's may overwrite the inbox of the last, and two inboxes need no other
  // hand-shake.
  __device__ void exchange(CascadeOf<S>& cascade) {
    __syncwarp();
    if (sends) {
      const unsigned to = to_rows + turn.index * static_cast<unsigned>(sizeof(inbox.rows[0]));
#pragma unroll
      for (int s = 0; s < S::steps; ++s) {
        const float* older = cascade.older[s];
        const float* newer = cascade.newer[s];
        dsm::store(to + 32 * s, make_float4(older[0], older[1], older[2], older[3]));
        dsm::store(to + 32 * s + 16, make_float4(newer[0], newer[1], newer[2], newer[3]));
      }
    }
    if (sends || receives) {
      dsm::arrive_remote(to_full + turn.index * static_cast<unsigned>(sizeof(tma::Barrier)));
    }
    tma::warp_wait_cluster(&inbox.full[turn.index], turn.phase);
    if (receives) {
      const float4* from = inbox.rows[turn.index][threadIdx.x % lanes != 0];
#pragma unroll
      for (int s = 0; s < S::steps; ++s) {
        const float4 older = from[2 * s], newer = from[2 * s + 1];
        const float o[] = {older.x, older.y, older.z, older.w};
        const float e[] = {newer.x, newer.y, newer.z, newer.w};
#pragma unroll
        for (int c = 0; c < columns_per_lane; ++c) {
          cascade.older[s][c] = o[c];
          cascade.newer[s][c] = e[c];
        }
      }
    }
    ++turn;
  }
};

}  // namespace amasia::hotspot
