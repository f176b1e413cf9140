// instruction/arithmetic: how many instructions of a kind one SM starts per cycle.
//
// Method: one block of 1024 threads, four chains per thread, operands unknown to the compiler;
// instructions per cycle as the slope over two lengths of the loop in one launch, the clock read
// between barriers of the block. Rows as in chain.cuh: what one became is in the remark, and if
// that is more than one instruction the rate is of the whole. Luo et al. 2024 give the FP64
// addition in bytes, 8 per addition (text IV-B).

#include "microbench/instruction/chain.cuh"

namespace amasia::instruction {
namespace {

constexpr int threads = 1024;
constexpr int chains = 4;
constexpr int copies = 64;

AMASIA_PAIR(Add32, u32, "r", "add.u32 %0, %0, %1;", copies, "", "add.u32", "total", "add")
AMASIA_PAIR(Mad32, u32, "r", "mad.lo.u32 %0, %0, %2, %1;", copies, "", "mad.lo.u32", "IMAD", "mad")
AMASIA_PAIR(Min32, u32, "r", "min.u32 %0, %0, %1;", copies, "", "min.u32", "total", "min")
AMASIA_PAIR(Logic32, u32, "r", "lop3.b32 %0, %0, %1, %2, 0xe8;", copies, "", "lop3.b32", "total",
            "lop3")
AMASIA_PAIR(Dot4, u32, "r", "dp4a.u32.u32 %0, %0, %2, %1;", copies, "", "dp4a.u32.u32", "total",
            "dp4a")
AMASIA_ROW(Reverse, u32, "r", "brev.b32 %0, %0;", copies, "", "brev.b32", "total", "brev")
AMASIA_ROW(Count, u32, "r", "popc.b32 %0, %0;", copies, "", "popc.b32", "POPC", "popc")
AMASIA_ROW(Find, u32, "r", "bfind.u32 %0, %0;", copies, "", "bfind.u32", "FLO", "bfind")
AMASIA_ROW(Convert, float, "f", "{.reg .s32 t; cvt.rzi.s32.f32 t, %0; mov.b32 %0, t;}", copies, "",
           "cvt.rzi.s32.f32", "total", "cvt")
AMASIA_ROW(FmaHalves, u32, "r", "fma.rn.f16x2 %0, %0, %2, %3;", copies, "", "fma.rn.f16x2", "total",
           "fma")
AMASIA_ROW(Add, float, "f", "add.f32 %0, %0, %2;", copies, "", "add.f32", "FADD", "add")
AMASIA_ROW(Fma, float, "f", "fma.rn.f32 %0, %0, %2, %3;", copies, "", "fma.rn.f32", "FFMA", "fma")
AMASIA_ROW_FROM(75, Tanh, float, "f", "tanh.approx.f32 %0, %0;", copies, "", "tanh.approx.f32",
                "MUFU", "tanh")
AMASIA_ROW(AddDouble, double, "d", "add.f64 %0, %0, %2;", copies, "", "add.f64", "DADD", "add")
AMASIA_ROW(FmaDouble, double, "d", "fma.rn.f64 %0, %0, %2, %3;", copies, "", "fma.rn.f64", "DFMA",
           "fma")

template <class Row>
__global__ void __launch_bounds__(threads)
    run_block(const std::uint64_t* operands, std::uint64_t* sink, Walks walks, Stamp* taken) {
  using Value = typename Row::Value;
  const auto operand = [&](int slot) {
    return *reinterpret_cast<const Value*>(operands + slot * lanes + threadIdx.x % lanes);
  };
  const Value a = operand(0), b = operand(1);
  Value x[chains], y[chains];
#pragma unroll
  for (int c = 0; c < chains; ++c) {
    x[c] = operand(4 + 2 * c);
    y[c] = operand(5 + 2 * c);
  }
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    __syncthreads();
    const Stopwatch watch;
#pragma unroll 1
    for (int i = 0; i < walks.links[w]; i += copies) {
#pragma unroll
      for (int k = 0; k < copies / chains; k += 2) {
#pragma unroll
        for (int c = 0; c < chains; ++c) Row::link(x[c], y[c], a, b, 1);
#pragma unroll
        for (int c = 0; c < chains; ++c) {
          if constexpr (Row::pair) {
            Row::link(y[c], x[c], a, b, 1);
          } else {
            Row::link(x[c], y[c], a, b, 1);
          }
        }
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) watch.stop(taken[w]);
  }
#pragma unroll
  for (int c = 0; c < chains; ++c) {
    *reinterpret_cast<Value*>(sink + 2 * c * threads + threadIdx.x) = x[c];
    *reinterpret_cast<Value*>(sink + (2 * c + 1) * threads + threadIdx.x) = y[c];
  }
}

Sampling rate(ChainKernel kernel, const std::vector<std::uint64_t>& operands, Stream stream) {
  const Sampling cycles = chain(kernel, operands, threads, 2 * chains * threads,
                                Walks{{copies, 8 * copies, 256 * copies}}, stream);
  return [cycles] {
    Reading r = cycles();
    r.value = threads / r.value;
    return r;
  };
}

template <class Row>
void add(std::vector<Point>& points) {
  const RowInfo info = Row::info();
  Point& p = add_point(points, {{"ptx", info.ptx}}, "throughput", "instr/clk/SM", Better::larger);
  p.runs_from = Row::from;
  p.kernels = {kernel_use(run_block<Row>, threads)};
  p.claims = {at_least(copies, info.sass, info.operation)};
  p.copies = copies;
  p.prepare = [](const Device&, Stream stream) {
    return rate(run_block<Row>, operands_of<typename Row::Value>({}), stream);
  };
}

template <class... Rows>
std::vector<Point> rates_of() {
  std::vector<Point> all;
  (add<Rows>(all), ...);
  return all;
}

std::vector<Point> points(const Device&, Scope) {
  return rates_of<Add32, Mad32, Min32, Logic32, Dot4, Reverse, Count, Find, Convert, FmaHalves, Add,
                  Fma, Tanh, AddDouble, FmaDouble>();
}

const bool registered = register_microbenchmark(
    {"instruction/arithmetic", "How many instructions of a kind does one SM start per cycle?",
     "One block of 1024 threads, four chains per thread, 64 instructions per iteration, operands "
     "unknown to the compiler; threads over cycles per instruction, from the slope over two "
     "lengths in one launch, the clock read between barriers of the block.",
     points});

}  // namespace
}  // namespace amasia::instruction
