// dsm's windows, which recompute no halo inside a cluster. Private slots as in drop_off. After each
// row-block the outermost finishing lane of a window sends all it holds, STEPS rows of four cells
// and of their north pairs, to the halo lane of the window beside, in this block or the next.
// Behind an odd row one of those pairs came from the halo lane itself: it goes the other way.
// Receivers wait on an mbarrier of their own, which counts the bytes: neighbours go in step, the
// cluster does not.
//
// Plain stores and a releasing arrival would be correct as well. But to another block that is a
// fence over all of the device's memory, which waits for the results in flight. Its acquire empties
// the L1 through which the halos of the cluster's ends come.
#pragma once

#include "apps/hotspot/slots.cuh"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::hotspot {

template <class S>
struct Inbox {                      // of one warp, for alternating row-blocks
  float4 rows[2][2][2 * S::steps];  // (stages, from west and east, pairs and newer of each step)
  float crossing[2][2][S::steps];   // (stages, from west and east, pair of the cell at the halo)
  tma::Barrier full[2];
};

template <class S>
struct Exchange : Slots<S> {
  // Whether the last pairs of step s crossed from lane to lane, as they do behind an odd row.
  static constexpr bool crosses(int s) { return CascadeOf<S>::odd_row(columns_per_lane - s - 2); }
  static constexpr int count_crossings() {
    int n = 0;
    for (int s = 0; s < S::steps; ++s) n += crosses(s);
    return n;
  }
  static constexpr unsigned sent_bytes =
      2 * S::steps * sizeof(float4) + count_crossings() * sizeof(float);  // to one neighbour

  Inbox<S>& inbox;
  bool sends, receives;                    // rows; the pairs that crossed go the other way
  unsigned to_rows, to_crossing, to_full;  // in the neighbour's inbox, of stage 0
  unsigned expected;                       // bytes
  PipelineState<2> turn;

  // `window` counts the windows of the cluster.
  __device__ Exchange(typename Slots<S>::Slot* slots, Inbox<S>* inboxes, const PassView& pass,
                      const RowRun& run, int column, bool finishes, int window)
      : Slots<S>(slots, pass, run, column, finishes), inbox(inboxes[window % S::warps]) {
    const int lane = threadIdx.x % lanes;
    const bool has_west = window > 0, has_east = window < S::windows - 1;
    const bool to_west = has_west && lane <= 1;
    const bool to_east = has_east && lane >= lanes - 2;
    sends = (lane == 1 && to_west) || (lane == lanes - 2 && to_east);
    receives = (lane == 0 && to_west) || (lane == lanes - 1 && to_east);
    const int neighbour = to_west ? window - 1 : to_east ? window + 1 : window;
    const Inbox<S>& beside = inboxes[neighbour % S::warps];
    to_rows = dsm::remote_address(&beside.rows[0][to_west], neighbour / S::warps);
    to_crossing = dsm::remote_address(&beside.crossing[0][to_west][0], neighbour / S::warps);
    to_full = dsm::remote_address(&beside.full[0], neighbour / S::warps);
    expected = (has_west ? sent_bytes : 0) + (has_east ? sent_bytes : 0);
    if (lane == 0) {
      for (tma::Barrier& full : inbox.full) tma::init(&full, 1);
      tma::fence_init();
    }
    dsm::cluster_arrive_initialised();
    dsm::cluster_wait();  // every inbox is ready
  }
  static __device__ int4 bits_of(const float (&cells)[columns_per_lane]) {
    return make_int4(__float_as_int(cells[0]), __float_as_int(cells[1]), __float_as_int(cells[2]),
                     __float_as_int(cells[3]));
  }
  // A window sends the state of row-block n when it has received that of n - 1, which its neighbour
  // sent after it had read that of n - 2. So two inboxes need no other hand-shake.
  __device__ void exchange(CascadeOf<S>& cascade) {
    __syncwarp();  // the lanes that read the last message have, before another one sends
    if (threadIdx.x % lanes == 0) tma::expect(&inbox.full[turn.index], expected);
    if (sends) {
      const unsigned to = to_rows + turn.index * static_cast<unsigned>(sizeof(inbox.rows[0]));
      const unsigned full = to_full + turn.index * static_cast<unsigned>(sizeof(tma::Barrier));
#pragma unroll
      for (int s = 0; s < S::steps; ++s) {
        dsm::store_async(to + 32 * s, bits_of(cascade.pairs[s]), full);
        dsm::store_async(to + 32 * s + 16, bits_of(cascade.newer[s]), full);
      }
    }
    if (receives) {
      const unsigned to =
          to_crossing + turn.index * static_cast<unsigned>(sizeof(inbox.crossing[0]));
      const unsigned full = to_full + turn.index * static_cast<unsigned>(sizeof(tma::Barrier));
      const bool west = threadIdx.x % lanes == 0;
#pragma unroll
      for (int s = 0; s < S::steps; ++s) {
        if (!crosses(s)) continue;
        dsm::store_async(to + 4 * s,
                         __float_as_int(west ? cascade.pairs[s][3] : cascade.pairs[s][0]), full);
      }
    }
    tma::warp_wait(&inbox.full[turn.index], turn.phase);
    if (receives) {
      const bool west_halo = threadIdx.x % lanes == 0;
      const float4* from = inbox.rows[turn.index][threadIdx.x % lanes != 0];
#pragma unroll
      for (int s = 0; s < S::steps; ++s) {
        const float4 older = from[2 * s], newer = from[2 * s + 1];
        const float o[] = {older.x, older.y, older.z, older.w};
        const float e[] = {newer.x, newer.y, newer.z, newer.w};
#pragma unroll
        for (int c = 0; c < columns_per_lane; ++c) {
          // The pair that crossed to the halo lane is right here and was not where the others
          // come from.
          const bool own = crosses(s) && ((c == 0 && !west_halo) || (c == 3 && west_halo));
          cascade.pairs[s][c] = own ? cascade.pairs[s][c] : o[c];
          cascade.newer[s][c] = e[c];
        }
      }
    }
    if (sends) {
      const bool west = threadIdx.x % lanes == 1;
      const float* from = inbox.crossing[turn.index][!west];
#pragma unroll
      for (int s = 0; s < S::steps; ++s) {
        if (!crosses(s)) continue;
        const float sent = from[s];
        cascade.pairs[s][0] = west ? sent : cascade.pairs[s][0];
        cascade.pairs[s][3] = west ? cascade.pairs[s][3] : sent;
      }
    }
    ++turn;
  }
};

}  // namespace amasia::hotspot
