// The kernel of dsm/message: two blocks of a cluster hand messages to each other.
#pragma once

#include "microbench/dsm/ring_copy.cuh"
#include "microbench/tma/boxes.cuh"

namespace amasia::dsm {

constexpr int message_threads = 128;
enum class Carrier { bulk, st_async, store, load };

/// The 16 bytes at `offset` of message n.
__device__ inline int4 words_of(unsigned n, unsigned offset) {
  const int base = static_cast<int>(n * 0x9E3779B1U + offset);
  return make_int4(base, base + 1, base + 2, base + 3);
}

/// Calls access(i, offset) for each of the thread's accesses to a message.
template <int ACCESSES, class Access>
__device__ __forceinline__ void each_access(unsigned bytes, const Access& access) {
#pragma unroll
  for (int i = 0; i < ACCESSES; ++i) {
    const unsigned at = 16 * (threadIdx.x + i * message_threads);
    if (ACCESSES > 1 || at < bytes) access(i, at);
  }
}

/// One end of the exchange. In shared memory: two outboxes, two inboxes, two barriers.
template <Carrier CARRIER, int ACCESSES>
struct Peer {
  static constexpr bool counts_bytes = CARRIER == Carrier::bulk || CARRIER == Carrier::st_async;
  tma::Barrier* full;
  unsigned bytes, outbox, peer_outbox, peer_full;  // the last three are shared addresses
  unsigned sent = 0, received = 0, wrong = 0;

  /// Bytes that come before they are expected complete no phase.
  __device__ void expect(unsigned n) const {
    if (counts_bytes && threadIdx.x == 0) tma::expect(&full[n % 2], bytes);
  }
  __device__ void send() {
    const unsigned slot = sent % 2 * bytes, barrier = peer_full + 8 * (sent % 2);
    const unsigned peer_inbox = peer_outbox + 2 * bytes + slot;
    ++sent;
    each_access<ACCESSES>(bytes, [&](int, unsigned at) {
      const int4 v = words_of(sent, at);
      if constexpr (CARRIER == Carrier::st_async) {
        store_async(peer_inbox + at, v, barrier);
      } else if constexpr (CARRIER == Carrier::store) {
        write<4>(peer_inbox + at, reinterpret_cast<const unsigned(&)[4]>(v));
      } else {
        async::store16(outbox + slot + at, v);
      }
    });
    if constexpr (CARRIER == Carrier::st_async) return;
    if constexpr (CARRIER == Carrier::bulk) tma::fence_async_proxy();
    __syncthreads();
    if (threadIdx.x == 0) {
      if constexpr (CARRIER == Carrier::bulk) {
        tma::send(peer_inbox, outbox + slot, bytes, barrier);
      } else {
        arrive_remote(barrier);
      }
    }
  }
  /// Expects message n + `spoilt`: 0, or 1 to see the check fail.
  __device__ void receive(unsigned spoilt) {
    const unsigned n = received++, slot = n % 2 * bytes;
    if constexpr (counts_bytes) {
      tma::wait(&full[n % 2], n / 2 % 2);
    } else {
      wait_cluster(&full[n % 2], n / 2 % 2);
    }
    expect(n);  // what this inbox gets next
    unsigned got[ACCESSES][4] = {};
    each_access<ACCESSES>(bytes, [&](int i, unsigned at) {
      if constexpr (CARRIER == Carrier::load) {
        read<4>(got[i], peer_outbox + slot + at);
      } else {
        reinterpret_cast<int4&>(got[i]) = async::load16(outbox + 2 * bytes + slot + at);
      }
    });
    each_access<ACCESSES>(bytes, [&](int i, unsigned at) {
      const int4 v = words_of(received + spoilt, at);
      wrong |= (got[i][0] ^ v.x) | (got[i][1] ^ v.y) | (got[i][2] ^ v.z) | (got[i][3] ^ v.w);
    });
    __syncthreads();  // all have read, which the next message tells the sender
  }
};

/// `both`: each block sends in every hop. Otherwise they take turns.
template <Carrier CARRIER, int ACCESSES>
__global__ void __launch_bounds__(message_threads)
    hand_messages(unsigned bytes, bool both, unsigned spoilt, Walks walks, Stamp* taken,
                  unsigned* mistakes) {
  extern __shared__ __align__(128) std::byte message_boxes[];
  __shared__ tma::Barrier full[2];
  if (threadIdx.x == 0) {
    for (tma::Barrier& barrier : full) tma::init(&barrier, 1);
    tma::fence_init();
  }
  Peer<CARRIER, ACCESSES> peer{full, bytes, shared_address(message_boxes),
                               remote_address(message_boxes, rank() ^ 1U),
                               remote_address(full, rank() ^ 1U)};
  peer.expect(0);
  peer.expect(1);
  cluster_sync();
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    const unsigned long long begin_ns = nanoseconds_now();
    const long long begin = clock_now();
#pragma unroll 1
    for (int hop = 0; hop < walks.links[w]; ++hop) {
      const bool my_turn = hop % 2 == static_cast<int>(rank());
      if (both || my_turn) peer.send();
      if (both || !my_turn) peer.receive(spoilt);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      taken[w].cycles = clock_now() - begin;
      taken[w].nanoseconds = nanoseconds_now() - begin_ns;
    }
  }
  if (peer.wrong != 0) atomicAdd(mistakes, 1U);
  cluster_sync();  // nobody's memory goes while it is read or written
}

}  // namespace amasia::dsm
