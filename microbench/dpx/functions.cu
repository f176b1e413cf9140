// dpx/functions: what one DPX function costs and how many calls one SM starts per cycle, beside the
// same in plain C: Figs. 6 and 7 of Luo et al. 2024.
//
// Method: calls work on the last two results of a chain in turn, x = f(x, y, c), y = f(y, x, c),
// with random operands from memory. A chain of max(x, c) would be one instruction, because the
// maximum is idempotent, and two maxima of two operands fuse into one of three. Latency: one warp,
// one chain. Throughput: one block of 1024 threads, four chains each. Both as the slope over two
// lengths of the loop in one launch, per call. The remark lists the machine code of one call: plain
// C becomes the same instruction where the compiler recognises it, so the ratio of the two forms is
// the gain of the function. Both forms must leave the same words, from poisoned destinations. GPUs
// before sm_90 run the header's emulation; __vibmax includes the instructions that use its
// predicates.

#include "microbench/dpx/functions.cuh"

namespace amasia::dpx {
namespace {

template <class Function, bool DPX, int CHAINS>
Sampling cycles_per_call(Stream stream) {
  const int width = CHAINS == 1 ? 32 : threads;
  expect_equal(run_calls<Function, true, CHAINS>, run_calls<Function, false, CHAINS>, width,
               stream);
  auto run = std::make_shared<Run>(run_calls<Function, DPX, CHAINS>, 1, width, stream);
  return [run, stream] {
    constexpr int shorter = 8 * copies, longer = (CHAINS == 1 ? 2048 : 256) * copies;
    const Walks walks{{copies, shorter, longer}};
    run->launch(walks);
    Reading r = slope_of_walks(stream, run->taken(), walks);
    if (CHAINS > 1) r.value = threads / r.value;
    return r;
  };
}

template <class Function, bool DPX, int CHAINS>
void add_point(std::vector<Point>& points, const Device& device, const char* name,
               const char* sass) {
  constexpr bool one = CHAINS == 1;
  Point& p = add_point(points, {{"function", name}, {"form", DPX ? "dpx" : "plain"}},
                       one ? "latency" : "throughput", one ? "cycles" : "call/clk/SM",
                       one ? Better::smaller : Better::larger);
  p.kernels = {kernel_use(run_calls<Function, DPX, CHAINS>, one ? 32 : threads)};
  const bool hardware = DPX && device.compute_capability == 90;
  p.claims = {at_least(copies, hardware ? sass : "total", "total")};
  p.copies = copies;
  if (DPX && device.compute_capability < 90) p.remark = "emulated: before sm_90 there is no DPX";
  p.prepare = [](const Device&, Stream stream) {
    return cycles_per_call<Function, DPX, CHAINS>(stream);
  };
}

/// sass: the instruction of sm_90 that does it; "total" where it takes several.
template <class Function>
void add(std::vector<Point>& points, const Device& device, const char* name, const char* sass) {
  add_point<Function, true, 1>(points, device, name, sass);
  add_point<Function, false, 1>(points, device, name, sass);
  add_point<Function, true, chains>(points, device, name, sass);
  add_point<Function, false, chains>(points, device, name, sass);
}

std::vector<Point> points(const Device& device, Scope) {
  std::vector<Point> all;
  add<Vimax3S32>(all, device, "__vimax3_s32", "VIMNMX3");
  add<Vimax3U32>(all, device, "__vimax3_u32", "VIMNMX3");
  add<Vimax3S16x2>(all, device, "__vimax3_s16x2", "VIMNMX3");
  add<Vimax3U16x2>(all, device, "__vimax3_u16x2", "VIMNMX3");
  add<Vimax3S32Relu>(all, device, "__vimax3_s32_relu", "VIMNMX3");
  add<Vimax3S16x2Relu>(all, device, "__vimax3_s16x2_relu", "VIMNMX3");
  add<VimaxS32Relu>(all, device, "__vimax_s32_relu", "VIMNMX");
  add<VimaxS16x2Relu>(all, device, "__vimax_s16x2_relu", "VIMNMX");
  add<ViaddmaxS32>(all, device, "__viaddmax_s32", "VIADDMNMX");
  add<ViaddmaxU32>(all, device, "__viaddmax_u32", "VIADDMNMX");
  add<ViaddmaxS16x2>(all, device, "__viaddmax_s16x2", "VIADDMNMX");
  add<ViaddmaxU16x2>(all, device, "__viaddmax_u16x2", "VIADDMNMX");
  add<ViaddmaxS32Relu>(all, device, "__viaddmax_s32_relu", "VIADDMNMX");
  add<ViaddmaxS16x2Relu>(all, device, "__viaddmax_s16x2_relu", "VIADDMNMX");
  add<VibmaxS32>(all, device, "__vibmax_s32", "total");
  add<VibmaxS16x2>(all, device, "__vibmax_s16x2", "VIMNMX");
  return all;
}

/// DPX over plain C in calls per cycle: what the paper calls acceleration, on one GPU.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  for (const MeasuredPoint& dpx : measured) {
    if (dpx.quantity != "throughput" || value_of(dpx.at, "form") != "dpx") continue;
    for (const MeasuredPoint& plain : measured) {
      const std::string function = value_of(dpx.at, "function");
      if (plain.quantity != "throughput" ||
          !has(plain, {{"function", function}, {"form", "plain"}})) {
        continue;
      }
      found.push_back(
          single_finding({{"function", function}}, "acceleration", "x", dpx.value / plain.value,
                         "Calls per cycle of the function over those of the same in plain C"));
    }
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"dpx/functions", "What do the DPX functions cost, and what do they add to plain C?",
     "Chains of calls x = f(x, y, c), y = f(y, x, c), random operands: latency of one chain in one "
     "warp, calls per cycle of one block of 1024 threads with four chains each, as the slope over "
     "two lengths in one launch; the same in plain C, with equal results. The remark lists the "
     "machine code of one call.",
     points, findings});

}  // namespace
}  // namespace amasia::dpx
