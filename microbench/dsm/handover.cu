// dsm/handover: how long it takes until another SM of the cluster has a value and knows it.
//
// Method: a token goes back and forth between two blocks of a cluster, `distance` ranks apart; each
// holder adds one, puts it where the other reads it, signals, and waits for the answer. One hop is
// half of the slope between 64 and 1,024 round trips, in cycles of the first block. The token must
// end at the number of hops, so a signal that overtook its data is seen. Ways: `cluster_barrier`,
// remote store, then barrier.cluster (release, acquire) of every block of the cluster; `mbarrier`,
// remote store, then a remote arrive with release, waited for with acquire; `st_async`, one message
// that carries the value and completes the mbarrier's transaction; `shared_flag`, remote store,
// then a remote flag with release, polled with acquire in the receiver's own memory; `global_flag`,
// the same through device memory, where the blocks meet in the L2.

#include "microbench/dsm/cluster.cuh"

namespace amasia::dsm {
namespace {

constexpr int shorter = 64, longer = 1024;  // round trips

enum class Way { cluster_barrier, mbarrier, st_async, shared_flag, global_flag };
/// What one block receives; in shared memory, or in device memory for global_flag.
struct alignas(128) Inbox {
  unsigned token;
  alignas(64) unsigned flag;  // hops seen; another sector
  tma::Barrier full;
};

/// `pause` between two looks would add to what is measured: there is none.
template <Way WAY>
__device__ void await(Inbox* inbox, Inbox* global, unsigned hop, unsigned parity) {
  if constexpr (WAY == Way::mbarrier) {
    wait_cluster(&inbox->full, parity);
  } else if constexpr (WAY == Way::st_async) {
    tma::wait(&inbox->full, parity);
  } else if constexpr (WAY == Way::shared_flag) {
    unsigned seen = 0;
    do {
      AMASIA_SM90_ASM("ld.acquire.cluster.shared::cta.u32 %0, [%1];"
                      : "=r"(seen)
                      : "r"(shared_address(&inbox->flag))
                      : "memory");
    } while (seen != hop);
  } else if constexpr (WAY == Way::global_flag) {
    unsigned seen = 0;
    do {
      AMASIA_SM90_ASM("ld.acquire.gpu.global.u32 %0, [%1];"
                      : "=r"(seen)
                      : "l"(__cvta_generic_to_global(&global->flag))
                      : "memory");
    } while (seen != hop);
  }
}

template <Way WAY>
__device__ void send(Inbox* inbox, Inbox* global, unsigned peer, unsigned token, unsigned hop) {
  if constexpr (WAY == Way::st_async) {
    store_async(remote_address(&inbox->token, peer), static_cast<int>(token),
                remote_address(&inbox->full, peer));
  } else if constexpr (WAY == Way::global_flag) {
    global->token = token;
    AMASIA_SM90_ASM(
        "st.release.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(&global->flag)),
        "r"(hop)
        : "memory");
  } else {
    store(remote_address(&inbox->token, peer), static_cast<int>(token));
    if constexpr (WAY == Way::mbarrier) arrive_remote(remote_address(&inbox->full, peer));
    if constexpr (WAY == Way::shared_flag) {
      AMASIA_SM90_ASM("st.release.cluster.shared::cluster.u32 [%0], %1;" ::"r"(
                          remote_address(&inbox->flag, peer)),
                      "r"(hop)
                      : "memory");
    }
  }
}

/// `global`: two inboxes, zero. Role 0 is the block ranked 0, role 1 that ranked `distance`; the
/// others are there for the barrier.
template <Way WAY>
__global__ void __launch_bounds__(32)
    pass_token(unsigned distance, Walks walks, Inbox* global, Stamp* taken, unsigned* end) {
  __shared__ Inbox inbox;
  const unsigned me = rank();
  const bool plays = me == 0 || me == distance;
  const unsigned role = me == 0 ? 0 : 1, peer = me == 0 ? distance : 0;
  if (threadIdx.x == 0) {
    inbox.token = inbox.flag = 0;
    tma::init(&inbox.full, 1);
    tma::fence_init();
    if (WAY == Way::st_async) tma::expect(&inbox.full, sizeof(unsigned));
  }
  cluster_sync();
  unsigned token = 0, hop = 0, parity = 0;
  const bool active = plays && threadIdx.x == 0;
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    const Stopwatch watch;
    const unsigned last = hop + 2 * static_cast<unsigned>(walks.links[w]);
#pragma unroll 1
    while (hop < last) {
      const bool my_turn = hop % 2 == role;
      ++hop;  // its number: a flag of 0 means none yet
      if (active && my_turn) send<WAY>(&inbox, global + (1 - role), peer, ++token, hop);
      if constexpr (WAY == Way::cluster_barrier) {
        __syncwarp();
        cluster_sync();
      }
      if (active && !my_turn) {
        await<WAY>(&inbox, global + role, hop, parity);
        token = WAY == Way::global_flag ? *static_cast<volatile unsigned*>(&global[role].token)
                                        : *static_cast<volatile unsigned*>(&inbox.token);
        parity ^= 1;
        if (WAY == Way::st_async) tma::expect(&inbox.full, sizeof(unsigned));
      }
      // The cluster's barrier needs every warp in every hop, the others only their two threads.
      if (WAY != Way::cluster_barrier && !active) hop = last;
    }
    if (me == 0 && threadIdx.x == 0) watch.stop(taken[w]);
  }
  if (me == 0 && threadIdx.x == 0) *end = token;
  __syncwarp();
  cluster_sync();
}

using TokenKernel = void (*)(unsigned, Walks, Inbox*, Stamp*, unsigned*);

/// `claim`: the instruction that signals, one in the code. The waits are behind the code, where a
/// jump back is not told from a loop: all of the kernel is counted.
struct Handover {
  const char* name;
  TokenKernel kernel;
  Claim claim;
};
const Handover handovers[] = {
    {"cluster_barrier",
     pass_token<Way::cluster_barrier>,
     {"UCGABAR_ARV", "barrier.cluster.arrive", 3, false}},
    {"mbarrier", pass_token<Way::mbarrier>, {"ST", "st.shared::cluster", 1, false}},
    {"st_async", pass_token<Way::st_async>, {"STAS", "st.async", 1, false}},
    {"shared_flag", pass_token<Way::shared_flag>, {"ST", "st.shared::cluster", 2, false}},
    // Flag and token.
    {"global_flag", pass_token<Way::global_flag>, {"LDG", "ld.global", 2, false}}};

Sampling exchange(TokenKernel kernel, int cluster, unsigned distance, Stream stream) {
  const LaunchShape shape = one_cluster(kernel, cluster, 32);
  auto global = std::make_shared<DeviceArray<Inbox>>(2);
  auto taken = std::make_shared<DeviceArray<Stamp>>(max_walks);
  auto end = std::make_shared<DeviceArray<unsigned>>(1);
  return [=] {
    AMASIA_CUDA(cudaMemsetAsync(global->data(), 0, global->bytes(), stream));
    const Walks walks{{shorter, shorter, longer}};
    launch(kernel, shape, stream, distance, walks, global->data(), taken->data(), end->data());
    const Reading reading = slope_of_walks(stream, *taken, walks, 2);
    constexpr unsigned hops = 2 * (2 * shorter + longer);
    if (const unsigned token = first_of(*end); token != hops) {
      throw std::runtime_error("the token is " + std::to_string(token) + " after " +
                               std::to_string(hops) + " hops");
    }
    return reading;
  };
}

std::vector<Point> points(const Device& device, Scope scope) {
  struct Pair {
    int cluster, distance;
  };
  std::vector<Point> all;
  for (const Handover& way : handovers) {
    for (const Pair pair :
         {Pair{2, 1}, Pair{4, 1}, Pair{8, 1}, Pair{8, 7}, Pair{16, 1}, Pair{16, 15}}) {
      if (scope == Scope::quick && pair.cluster != 2) continue;
      Point& p = add_cluster_point(all,
                                   {{"way", way.name},
                                    {"cluster", std::to_string(pair.cluster)},
                                    {"distance", std::to_string(pair.distance)}},
                                   "latency", "cycles", Better::smaller,
                                   kernel_use(way.kernel, 32, 0, pair.cluster), device);
      p.claims = {way.claim};
      p.prepare = [=, kernel = way.kernel](const Device&, Stream stream) {
        return exchange(kernel, pair.cluster, static_cast<unsigned>(pair.distance), stream);
      };
    }
  }
  return all;
}

const bool registered = register_microbenchmark(
    {"dsm/handover", "How long until another SM of the cluster has a value and knows it?",
     "A token goes back and forth between two blocks of a cluster, handed over by the cluster's "
     "barrier, by a remote mbarrier, by st.async, by a flag in shared memory and by one in device "
     "memory; half of the slope over two numbers of round trips. The token is checked.",
     points});

}  // namespace
}  // namespace amasia::dsm
