// launch/flags: latency of handing a value to another block of the grid through device memory, by
// the positions of the two blocks.
//
// Method: a token goes back and forth between two threads; nothing else runs. Hops go through 64
// lines in turn, because a line's slice of the L2 may be near or far. One hop is half of the slope
// over two numbers of round trips. The token must end at the number of hops.
// `carry=flag`: the token is stored, then a flag with release. The other thread polls the flag with
//   acquire and then reads the token.
// `carry=word`: the token is the flag, a relaxed store, polled.
// `where=one SM`: two blocks of one SM.
// `where=one GPC`: two SMs of one cluster of 16 blocks.
// `where=nearest GPC`, `where=furthest GPC`: the first SMs of two such clusters that run at the
//   same time. No GPC has room for both. Of all second clusters these have the shortest and the
//   longest hop.
// `where=any two SMs`: the first SM and the one half of the device further, for GPUs without
//   clusters.

#include "microbench/dsm/cluster.cuh"

namespace amasia {
namespace {

constexpr int shorter = 64, longer = 1024;  // round trips
constexpr unsigned slots = 64;
constexpr int blocks_per_sm = 8;  // launched, so that every SM has two
constexpr unsigned cluster = 16;  // no GPC has room for two

struct alignas(128) Line {
  unsigned token;
  alignas(64) unsigned flag;  // another sector
};
struct Board {
  Line lines[2][slots];  // by receiver
  unsigned seats[2];     // players that have sat down
  unsigned end;
  unsigned gave_up;
};

__device__ unsigned sm_id() {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

template <bool CLUSTER>
__global__ void list_sms(unsigned* sm) {
  if (threadIdx.x == 0) sm[blockIdx.x] = sm_id();
  if constexpr (CLUSTER) dsm::cluster_sync();
}

// Volta is the first with these (PTX ISA: "Memory Consistency Model").
template <bool ACQUIRE>
__device__ unsigned look(unsigned* p) {
  unsigned v;
  if constexpr (ACQUIRE) {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  } else {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  }
  return v;
}
template <bool RELEASE>
__device__ void show(unsigned* p, unsigned v) {
  if constexpr (RELEASE) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
  } else {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
  }
}

/// The first block on SM `first` and the next on SM `second` play; the others leave.
template <bool FLAG>
__global__ void __launch_bounds__(32)
    exchange(unsigned first, unsigned second, Walks walks, Board* board, Stamp* taken) {
  if (threadIdx.x != 0) return;
  const unsigned sm = sm_id();
  unsigned role = 2;
  if (sm == first && atomicAdd(&board->seats[0], 1U) == 0) role = 0;
  if (role == 2 && sm == second && atomicAdd(&board->seats[1], 1U) == 0) role = 1;
  if (role == 2) return;
  unsigned token = 0, hop = 0;
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    const Stopwatch watch;
    const unsigned last = hop + 2 * static_cast<unsigned>(walks.links[w]);
#pragma unroll 1
    while (hop < last) {
      const bool my_turn = hop % 2 == role;
      ++hop;
      Line* const line = &board->lines[my_turn ? 1 - role : role][hop % slots];
      if (my_turn) {
        ++token;
        if constexpr (FLAG) show<false>(&line->token, token);
        show<FLAG>(&line->flag, token);
      } else {
        unsigned looks = 0;
#pragma unroll 1
        while (look<FLAG>(&line->flag) != token + 1) {
          if (++looks > (1U << 22)) {  // seconds: nobody is there
            board->gave_up = 1;
            return;
          }
        }
        token = FLAG ? look<false>(&line->token) : token + 1;
      }
    }
    if (role == 0) watch.stop(taken[w]);
  }
  if (role == 0) board->end = token;
}

using ExchangeKernel = void (*)(unsigned, unsigned, Walks, Board*, Stamp*);
ExchangeKernel kernel_of(bool flag) { return flag ? exchange<true> : exchange<false>; }

enum class Where { one_sm, one_gpc, nearest_gpc, furthest_gpc, any };
constexpr std::pair<Where, const char*> places[] = {{Where::one_sm, "one SM"},
                                                    {Where::one_gpc, "one GPC"},
                                                    {Where::nearest_gpc, "nearest GPC"},
                                                    {Where::furthest_gpc, "furthest GPC"},
                                                    {Where::any, "any two SMs"}};
constexpr bool needs_clusters(Where w) { return w != Where::one_sm && w != Where::any; }

struct Pair {
  unsigned first, second;
};

/// SMs as they are met, block by block: with `clustered` in clusters that run at the same time.
std::vector<unsigned> sms_seen(bool clustered, const Device& device, Stream stream) {
  const auto kernel = clustered ? list_sms<true> : list_sms<false>;
  const LaunchShape shape =
      dsm::fill_device(kernel, clustered ? static_cast<int>(cluster) : 1, 1024,
                       device.shared_per_sm / 2,  // one block per SM
                       device);
  const DeviceArray<unsigned> sm(shape.grid.x);
  launch(kernel, shape, stream, sm.data());
  finish(stream);
  return downloaded(sm);
}

/// Passes the token; throws when it got lost.
class Exchange {
 public:
  Exchange(bool flag, const Device& device, Stream stream)
      : kernel_(kernel_of(flag)),
        blocks_(static_cast<unsigned>(device.sm_count * blocks_per_sm)),
        stream_(stream) {}

  Reading hop(Pair pair) const {
    AMASIA_CUDA(cudaMemsetAsync(board_.data(), 0, board_.bytes(), stream_));
    const Walks walks{{shorter, shorter, longer}};
    kernel_<<<blocks_, 32, 0, stream_>>>(pair.first, pair.second, walks, board_.data(),
                                         taken_.data());
    const Reading reading = slope_of_walks(stream_, taken_, walks, 2);
    const auto after = std::make_unique<Board>();
    board_.download(after.get());
    constexpr unsigned hops = 2 * (2 * shorter + longer);
    if (after->gave_up != 0 || after->end != hops) {
      throw std::runtime_error("the token is " + std::to_string(after->end) + " after " +
                               std::to_string(hops) + " hops");
    }
    return reading;
  }

 private:
  ExchangeKernel kernel_;
  unsigned blocks_;
  Stream stream_;
  DeviceArray<Board> board_{1};
  DeviceArray<Stamp> taken_{max_walks};
};

/// `exchange` tells which GPC is near: one hop to each of the other clusters.
Pair find_pair(Where where, const Exchange& exchange, const Device& device, Stream stream) {
  std::vector<unsigned> on = sms_seen(needs_clusters(where), device, stream);
  if (where == Where::one_gpc) {
    const auto other = std::find_if(on.begin(), on.begin() + cluster,
                                    [&](unsigned s) { return s / 2 != on[0] / 2; });  // not its TPC
    return {on[0], *other};
  }
  if (!needs_clusters(where)) {
    std::sort(on.begin(), on.end());
    return {on.front(), where == Where::one_sm ? on.front() : on[on.size() / 2]};
  }
  if (on.size() < 2 * cluster) throw std::runtime_error("only one cluster of 16 blocks fits");
  std::vector<std::pair<double, unsigned>> hops;
  for (std::size_t c = cluster; c < on.size(); c += cluster) {
    hops.emplace_back(exchange.hop({on[0], on[c]}).value, on[c]);
  }
  const auto ends = std::minmax_element(hops.begin(), hops.end());
  return {on[0], where == Where::nearest_gpc ? ends.first->second : ends.second->second};
}

Sampling hand_over(Where where, bool flag, const Device& device, Stream stream) {
  const auto exchange = std::make_shared<Exchange>(flag, device, stream);
  const Pair pair = find_pair(where, *exchange, device, stream);
  return [=] { return exchange->hop(pair); };
}

std::vector<Point> points(const Device& device, Scope scope) {
  std::vector<Point> all;
  for (const auto& [where, name] : places) {
    for (const bool flag : {true, false}) {
      if (scope == Scope::quick && !flag) continue;
      Point& p =
          add_point(all, {{"where", name}, {"carry", flag ? "flag" : "word"}}, "latency", "cycles");
      const bool clustered = needs_clusters(where);
      p.runs_from = clustered ? 90 : 0;
      if (clustered) p.unsupported = dsm::obstacle(cluster, 0, device);
      p.kernels = {kernel_use(kernel_of(flag), 32)};
      p.claims = {{"LDG", "ld.global", flag ? 2 : 1}};  // the flag, and the token
      p.prepare = [=, where = where](const Device& d, Stream stream) {
        return hand_over(where, flag, d, stream);
      };
    }
  }
  return all;
}

const bool registered = register_microbenchmark(
    {"launch/flags", "How long until another block of the grid has a value and knows it?",
     "A token goes back and forth between two blocks through 64 lines of device memory in turn, as "
     "a value with a flag (release, acquire) or as one word; half of the slope over two numbers of "
     "round trips, for two blocks of one SM, of one GPC and of two GPCs. The token is checked.",
     points});

}  // namespace
}  // namespace amasia
