// dsm/message: how long does a run of bytes take to another SM of the cluster, by the instruction
// that carries it?
//
// Method: clusters of two blocks of 128 threads hand messages of 16 bytes to 16 KiB to each other,
// 16 bytes per thread and access, all accesses in flight at once. A message has arrived when every
// thread of the receiver has its words in registers. There each word is checked.
// `way=bulk`: threads write the message to their own shared memory; one thread copies it by
//   cp.async.bulk from shared::cta to shared::cluster.
// `way=st_async`: each access is an st.async, which counts its bytes on the receiver's mbarrier.
// `way=store`: st.shared::cluster, a barrier, one releasing arrival at the receiver's mbarrier.
// `way=load`: threads write to their own shared memory, one thread arrives at the receiver's
//   mbarrier, and the receiver loads the words by ld.shared::cluster.
// Latency: one cluster, the message goes to and fro; cycles of one hop. Bandwidth: clusters fill
// the device, both blocks send at once; bytes per cycle that an SM sends, hand-over included.
// Slope between walks of 64 and 576 hops. Messages alternate between two inboxes: a block sends
// message n after it has received n - 1, which was sent after n - 2 had been read.
// Single words: dsm/handover. Several copies in flight: tma/bandwidth, dsm/ring_copy.

#include "microbench/dsm/ring_copy.cuh"
#include "microbench/tma/boxes.cuh"

namespace amasia::dsm {
namespace {

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
    const Stopwatch watch;
#pragma unroll 1
    for (int hop = 0; hop < walks.links[w]; ++hop) {
      const bool my_turn = hop % 2 == static_cast<int>(rank());
      if (both || my_turn) peer.send();
      if (both || !my_turn) peer.receive(spoilt);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) watch.stop(taken[w]);
  }
  if (peer.wrong != 0) atomicAdd(mistakes, 1U);
  cluster_sync();  // nobody's memory goes while it is read or written
}

constexpr std::size_t block_bytes = 120 << 10;  // of shared memory: one block per SM
constexpr int few_hops = 64, many_hops = 64 + 512;

using MessageKernel = void (*)(unsigned, bool, unsigned, Walks, Stamp*, unsigned*);
struct Message {
  const char* way;
  unsigned bytes;
  MessageKernel kernel;
  Claim claim;
};

template <int ACCESSES>
std::vector<Message> messages_of(const std::vector<unsigned>& sizes) {
  std::vector<Message> all;
  for (const unsigned bytes : sizes) {
    const auto add = [&](const char* way, MessageKernel kernel, const Claim& claim) {
      all.push_back({way, bytes, kernel, claim});
    };
    add("bulk", hand_messages<Carrier::bulk, ACCESSES>, {"UBLKCP", "cp.async.bulk", 1});
    add("st_async", hand_messages<Carrier::st_async, ACCESSES>, {"STAS", "st.async", ACCESSES});
    add("store", hand_messages<Carrier::store, ACCESSES>, {"ST", "st.shared::cluster", ACCESSES});
    add("load", hand_messages<Carrier::load, ACCESSES>, {"LD", "ld.shared::cluster", ACCESSES});
  }
  return all;
}

Sampling hand(const Message& m, bool both, const Device& device, Stream stream) {
  LaunchShape shape = fill_device(m.kernel, 2, message_threads, block_bytes, device);
  if (!both) shape.grid = dim3(2);
  auto taken = std::make_shared<DeviceArray<Stamp>>(max_walks);
  auto mistakes = std::make_shared<Mistakes>(stream);
  const Walks walks{{few_hops, few_hops, many_hops}};
  const auto run = [=](unsigned spoilt) {
    launch(m.kernel, shape, stream, m.bytes, both, spoilt, walks, taken->data(), mistakes->data());
  };
  run(1);
  mistakes->expect_some("a message that must be wrong was taken for right");
  return [=] {
    run(0);
    mistakes->expect_none("threads received another message than was sent");
    Reading r = slope_of_walks(stream, *taken, walks);
    if (both) r.value = m.bytes / *r.cycles;
    return r;
  };
}

std::vector<Point> points(const Device& device, Scope scope) {
  std::vector<Point> all;
  const auto add = [&](const std::vector<Message>& messages) {
    for (const bool both : {false, true}) {
      for (const Message& m : messages) {
        if (scope == Scope::quick && m.bytes != 128 && m.bytes != 4096) continue;
        Point& p =
            add_cluster_point(all,
                              {{"way", m.way},
                               {"bytes", std::to_string(m.bytes)},
                               {"direction", both ? "both" : "one"}},
                              both ? "bandwidth" : "latency", both ? "byte/clk/SM" : "cycles",
                              both ? Better::larger : Better::smaller,
                              kernel_use(m.kernel, message_threads, block_bytes, 2), device);
        p.claims = {m.claim};
        p.prepare = [=](const Device& d, Stream stream) { return hand(m, both, d, stream); };
      }
    }
  };
  add(messages_of<1>({16, 128, 512, 2048}));
  add(messages_of<2>({4096}));
  add(messages_of<8>({16384}));
  return all;
}

const bool registered = register_microbenchmark(
    {"dsm/message",
     "How long does a run of bytes take to another SM, by the instruction that carries it?",
     "Two blocks of a cluster hand messages of 16 bytes to 16 KiB to and fro, or to each other at "
     "once on the whole device, by cp.async.bulk, st.async, remote stores or remote loads; slope "
     "between 64 and 576 hops. Every word is checked.",
     points});

}  // namespace
}  // namespace amasia::dsm
