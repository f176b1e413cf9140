// dpx/blocks: throughput of DPX functions against the number of blocks: Luo et al. 2024, text IV-E,
// from which they infer that the unit belongs to the SM.
//
// Method: n blocks of 1024 threads, four chains per thread as in dpx/functions, n from a quarter of
// the SMs to beyond four times their number, and one more than each multiple. Time by events, as
// the slope over two lengths of the loop in two launches, behind a launch that warms; the clock
// from block 0. Calls per cycle of the whole GPU = n x 1024 x calls / (time x clock). If one block
// fills the pipe of an SM, one block too many leaves all SMs but one waiting, whatever the unit:
// the plain form, an ordinary mixture of instructions, is there to tell whether the teeth are
// DPX's.

#include "microbench/dpx/functions.cuh"

namespace amasia::dpx {
namespace {

Sampling calls_per_cycle(Calls kernel, int blocks, Stream stream) {
  auto run = std::make_shared<Run>(kernel, blocks, threads, stream);
  return [=] {
    const auto call = [&](int calls) { run->launch(Walks{{calls, 0, 0}}); };
    const auto time_ns = [&](int calls) {
      return 1e6 * milliseconds(
                       stream, [&] { call(copies); }, [&] { call(calls); });
    };
    constexpr int shorter = 32 * copies, longer = 256 * copies;
    const double few = time_ns(shorter), many = time_ns(longer);
    Reading r = timed(slope_of({{shorter, few}, {longer, many}}), first_of(run->taken()));
    r.value = static_cast<double>(blocks) * threads / *r.cycles;
    return r;
  };
}

template <class Function, bool DPX>
void add(std::vector<Point>& points, const Device& device, Scope scope, const char* name) {
  std::vector<int> numbers;
  for (int quarter = 1; quarter <= 17; ++quarter) {
    const int blocks = device.sm_count * quarter / 4;
    if (scope == Scope::quick && quarter % 2 == 1) continue;
    numbers.push_back(blocks);
    if (quarter % 4 == 0) numbers.push_back(blocks + 1);
  }
  for (const int blocks : numbers) {
    Point& p = add_point(
        points,
        {{"function", name}, {"form", DPX ? "dpx" : "plain"}, {"blocks", std::to_string(blocks)}},
        "throughput", "call/clk", Better::larger);
    const Calls kernel = run_calls<Function, DPX, chains>;
    p.kernels = {kernel_use(kernel, threads)};
    const bool hardware = DPX && device.compute_capability == 90;
    p.claims = {at_least(copies, hardware ? "VIADDMNMX" : "total", "total")};
    p.prepare = [kernel, blocks](const Device&, Stream stream) {
      return calls_per_cycle(kernel, blocks, stream);
    };
  }
}

std::vector<Point> points(const Device& device, Scope scope) {
  std::vector<Point> all;
  add<ViaddmaxS32, true>(all, device, scope, "__viaddmax_s32");
  add<ViaddmaxS16x2Relu, true>(all, device, scope, "__viaddmax_s16x2_relu");
  add<ViaddmaxS16x2Relu, false>(all, device, scope, "__viaddmax_s16x2_relu");
  return all;
}

/// Calls per cycle with as many blocks as SMs, and with one more, over the former.
std::vector<Finding> findings(const Device& device, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  for (const MeasuredPoint& full : measured) {
    if (value_of(full.at, "blocks") != std::to_string(device.sm_count)) continue;
    Coordinates at = full.at;
    at[2].second = std::to_string(device.sm_count + 1);
    const double more = value_at(measured, at);
    if (more == 0) continue;
    found.push_back(single_finding(
        {at[0], at[1]}, "share left by one block too many", "x", more / full.value,
        "Calls per cycle with one block more than SMs over those with one for each"));
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"dpx/blocks", "How does the throughput of DPX functions depend on the number of blocks?",
     "Blocks of 1024 threads with four chains of calls each, a quarter of the SMs to more than "
     "four times their number; calls per cycle of the whole GPU, time by events as the slope over "
     "two lengths, the clock from block 0.",
     points, findings});

}  // namespace
}  // namespace amasia::dpx
