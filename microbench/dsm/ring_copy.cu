// dsm/ring_copy: how fast bytes go from SM to SM, around the ring of a cluster, by cluster size,
// block size, loads in flight per thread, width, stride and alignment.
//
// Method: the device is filled with clusters, one block per SM (each takes 128 KiB of shared
// memory), and every block serves its neighbour while the other one serves it. op=add is Luo et
// al.'s ring (III-D3): words of the block ranked R are added to registers of the next one. op=copy
// stores them in the reader's own shared memory instead; op=push is the other direction, registers
// stored into the next block. Each thread has `ilp` accesses of `width` bytes under way, a warp's
// words next to each other unless `stride` (in accesses) or `offset` (bytes) say otherwise. The
// bandwidth is bytes that crossed, of all blocks, over the slope in time between two numbers of
// rounds: the slowest cluster counts. Cluster size 1 reads its own memory through the cluster's
// window. Words are random; sums, and copies into poisoned memory, are checked in every launch, and
// the check against one word too few.

#include <algorithm>
#include <map>

#include "microbench/dsm/cluster.cuh"

namespace amasia::dsm {
namespace {

constexpr int most_threads = 1024;
constexpr unsigned buffer_words = 16384;  // 64 KiB to read, 64 KiB to write: one block per SM
constexpr unsigned slack_words = 32;      // beyond it, for accesses that begin at an offset
constexpr std::size_t dynamic_bytes = std::size_t{2} * 4 * (buffer_words + slack_words);
constexpr unsigned poison = 0xFFFFFFFF;

enum class Op { add, copy, push };
constexpr const char* name_of(Op op) {
  return op == Op::add ? "add" : op == Op::copy ? "copy" : "push";
}

template <int WORDS>
__device__ void read(unsigned (&v)[WORDS], unsigned remote) {
  if constexpr (WORDS == 1) {
    AMASIA_SM90_ASM("ld.shared::cluster.u32 %0, [%1];" : "=r"(v[0]) : "r"(remote) : "memory");
  } else if constexpr (WORDS == 2) {
    AMASIA_SM90_ASM("ld.shared::cluster.v2.u32 {%0, %1}, [%2];"
                    : "=r"(v[0]), "=r"(v[1])
                    : "r"(remote)
                    : "memory");
  } else {
    AMASIA_SM90_ASM("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                    : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                    : "r"(remote)
                    : "memory");
  }
}
template <int WORDS>
__device__ void write(unsigned remote, const unsigned (&v)[WORDS]) {
  if constexpr (WORDS == 1) {
    AMASIA_SM90_ASM("st.shared::cluster.u32 [%0], %1;" ::"r"(remote), "r"(v[0]) : "memory");
  } else if constexpr (WORDS == 2) {
    AMASIA_SM90_ASM("st.shared::cluster.v2.u32 [%0], {%1, %2};" ::"r"(remote), "r"(v[0]), "r"(v[1])
                    : "memory");
  } else {
    AMASIA_SM90_ASM("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(remote), "r"(v[0]),
                    "r"(v[1]), "r"(v[2]), "r"(v[3])
                    : "memory");
  }
}

/// Into the reader's own memory, as wide as it came.
template <int WORDS>
__device__ void keep(unsigned* target, const unsigned (&v)[WORDS]) {
  if constexpr (WORDS == 4) {
    *reinterpret_cast<uint4*>(target) = make_uint4(v[0], v[1], v[2], v[3]);
  } else {
    *target = v[0];
  }
}

struct Ring {
  int rounds;
  unsigned stride;   // accesses from one thread's to the next's; 1 in the dense kernel
  unsigned offset;   // words
  unsigned step;     // 0, which the compiler does not know: no access can leave the loop
  unsigned missing;  // words too few that the check is shown, 0 or 1
};

/// A warp's ILP x 32 accesses lie in one run; the buffer is gone around when it is too short for
/// all warps. DENSE: stride 1, so that the accesses of a thread differ by constants and share an
/// address register. That, and bounds that say one block per SM, make ptxas issue all of them
/// before it waits: left to itself it saves registers and has four under way where eight were
/// meant.
template <Op OP, int WORDS, int ILP, bool DENSE>
__global__ void __launch_bounds__(most_threads, 1) ring(Ring run, Stamp* taken, unsigned* wrong) {
  extern __shared__ __align__(128) unsigned source[];
  unsigned* const target = source + buffer_words + slack_words;
  const unsigned me = rank(), blocks = size();
  const unsigned owner = blockIdx.x - me;  // of the cluster: its words are its own
  const unsigned before = (me + blocks - 1) % blocks, after = (me + 1) % blocks;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < buffer_words + slack_words; i += blockDim.x) {
    source[i] = random_word(i, owner + me);
    target[i] = poison;
  }

  const unsigned stride = DENSE ? 1 : run.stride;
  const unsigned pitch = 32 * WORDS * stride;  // words from one access of a thread to its next
  const unsigned first = (threadIdx.x / 32 * ILP * pitch & (buffer_words - 1)) +
                         threadIdx.x % 32 * WORDS * stride + run.offset;
  unsigned remote =
      remote_address(OP == Op::push ? target : source, OP == Op::push ? after : before) + 4 * first;
  unsigned v[ILP][WORDS], sum[WORDS] = {};
  if constexpr (OP == Op::push) {
#pragma unroll
    for (int k = 0; k < ILP; ++k) {
#pragma unroll
      for (int w = 0; w < WORDS; ++w) v[k][w] = random_word(first + k * pitch + w, owner + me);
    }
  }

  cluster_sync();
  const unsigned long long begin_ns = nanoseconds_now();
  const long long begin = clock_now();
#pragma unroll 1
  for (int r = 0; r < run.rounds; ++r) {
#pragma unroll
    for (int k = 0; k < ILP; ++k) {
      if constexpr (OP == Op::push) {
        write<WORDS>(remote + 4 * k * pitch, v[k]);
      } else {
        read<WORDS>(v[k], remote + 4 * k * pitch);
      }
    }
#pragma unroll
    for (int k = 0; k < ILP; ++k) {
      if constexpr (OP == Op::copy) keep<WORDS>(target + first + k * pitch, v[k]);
#pragma unroll
      for (int w = 0; w < WORDS; ++w) {
        if constexpr (OP == Op::add) sum[w] += v[k][w];
      }
    }
    remote += run.step;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    taken->cycles = clock_now() - begin;
    taken->nanoseconds = nanoseconds_now() - begin_ns;
  }
  cluster_sync();  // what was pushed has arrived, and nobody's memory goes while it is read

  unsigned mistakes = 0;
#pragma unroll
  for (int w = 0; w < WORDS; ++w) {
    unsigned expected = 0;
#pragma unroll
    for (int k = 0; k < ILP; ++k) {
      const unsigned at = first + k * pitch + w;
      const unsigned word = random_word(at, owner + before);
      expected += word;
      if constexpr (OP != Op::add) mistakes += target[at] != word + run.missing;
    }
    if constexpr (OP == Op::add) {
      mistakes += sum[w] != expected * static_cast<unsigned>(run.rounds) + run.missing;
    }
  }
  if (mistakes != 0) atomicAdd(wrong, mistakes);
}

using RingKernel = void (*)(Ring, Stamp*, unsigned*);

struct Case {
  Op op;
  int cluster;
  int threads;
  int ilp;
  int words;
  unsigned stride = 1;
  unsigned offset = 0;  // bytes

  std::size_t bytes_per_round() const {
    return std::size_t{4} * static_cast<unsigned>(threads * ilp * words);
  }
};

template <Op OP, int WORDS>
RingKernel kernel_of_ilp(int ilp) {
  return ilp == 1   ? ring<OP, WORDS, 1, true>
         : ilp == 2 ? ring<OP, WORDS, 2, true>
         : ilp == 4 ? ring<OP, WORDS, 4, true>
                    : ring<OP, WORDS, 8, true>;
}
template <Op OP>
RingKernel kernel_of_width(const Case& c) {
  if (c.stride > 1) return c.words == 1 ? ring<OP, 1, 4, false> : ring<OP, 4, 4, false>;
  return c.words == 1 ? ring<OP, 1, 4, true> : ring<OP, 4, 4, true>;
}
/// The full table for op=add in 4 and 16 bytes, which is what is swept; else ilp 4.
RingKernel kernel_of(const Case& c) {
  if (c.op == Op::copy) return kernel_of_width<Op::copy>(c);
  if (c.op == Op::push) return kernel_of_width<Op::push>(c);
  if (c.stride > 1) return kernel_of_width<Op::add>(c);
  if (c.words == 2) return ring<Op::add, 2, 4, true>;
  return c.words == 1 ? kernel_of_ilp<Op::add, 1>(c.ilp) : kernel_of_ilp<Op::add, 4>(c.ilp);
}

Sampling circulate(const Case& c, const Device& device, Stream stream) {
  const RingKernel kernel = kernel_of(c);
  const LaunchShape shape = fill_device(reinterpret_cast<const void*>(kernel), c.cluster, c.threads,
                                        dynamic_bytes, device);
  auto taken = std::make_shared<DeviceArray<Stamp>>(1);
  auto mistakes = std::make_shared<Mistakes>(stream);
  const auto enqueue = [=](int rounds, unsigned missing = 0) {
    launch(kernel, shape, stream, Ring{rounds, c.stride, c.offset / 4, 0, missing}, taken->data(),
           mistakes->data());
  };
  enqueue(3, 1);
  mistakes->expect_some("the check takes wrong words for right ones");
  // ~300,000 cycles, at 16 bytes per cycle or 250 cycles a round, whichever is longer.
  const double cycles = std::max(250.0, static_cast<double>(c.bytes_per_round()) / 16);
  const int many = std::max(32, static_cast<int>(300e3 / cycles) / 8 * 8);
  return [=] {
    Reading r = time_of_round(stream, *taken, many / 8, many, enqueue);
    mistakes->expect_none("words were wrong behind the ring");
    r.value = static_cast<double>(c.bytes_per_round()) * shape.grid.x / *r.time_ns;
    return r;
  };
}

void add(std::vector<Point>& points, const Case& c, const Device& device) {
  Point p;
  p.at = {{"op", name_of(c.op)},
          {"cluster", std::to_string(c.cluster)},
          {"threads", std::to_string(c.threads)},
          {"ilp", std::to_string(c.ilp)},
          {"width", std::to_string(4 * c.words)},
          {"stride", std::to_string(c.stride)},
          {"offset", std::to_string(c.offset)}};
  p.quantity = "bandwidth";
  p.unit = "GB/s";
  p.larger_is_better = true;
  p.runs_from = 90;
  p.unsupported = obstacle(c.cluster, dynamic_bytes, device);
  p.kernels = {{reinterpret_cast<const void*>(kernel_of(c)), c.threads, dynamic_bytes, c.cluster,
                c.bytes_per_round()}};
  const bool push = c.op == Op::push;
  p.claims = {{push ? "ST" : "LD", push ? "st.shared::cluster" : "ld.shared::cluster", c.ilp}};
  p.prepare = [c](const Device& d, Stream stream) { return circulate(c, d, stream); };
  points.push_back(std::move(p));
}

std::vector<Point> points(const Device& device, Scope scope) {
  const bool full = scope == Scope::full;
  std::vector<Point> all;
  for (const int cluster : cluster_sizes) {
    for (const int words : {1, 4}) {  // the surfaces of Fig. 8
      for (const int threads : {64, 128, 256, 512, 1024}) {
        for (const int ilp : {1, 2, 4, 8}) {
          const bool corner = (threads == 128 || threads == 1024) && (ilp == 1 || ilp == 4);
          if (full || (corner && words == 4))
            add(all, {Op::add, cluster, threads, ilp, words}, device);
        }
      }
    }
    if (full) add(all, {Op::add, cluster, 1024, 4, 2}, device);
    for (const Op op : {Op::copy, Op::push}) {
      if (full) add(all, {op, cluster, 1024, 4, 1}, device);
      if (full || cluster == 2) add(all, {op, cluster, 1024, 4, 4}, device);
    }
  }
  for (const Op op : {Op::add, Op::push}) {
    for (const unsigned stride : {2U, 4U, 8U, 16U, 32U}) {
      if (full || stride == 8) add(all, {op, 2, 1024, 4, 1, stride}, device);
    }
    if (full) add(all, {op, 2, 1024, 4, 4, 2}, device);
    for (const unsigned offset : {4U, 16U, 32U, 64U}) {
      if (full) add(all, {op, 2, 1024, 4, 1, 1, offset}, device);
    }
    if (full) add(all, {op, 2, 1024, 4, 4, 1, 16}, device);
  }
  return all;
}

/// The best of each cluster size, block size and accesses in flight being free: what Fig. 8's text
/// calls the peak.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::map<std::string, const MeasuredPoint*> best;
  for (const MeasuredPoint& p : measured) {
    if (value_of(p.at, "op") != "add") continue;
    const MeasuredPoint*& of_size = best[value_of(p.at, "cluster")];
    if (of_size == nullptr || p.value > of_size->value) of_size = &p;
  }
  std::vector<Finding> found;
  for (const int cluster : cluster_sizes) {
    const auto p = best.find(std::to_string(cluster));
    if (p == best.end()) continue;
    const double value = p->second->value;
    found.push_back({{{"cluster", p->first}},
                     "peak",
                     "GB/s",
                     value,
                     value,
                     value,
                     "The best of the points with op=add: " + to_string(p->second->at)});
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"dsm/ring_copy", "How fast do bytes go around the ring of a cluster?",
     "Clusters fill the device, one block per SM; every block reads random words of the one before "
     "it and adds them to registers (Luo et al.'s ring), or copies them, or stores registers into "
     "the one after it. Bytes that crossed over the slope in time between two numbers of rounds, "
     "by cluster size, block size, accesses in flight, width, stride and alignment; sums and "
     "copies are checked.",
     points, findings});

}  // namespace
}  // namespace amasia::dsm
