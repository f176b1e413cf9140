// dsm/ring_copy: how fast bytes go from SM to SM, around the ring of a cluster, by cluster size,
// block size, loads in flight per thread, width, stride and alignment.
//
// Method: clusters fill the device, one block per SM (each takes 128 KiB of shared memory), and
// every block serves its neighbour. Each thread has `ilp` accesses of `width` bytes in flight. A
// warp's words are next to each other except for `stride` (in accesses) and `offset` (bytes).
// `op=add`: the ring of Luo et al. 2024 (III-D3): words of the block ranked R are added to
//   registers of the next one.
// `op=copy`: they are stored in the reader's own shared memory instead.
// `op=push`: the other direction, registers are stored into the next block.
// The bandwidth is the bytes of all blocks over the slope in time between two numbers of rounds:
// the slowest cluster counts. Cluster size 1 reads its own memory through the cluster's window.
// Words are random. Sums, and copies into poisoned memory, are checked in every launch; the check
// itself must notice one word too few.

#include <map>

#include "microbench/dsm/ring_copy.cuh"

namespace amasia::dsm {
namespace {

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
  return with_constant<1, 2, 4, 8>(
      ilp, [](auto constant) -> RingKernel { return ring<OP, WORDS, constant.value, true>; });
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
  const LaunchShape shape = fill_device(kernel, c.cluster, c.threads, dynamic_bytes, device);
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
  Point& p = add_cluster_point(
      points,
      {{"op", name_of(c.op)},
       {"cluster", std::to_string(c.cluster)},
       {"threads", std::to_string(c.threads)},
       {"ilp", std::to_string(c.ilp)},
       {"width", std::to_string(4 * c.words)},
       {"stride", std::to_string(c.stride)},
       {"offset", std::to_string(c.offset)}},
      "bandwidth", "GB/s", Better::larger,
      kernel_use(kernel_of(c), c.threads, dynamic_bytes, c.cluster, c.bytes_per_round()), device);
  const bool push = c.op == Op::push;
  p.claims = {{push ? "ST" : "LD", push ? "st.shared::cluster" : "ld.shared::cluster", c.ilp}};
  p.prepare = [c](const Device& d, Stream stream) { return circulate(c, d, stream); };
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
    found.push_back(
        single_finding({{"cluster", p->first}}, "peak", "GB/s", p->second->value,
                       "The best of the points with op=add: " + to_string(p->second->at)));
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
