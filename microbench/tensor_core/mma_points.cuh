// The points of one mma instruction: what its machine code must hold, its coordinates, its
// latency, issue interval and rates.
#pragma once

#include "microbench/tensor_core/mma_run.cuh"

namespace amasia::tensor {

/// What the loop of a kernel holds, and the remark of its rows.
struct MmaCode {
  std::vector<Claim> claims;
  std::string remark{};
};

/// Where a GPU has no such unit ptxas writes other code, found by disassembling it.
template <class I>
MmaCode mma_code(int capability) {
  if (is_fp8(I::element) && (capability == 90 || capability / 10 == 10)) {
    return {{{"HMMA", "mma", 2 * mma_per_loop, true, 0, mma_per_loop},
             {"F2FP", "mma", 12 * mma_per_loop, true, 0, mma_per_loop}},
            "emulated: F2FP converts both operands to f16, two HMMA.16816 multiply each half of k "
            "and are added"};
  }
  const Claim call{"CALL", "mma", mma_per_loop};
  if (I::element == Element::s4 && capability >= 90) {
    return {{call},
            "emulated: a subroutine that unpacks with shifts to s8 and multiplies with IMMA"};
  }
  if (I::element == Element::b1 && capability >= 100) {
    return {{call}, "emulated: a subroutine that unpacks bits to u8 and multiplies with IMMA"};
  }
  const char* group = I::element == Element::b1 ? "BMMA"
                      : is_integer(I::element)  ? "IMMA"
                      : is_fp8(I::element)      ? "QMMA"
                                                : "HMMA";
  return {{{group, "mma", mma_per_loop}}};
}

template <class I, int CHAINS>
Point mma_point(const Device& device, const char* quantity, std::string unit) {
  Point p = new_point({{"input", name_of(I::element)},
                       {"sum", name_of(I::sum)},
                       {"shape", "m16n8k" + std::to_string(I::k)},
                       {"mode", I::mode == Mode::dense ? "dense" : "sparse"}},
                      quantity, std::move(unit));
  p.runs_from = is_fp8(I::element) ? 89 : 80;
  MmaCode code = mma_code<I>(device.compute_capability);
  p.remark = std::move(code.remark);
  p.kernels = {kernel_use(run_mma<I, CHAINS>, CHAINS == 1 ? 32 : rate_threads)};
  p.claims = std::move(code.claims);
  return p;
}

/// Latency, issue interval and rates of one instruction; in the quick form the latency, and the
/// rate on random data.
template <class I>
void add_mma(std::vector<Point>& points, const Device& device, Scope scope) {
  points.push_back(mma_point<I, 1>(device, "latency", "cycles"));
  points.back().prepare = [](const Device&, Stream s) { return mma_cycles<I, 1>(s); };
  if (scope == Scope::full) {
    points.push_back(mma_point<I, rate_chains>(device, "interval", "cycles"));
    points.back().prepare = [](const Device&, Stream s) { return mma_cycles<I, rate_chains>(s); };
  }
  for (const Fill fill : {Fill::random, Fill::zero}) {
    if (scope == Scope::quick && fill == Fill::zero) continue;
    points.push_back(mma_point<I, rate_chains>(device, "throughput", rate_unit(I::element)));
    Point& rate = points.back();
    rate.at.emplace_back("data", name_of(fill));
    rate.larger_is_better = true;
    rate.prepare = [fill](const Device& d, Stream s) { return mma_rate<I>(fill, d, s); };
  }
}

}  // namespace amasia::tensor
