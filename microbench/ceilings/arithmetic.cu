// How fast the SMs do fp32 and int32 arithmetic, and how long one operation waits for the one
// before.
//
// Method, rates: a full grid of blocks of 256 threads; each thread runs eight independent chains of
// 256 links per loop iteration, so that the loop itself is about 1 % of the instructions. A link is
// x = x * a + b (fp32: two operations, one FFMA) or x = min(x + a, b) (int32: two operations, one
// VIADDMNMX from sm_90 on, an add and a min before). Operands come from memory and results can be
// stored: nothing folds. int32_rate is thus the rate of an even mix of additions and minima, the
// mix of dynamic programming.
// Method, dependent operation: one warp per SM, one chain; time over its length, as the slope
// between two lengths. Measured for FFMA and for the fused add-and-min; the sample is the smaller,
// so that it bounds either. One dependent operation is one link, a multiply-add or an add-and-min.

#include <algorithm>

#include "harness/ceiling.hpp"
#include "microbench/ceilings/timing.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::ceilings {
namespace {

constexpr int threads = 256;
constexpr int chains = 8;  // x 4 warps or more per scheduler: more than the 4 cycles of latency
constexpr int links = 32;  // per chain and iteration
constexpr int iterations = 512;
constexpr double operations_per_link = 2;

struct FusedMultiplyAdd {
  using Value = float;
  static __device__ float link(float x, float a, float b) { return fmaf(x, a, b); }
};
struct AddMinimum {
  using Value = int;
  static __device__ int link(int x, int a, int b) { return min(x + a, b); }
};

/// operands[0] and [1] are a and b; CHAINS chains of LINKS links per iteration.
template <class Operation, int CHAINS, int LINKS>
__global__ void __launch_bounds__(threads)
    run_chains(const typename Operation::Value* operands, typename Operation::Value* sink, int n) {
  using Value = typename Operation::Value;
  const Value a = operands[0];
  const Value b = operands[1];
  Value x[CHAINS];
#pragma unroll
  for (int c = 0; c < CHAINS; ++c) x[c] = static_cast<Value>(threadIdx.x + c);
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
#pragma unroll
    for (int l = 0; l < LINKS; ++l) {
#pragma unroll
      for (int c = 0; c < CHAINS; ++c) x[c] = Operation::link(x[c], a, b);
    }
  }
  Value folded = x[0];
#pragma unroll
  for (int c = 1; c < CHAINS; ++c) folded += x[c];
  // Never equal with the operands used here, which the compiler does not know.
  if (folded == static_cast<Value>(-12345)) *sink = folded;
}

template <class Operation>
DeviceArray<typename Operation::Value> make_operands() {
  // x = 0.9 x + 0.1 stays near 1; min(x + 1, 1000) near 1000: no denormals, no overflow.
  using Value = typename Operation::Value;
  constexpr bool floating = static_cast<Value>(0.5) != 0;
  const Value host[2] = {static_cast<Value>(floating ? 0.9 : 1),
                         static_cast<Value>(floating ? 0.1 : 1000)};
  DeviceArray<Value> operands(2);
  operands.upload(host);
  return operands;
}

template <class Operation>
double measure_rate(const Device& device, Stream stream) {
  const auto operands = make_operands<Operation>();
  const DeviceArray<typename Operation::Value> sink(1);
  constexpr auto kernel = run_chains<Operation, chains, links>;
  const unsigned blocks = full_grid(kernel, threads, device.sm_count);
  const double ms = warm_milliseconds(stream, [&] {
    kernel<<<blocks, threads, 0, stream>>>(operands.data(), sink.data(), iterations);
  });
  return operations_per_link * blocks * threads * chains * links * iterations / ms * 1e-6;
}

template <class Operation>
double link_ns(const Device& device, Stream stream) {
  constexpr int chain_links = 64;
  const auto operands = make_operands<Operation>();
  const DeviceArray<typename Operation::Value> sink(1);
  return slope_ns(stream, 200, 2200,
                  [&](int n) {
                    run_chains<Operation, 1, chain_links>
                        <<<device.sm_count, 32, 0, stream>>>(operands.data(), sink.data(), n);
                  }) /
         chain_links;
}

double measure_dependent(const Device& device, Stream stream) {
  return std::min(link_ns<FusedMultiplyAdd>(device, stream), link_ns<AddMinimum>(device, stream));
}

const bool registered =
    register_ceiling({"fp32_rate", "GFLOP/s",
                      "FFMA in eight independent chains per thread, full occupancy; one is two "
                      "operations",
                      true, 0, measure_rate<FusedMultiplyAdd>}) &&
    register_ceiling(
        {"int32_rate", "Gop/s",
         "x = min(x + a, b) in eight independent chains per thread, full occupancy; one "
         "is two operations",
         true, 0, measure_rate<AddMinimum>}) &&
    register_ceiling({"dependent_op_ns", "ns",
                      "One link of a chain of dependent multiply-adds or of add-and-minima, the "
                      "faster; slope between chains of 12,800 and 140,800 links",
                      false, 0, measure_dependent});

}  // namespace
}  // namespace amasia::ceilings
