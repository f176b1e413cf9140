// What blocks of a cluster that lie one above the other send each other (dsm): of the rows that two
// of them read, the one that reads them first sends them to the other, which needs them last.
#pragma once

#include "apps/srad/stream.cuh"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/cluster.cuh"

namespace amasia::srad {

/// By messages: each lane sends its 16 bytes. In bulk: one thread sends the row.
enum class Mail { messages, bulk };

/// Copies a run of bytes to another block, whose mbarrier counts them. Addresses and bytes are
/// multiples of 16 (PTX ISA: "cp.async.bulk").
__device__ inline void send_bytes(unsigned remote, const void* shared, unsigned bytes,
                                  unsigned remote_barrier) {
  AMASIA_SM90_ASM(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
      "[%3];\n" ::"r"(remote),
      "r"(dsm::shared_address(shared)), "r"(bytes), "r"(remote_barrier)
      : "memory");
}

using MailRow = float4[strip_threads];

/// Downwards the lower block reads its first two rows as the second and the third, and the upper
/// block needs them as its last two. Upwards the upper block's last row is its third, and the last
/// that the lower block needs.
template <Mail MAIL, bool UPWARDS>
struct MailBox {
  static constexpr int rows = UPWARDS ? 1 : 2, first_sent = UPWARDS ? 2 : 1;
  struct Storage {
    MailRow inbox[rows];
    MailRow outbox[MAIL == Mail::bulk ? rows : 1];
    tma::Barrier arrived;
  };
  Storage& shared;
  int first_received;  // the number of the first row that comes by mail
  int peer;            // rank of the block that is sent to, or -1

  /// By all threads of the cluster.
  __device__ MailBox(Storage& storage, const StripView& v, const Place& place, int cluster)
      : shared(storage) {
    const int rank = static_cast<int>(dsm::rank());
    const int from = UPWARDS ? rank - 1 : rank + 1, to = UPWARDS ? rank + 1 : rank - 1;
    const auto exists = [&](int r) {
      return r >= 0 && r < cluster && place.chunk - rank + r < v.division.chunks;
    };
    const bool receives = place.row_count > 0 && exists(from);
    peer = place.row_count > 0 && exists(to) ? to : -1;
    first_received = receives ? place.row_count - rows : place.row_count;
    if (threadIdx.x == 0) {
      tma::init(&shared.arrived, 1);
      tma::fence_init();
      if (receives) tma::expect(&shared.arrived, rows * sizeof(MailRow));
    }
    dsm::cluster_arrive_initialised();
    dsm::cluster_wait();
  }
  /// Sends from the block's first rows, of which lane has `pixels`.
  template <int COUNT>
  __device__ void send(const float4 (&pixels)[COUNT]) {
    static_assert(COUNT >= first_sent + rows);
    if (peer < 0) return;
    const unsigned barrier = dsm::remote_address(&shared.arrived, peer);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const float4 v = pixels[first_sent + r];
      if (MAIL == Mail::bulk) {
        shared.outbox[MAIL == Mail::bulk ? r : 0][threadIdx.x] = v;
      } else {
        dsm::store_async(dsm::remote_address(&shared.inbox[r][threadIdx.x], peer),
                         int4{__float_as_int(v.x), __float_as_int(v.y), __float_as_int(v.z),
                              __float_as_int(v.w)},
                         barrier);
      }
    }
    if (MAIL == Mail::messages) return;
    tma::fence_async_proxy();
    __syncthreads();  // the rows are complete
    if (threadIdx.x == 0) {
      send_bytes(dsm::remote_address(&shared.inbox, peer), &shared.outbox, sizeof shared.inbox,
                 barrier);
    }
  }
  /// Row `number`, which is one of those that come.
  __device__ float4 receive(int number) {
    dsm::wait_cluster(&shared.arrived, 0);
    return shared.inbox[number - first_received][threadIdx.x];
  }
  /// A block may leave when its mail has been read.
  __device__ void finish() {
    if (MAIL == Mail::messages) return;  // the receiver waits for all that is ever sent
    __syncwarp();
    dsm::cluster_arrive_initialised();
    dsm::cluster_wait();
  }
};

}  // namespace amasia::srad
