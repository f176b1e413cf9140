// The points of one mma instruction: what its machine code must hold, its coordinates, its
// latency, issue interval and rates.
#pragma once

#include "microbench/tensor_core/mma_run.cuh"

namespace amasia::tensor {

/// Where a GPU has no such unit ptxas writes other code, found by disassembling it.
enum class Code { native, hmma, called };

template <class I>
constexpr Code code_of(int capability) {
  if (is_fp8(I::element)) {
    return capability == 90 || capability / 10 == 10 ? Code::hmma : Code::native;
  }
  if (I::element == Element::s4) return capability >= 90 ? Code::called : Code::native;
  if (I::element == Element::b1) return capability >= 100 ? Code::called : Code::native;
  return Code::native;
}

template <class I>
std::vector<Claim> mma_claims(int capability) {
  switch (code_of<I>(capability)) {
    case Code::hmma:
      return {{"HMMA", "mma", 2 * mma_per_loop, true, 0, mma_per_loop},
              {"F2FP", "mma", 12 * mma_per_loop, true, 0, mma_per_loop}};
    case Code::called:
      return {{"CALL", "mma", mma_per_loop}};
    case Code::native:
      break;
  }
  const char* group = I::element == Element::b1 ? "BMMA"
                      : is_integer(I::element)  ? "IMMA"
                      : is_fp8(I::element)      ? "QMMA"
                                                : "HMMA";
  return {{group, "mma", mma_per_loop}};
}

template <class I>
std::string mma_remark(int capability) {
  switch (code_of<I>(capability)) {
    case Code::hmma:
      return "emulated: F2FP converts both operands to f16, two HMMA.16816 multiply each half of k "
             "and are added";
    case Code::called:
      return I::element == Element::s4
                 ? "emulated: a subroutine that unpacks with shifts to s8 and multiplies with IMMA"
                 : "emulated: a subroutine that unpacks bits to u8 and multiplies with IMMA";
    case Code::native:
      break;
  }
  return "";
}

template <class I>
Coordinates mma_at() {
  return {{"input", name_of(I::element)},
          {"sum", name_of(I::sum)},
          {"shape", "m16n8k" + std::to_string(I::k)},
          {"mode", I::mode == Mode::dense ? "dense" : "sparse"}};
}

template <class I, int CHAINS>
Point mma_point(const Device& device, const char* quantity, std::string unit) {
  Point p;
  p.at = mma_at<I>();
  p.quantity = quantity;
  p.unit = std::move(unit);
  p.runs_from = is_fp8(I::element) ? 89 : 80;
  p.remark = mma_remark<I>(device.compute_capability);
  p.kernels = {
      {reinterpret_cast<const void*>(run_mma<I, CHAINS>), CHAINS == 1 ? 32 : rate_threads}};
  p.claims = mma_claims<I>(device.compute_capability);
  return p;
}

/// Latency, issue interval and rates of one instruction; in the quick form the latency, and the
/// rate on random data.
template <class I>
void add_mma(std::vector<Point>& points, const Device& device, Scope scope) {
  Point latency = mma_point<I, 1>(device, "latency", "cycles");
  latency.prepare = [](const Device&, Stream s) { return mma_cycles<I, 1>(s); };
  points.push_back(std::move(latency));
  if (scope == Scope::full) {
    Point interval = mma_point<I, rate_chains>(device, "interval", "cycles");
    interval.prepare = [](const Device&, Stream s) { return mma_cycles<I, rate_chains>(s); };
    points.push_back(std::move(interval));
  }
  for (const Fill fill : {Fill::random, Fill::zero}) {
    if (scope == Scope::quick && fill == Fill::zero) continue;
    Point rate = mma_point<I, rate_chains>(device, "throughput", rate_unit(I::element));
    rate.at.emplace_back("data", fill == Fill::zero ? "zero" : "random");
    rate.larger_is_better = true;
    rate.prepare = [fill](const Device& d, Stream s) { return mma_rate<I>(fill, d, s); };
    points.push_back(std::move(rate));
  }
}

}  // namespace amasia::tensor
