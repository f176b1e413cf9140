// A chain of one PTX instruction in one warp, and the table that the instructions are written in.
//
// A row is a type with link(x, y, ...), the instruction applied to a chain. The kernel of a row
// repeats it on one chain, where each instruction waits for the one before (latency), and on eight
// (issue interval). `asm volatile` alone does not keep the assembler from merging instructions.
// These rules do:
// - Nothing is known at compile time: operands come from memory, all results are stored.
// - Integer operations of two operands (AMASIA_PAIR) work on the last two results in turn,
//   x = x + y, y = y + x. With a constant, two additions would become one of three operands.
// - What would fold even so (not not, neg neg, min min, logic of three inputs) is guarded by two
//   predicates in turn, both true but unknown to the compiler.
// Each row's remark lists its machine code, so that a fold is seen.
#pragma once

#include <cuda_fp16.h>

#include <cstring>
#include <random>

#include "microbench/walks.cuh"

namespace amasia::instruction {

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

#ifdef __CUDA_ARCH__
constexpr int compiled_for = __CUDA_ARCH__ / 10;
#else
constexpr int compiled_for = 0;  // the host, which runs no link
#endif

/// What the operands of a row are drawn from: x and y, a and b, uniformly. Without a range (low =
/// high) integers have all bits random and floating-point numbers lie between 1/2 and 1.
struct Ranges {
  double x_low = 0, x_high = 0;
  double a_low = 0, a_high = 0;
  bool half = false;  // 16 bits are a floating-point number
};
constexpr Ranges half{0, 0, 0, 0, true};

struct RowInfo {
  std::string section;  // of the paper's table
  std::string ptx;      // the instruction
  /// An instruction that one copy holds at least once, in machine code and in PTX.
  std::string sass = "total", operation = "total";
  Ranges ranges{};
  std::string remark{};
};

// LETTER: the constraint of the type. TEXT: %0 the chain, read and written; %1 the value before
// (PAIR) or another operand; %2, %3 operands; %4 a guard. COPIES: instructions per iteration, so
// many that the loop itself is small beside them, so few that the code stays in the instruction
// cache. Behind them the members of RowInfo. Macros, because an asm statement cannot be passed
// another way.
#define AMASIA_LINK(NAME, FROM, IS_PAIR, TYPE, LETTER, TEXT, COPIES, ...)                 \
  struct NAME {                                                                           \
    using Value = TYPE;                                                                   \
    enum : int { pair = IS_PAIR, from = FROM, per_loop = COPIES };                        \
    static RowInfo info() { return {__VA_ARGS__}; }                                       \
    static __device__ void link(Value& x, Value y, Value a, Value b, unsigned guard) {    \
      if constexpr (compiled_for >= FROM) {                                               \
        asm volatile(TEXT : "+" LETTER(x) : LETTER(y), LETTER(a), LETTER(b), "r"(guard)); \
      }                                                                                   \
    }                                                                                     \
  };
#define AMASIA_ROW(NAME, ...) AMASIA_LINK(NAME, 70, 0, __VA_ARGS__)
#define AMASIA_PAIR(NAME, ...) AMASIA_LINK(NAME, 70, 1, __VA_ARGS__)
#define AMASIA_ROW_FROM(FROM, NAME, ...) AMASIA_LINK(NAME, FROM, 0, __VA_ARGS__)
#define AMASIA_PAIR_FROM(FROM, NAME, ...) AMASIA_LINK(NAME, FROM, 1, __VA_ARGS__)
#define AMASIA_GUARDED(TEXT) "{.reg .pred p; setp.ne.u32 p, %4, 0; @p " TEXT "}"

constexpr int lanes = 32;
constexpr int side_by_side = 8;  // chains; more than latency over issue interval
constexpr int operand_slots = 4 + 2 * side_by_side;  // a, b, two guards; x and y of each chain

/// operands: operand_slots slots of 8 bytes for each lane; sink: two for each chain.
template <class Row, int CHAINS, int COPIES>
__global__ void __launch_bounds__(lanes)
    run_chain(const std::uint64_t* operands, std::uint64_t* sink, Walks walks, Stamp* taken) {
  using Value = typename Row::Value;
  const auto operand = [&](int slot) {
    return *reinterpret_cast<const Value*>(operands + slot * lanes + threadIdx.x);
  };
  const Value a = operand(0), b = operand(1);
  const auto even = static_cast<unsigned>(operands[2 * lanes + threadIdx.x]);
  const auto odd = static_cast<unsigned>(operands[3 * lanes + threadIdx.x]);
  Value x[CHAINS], y[CHAINS];
#pragma unroll
  for (int c = 0; c < CHAINS; ++c) {
    x[c] = operand(4 + 2 * c);
    y[c] = operand(5 + 2 * c);
  }
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    const Stopwatch watch;
#pragma unroll 1
    for (int i = 0; i < walks.links[w]; i += COPIES) {
#pragma unroll
      for (int k = 0; k < COPIES / CHAINS; k += 2) {
#pragma unroll
        for (int c = 0; c < CHAINS; ++c) Row::link(x[c], y[c], a, b, even);
#pragma unroll
        for (int c = 0; c < CHAINS; ++c) {
          if constexpr (Row::pair) {
            Row::link(y[c], x[c], a, b, odd);
          } else {
            Row::link(x[c], y[c], a, b, odd);
          }
        }
      }
    }
    if (threadIdx.x == 0) watch.stop(taken[w]);
  }
#pragma unroll
  for (int c = 0; c < CHAINS; ++c) {
    *reinterpret_cast<Value*>(sink + 2 * c * lanes + threadIdx.x) = x[c];
    *reinterpret_cast<Value*>(sink + (2 * c + 1) * lanes + threadIdx.x) = y[c];
  }
}

template <class Value>
std::uint64_t drawn(std::mt19937_64& random, double low, double high, bool half) {
  std::uint64_t bits = 0;
  const auto keep = [&bits](auto value) { memcpy(&bits, &value, sizeof value); };
  const bool real = std::is_floating_point_v<Value> || half;
  if (low == high && low == 0 && !real) return random() >> (64 - 8 * sizeof(Value));
  if (low == 0 && high == 0) low = 0.5, high = 1;
  const double value = std::uniform_real_distribution<double>(low, high)(random);
  if (half) {
    keep(__float2half(static_cast<float>(value)));
  } else {
    keep(static_cast<Value>(value));
  }
  return bits;
}

template <class Value>
std::vector<std::uint64_t> operands_of(const Ranges& r) {
  std::mt19937_64 random(2022);
  std::vector<std::uint64_t> slots(operand_slots * lanes, 1);
  for (int slot = 0; slot < operand_slots; ++slot) {
    if (slot == 2 || slot == 3) continue;  // the guards stay 1
    for (int lane = 0; lane < lanes; ++lane) {
      slots[slot * lanes + lane] = slot < 2 ? drawn<Value>(random, r.a_low, r.a_high, r.half)
                                            : drawn<Value>(random, r.x_low, r.x_high, r.half);
    }
  }
  return slots;
}

using ChainKernel = void (*)(const std::uint64_t*, std::uint64_t*, Walks, Stamp*);

/// Walks of one block; `results`: words that it stores.
inline Sampling chain(ChainKernel kernel, const std::vector<std::uint64_t>& operands, int threads,
                      int results, const Walks& walks, Stream stream) {
  auto in = std::make_shared<DeviceArray<std::uint64_t>>(operands.size());
  in->upload(operands.data());
  auto sink = std::make_shared<DeviceArray<std::uint64_t>>(results);
  auto taken = std::make_shared<DeviceArray<Stamp>>(max_walks);
  return [=] {
    kernel<<<1, threads, 0, stream>>>(in->data(), sink->data(), walks, taken->data());
    return slope_of_walks(stream, *taken, walks);
  };
}

/// Both points of a row.
template <class Row>
void add_row(std::vector<Point>& points) {
  constexpr int copies = Row::per_loop;
  const RowInfo info = Row::info();
  // One iteration to warm, then 8, then enough for a few hundred ticks of the global timer.
  const Walks walks{{copies, 8 * copies, (copies >= 32 ? 2048 : 512) * copies}};
  const auto add = [&](const char* sequence, const char* quantity, ChainKernel kernel) {
    Point& p =
        add_point(points, {{"section", info.section}, {"ptx", info.ptx}, {"sequence", sequence}},
                  quantity, "cycles");
    p.runs_from = Row::from;
    p.remark = info.remark;
    p.kernels = {kernel_use(kernel, lanes)};
    const bool packed = info.ranges.half && kernel == run_chain<Row, side_by_side, copies>;
    p.claims = {at_least(packed ? copies / 2 : copies, info.sass, info.operation)};
    p.copies = copies;
    p.prepare = [kernel, ranges = info.ranges, walks](const Device&, Stream stream) {
      return chain(kernel, operands_of<typename Row::Value>(ranges), lanes,
                   2 * side_by_side * lanes, walks, stream);
    };
  };
  add("dependent", "latency", run_chain<Row, 1, copies>);
  add("independent", "interval", run_chain<Row, side_by_side, copies>);
}

template <class... Rows>
std::vector<Point> points_of() {
  std::vector<Point> all;
  (add_row<Rows>(all), ...);
  return all;
}

/// The same for every file of the table.
inline const char* const chain_method =
    "One warp repeats one PTX instruction, operands unknown to the compiler, on one chain "
    "(sequence=dependent: latency) and on eight (sequence=independent: issue interval), 16 to 128 "
    "copies per iteration; cycles per PTX instruction as the slope over two lengths of the loop in "
    "one launch. The remark lists the machine code of one copy, from the disassembled loop.";

}  // namespace amasia::instruction
