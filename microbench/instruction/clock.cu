// instruction/clock: what a clock read around one to eight instructions says: Table I, Figs. 1 and
// 4 of Abdelkhalik et al. 2022.
//
// Method: the paper's, to show why nothing else here uses it. One thread reads the clock, runs n
// independent add.u32 (operands from memory), reads the clock again; n from 0 to 8; with the clock
// kept in 64 or in 32 bits. The second pass of a loop is kept: the first fetches the code. The
// point is the difference of the two reads as it is, always positive; the finding is cycles per
// instruction as the paper forms it, the difference less that of n = 0, over n, which can be
// anything. What an addition costs is in instruction/add_multiply.

#include "microbench/walks.cuh"

namespace amasia::instruction {
namespace {

constexpr int most = 8;

template <bool WIDE>
__device__ long long read_clock() {
  if constexpr (WIDE) return clock_now();
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

template <int N, bool WIDE>
__global__ void __launch_bounds__(32)
    between_reads(const unsigned* operands, unsigned* sink, int passes, long long* taken) {
  unsigned x[most], y[most];
#pragma unroll
  for (int i = 0; i < most; ++i) {
    x[i] = operands[i];
    y[i] = operands[most + i];
  }
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass) {
    const long long begin = read_clock<WIDE>();
#pragma unroll
    for (int i = 0; i < N; ++i) {
      asm volatile("add.u32 %0, %0, %1;" : "+r"(x[i]) : "r"(y[i]) : "memory");
    }
    const long long end = read_clock<WIDE>();
    *taken = WIDE ? end - begin : static_cast<unsigned>(end - begin);
  }
#pragma unroll
  for (int i = 0; i < most; ++i) sink[i] = x[i];
}

using Kernel = void (*)(const unsigned*, unsigned*, int, long long*);

Sampling difference(Kernel kernel, Stream stream) {
  unsigned host[2 * most];
  for (unsigned i = 0; i < 2 * most; ++i) host[i] = 2654435761U * (i + 1);
  auto operands = std::make_shared<DeviceArray<unsigned>>(2 * most);
  operands->upload(host);
  auto sink = std::make_shared<DeviceArray<unsigned>>(most);
  auto taken = std::make_shared<DeviceArray<long long>>(1);
  return [=] {
    kernel<<<1, 1, 0, stream>>>(operands->data(), sink->data(), 2, taken->data());
    finish(stream);
    const auto cycles = static_cast<double>(first_of(*taken));
    return Reading{cycles, cycles};
  };
}

template <int N, bool WIDE>
void add(std::vector<Point>& points) {
  Point& p = add_point(points, {{"clock", WIDE ? "64" : "32"}, {"instructions", std::to_string(N)}},
                       "difference", "cycles");
  p.kernels = {kernel_use(between_reads<N, WIDE>, 1)};
  p.claims = {at_least(N + 2, "total", "total")};  // additions and reads
  p.prepare = [](const Device&, Stream stream) {
    return difference(between_reads<N, WIDE>, stream);
  };
}

template <bool WIDE, int... N>
void add_all(std::vector<Point>& points) {
  (add<N, WIDE>(points), ...);
}

std::vector<Point> points(const Device&, Scope) {
  std::vector<Point> all;
  add_all<true, 0, 1, 2, 3, 4, 8>(all);
  add_all<false, 0, 1, 2, 3, 4, 8>(all);
  return all;
}

std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  for (const MeasuredPoint& none : measured) {
    if (value_of(none.at, "instructions") != "0") continue;
    for (const MeasuredPoint& p : measured) {
      const double n = std::stod(value_of(p.at, "instructions"));
      if (n == 0 || value_of(p.at, "clock") != value_of(none.at, "clock")) continue;
      const double each = (p.value - none.value) / n;
      if (!(each > 0)) continue;  // it happens, and is no cost
      found.push_back(single_finding(
          p.at, "cpi", "cycles", each,
          "The difference of two clock reads less that without an instruction between them, over "
          "the number of additions"));
    }
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"instruction/clock", "What does a clock read around one to eight instructions say?",
     "One thread reads the clock, runs 0 to 8 independent add.u32, reads the clock again, with the "
     "clock in 64 and in 32 bits; the difference as read in the second pass. As in the paper, to "
     "compare: every other microbenchmark takes slopes.",
     points, findings});

}  // namespace
}  // namespace amasia::instruction
