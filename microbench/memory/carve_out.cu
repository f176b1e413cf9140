// memory/carve_out: how much L1 is left beside shared memory, by the share that shared memory takes
// (Hopper Tuning Guide, 4.2.4).
//
// Method: the random pointer chase of memory/latency with ld.ca, at growing footprints, with the
// preferred carve-out of the kernel at 0, 25, 50, 75 and 100 % of the largest shared memory. The
// capacity is the largest footprint whose latency stays within 10 % of that of 2 KiB, found by
// bisection to 3 %: where the first lines begin to miss, not where the last ones do. The driver
// rounds a preference up to a size the hardware has.

#include "microbench/memory/chase.cuh"

namespace amasia::memory {
namespace {

double cycles_of(const Chain& chain, Stream stream) {
  constexpr int shorter = 1024, longer = 8192;
  Chase chase(chain, stream);
  const auto taken = chase.walk({chase.nodes(), shorter, longer});
  return slope_between(taken[1], shorter, taken[2], longer).value;
}

Sampling capacity(int percent, const Device& device, Stream stream) {
  return [=] {
    Chain chain;
    chain.carve_out = percent;
    chain.footprint = 2 << 10;
    const double in_l1 = cycles_of(chain, stream);
    const auto misses = [&](double bytes) {
      chain.footprint = static_cast<std::size_t>(bytes) / 1024 * 1024;
      return cycles_of(chain, stream) > 1.1 * in_l1 ? 1 : -1;
    };
    // L1 and shared memory are one array: it holds no more than this by far.
    const double most = 2.0 * static_cast<double>(device.shared_per_sm);
    const Crossover found = bisect_crossover(4 << 10, most, 0.03, misses);
    if (found.kind != Crossover::Kind::between) {
      throw std::runtime_error("no footprint up to twice the shared memory left the L1");
    }
    return Reading{found.at.low / 1024};
  };
}

std::vector<Point> points(const Device&, Scope scope) {
  std::vector<Point> all;
  for (const int percent : {0, 25, 50, 75, 100}) {
    if (scope == Scope::quick && percent % 100 != 0) continue;
    Point& p = add_point(all, {{"level", "l1"}, {"carve_out", std::to_string(percent)}}, "capacity",
                         "KiB", Better::larger);
    p.kernels = {use_of(Hint::ca, Link::pointer)};
    p.claims = {{"LDG", "ld.global", unroll}};
    p.prepare = [percent](const Device& d, Stream stream) { return capacity(percent, d, stream); };
  }
  return all;
}

const bool registered = register_microbenchmark(
    {"memory/carve_out", "How much L1 is left beside shared memory?",
     "A random pointer chase with ld.ca at growing footprints, with the preferred carve-out at 0 "
     "to 100 % of the largest shared memory; the capacity is the largest footprint within 10 % of "
     "the latency of 2 KiB, by bisection to 3 %.",
     points});

}  // namespace
}  // namespace amasia::memory
