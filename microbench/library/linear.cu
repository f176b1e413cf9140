// library/linear: how fast is a linear layer in the vendor's library, and where does its time go in
// FP8 (Luo et al. 2024)?
//
// Method: y = x w^T of N x N matrices through cuBLASLt, the first algorithm of its heuristic with
// 32 MiB of workspace, in fp32 (without tensor cores), tf32 (fp32 that they may multiply), fp16,
// bf16 and FP8. Launches repeat until a sample takes a fraction of a millisecond, timed by events,
// hot. FP8 follows a framework's layer: x and w are bf16. The steps are the largest magnitude of
// each, quantisation of each to e4m3 with one scale, and a product into bf16. operator=all is the
// whole chain; only the operations of the product count. The other values of `operator` are one
// step each, of x and w together. Random data. Samples of the product are compared with a reference
// on the GPU, quantised elements with their originals.
#include <cublasLt.h>

#include "microbench/library/linear.cuh"

namespace amasia::library {
namespace {

enum class Operator { all, largest, quantise, multiply };

const char* name_of(Operator o) {
  constexpr const char* names[] = {"all", "amax", "quantise", "gemm"};
  return names[static_cast<int>(o)];
}

void enqueue(const Linear& linear, Type type, Operator o, Stream stream) {
  if (type == Type::fp8) {
    if (o == Operator::all || o == Operator::largest) linear.find_largest(stream);
    if (o == Operator::all || o == Operator::quantise) {
      linear.quantise_x(stream);
      linear.quantise_w(stream);
    }
  }
  if (o == Operator::all || o == Operator::multiply) linear.multiply(stream);
}

Sampling timed(Type type, std::int64_t n, Operator o, bool as_rate, const Device& device,
               Stream stream) {
  const Shape shape{n, n, n};
  Arena arena(Linear::bytes(type, shape));
  auto linear = std::make_shared<const Linear>(type, shape, device, stream, arena);
  linear->verify(stream);
  const double once = milliseconds(stream, [&] { enqueue(*linear, type, o, stream); });
  const int times = std::max(1, static_cast<int>(0.5 / once));
  return [=] {
    const double ms = milliseconds(stream, [&] {
      for (int i = 0; i < times; ++i) enqueue(*linear, type, o, stream);
    });
    const double time_ns = 1e6 * ms / times;
    return of_time(time_ns, as_rate ? shape.operations() / time_ns : 1e-3 * time_ns);
  };
}

void add(std::vector<Point>& points, Type type, std::int64_t n, Operator o, bool as_rate) {
  Point p = library_point(
      {{"type", library::name_of(type)}, {"n", std::to_string(n)}, {"operator", name_of(o)}},
      as_rate ? "throughput" : "time", as_rate ? "GFLOP/s" : "us", type);
  p.larger_is_better = as_rate;
  if (o == Operator::largest || o == Operator::quantise) {
    const bool largest = o == Operator::largest;
    p.remark = "";
    p.kernels = {largest ? kernel_use(find_largest<operator_threads>, operator_threads)
                         : kernel_use(quantise<operator_threads>, operator_threads)};
    p.claims = {{"LDG", "ld.global", 1}};
  }
  p.prepare = [=](const Device& d, Stream s) { return timed(type, n, o, as_rate, d, s); };
  points.push_back(std::move(p));
}

std::vector<Point> points(const Device& device, Scope scope) {
  std::vector<Point> all;
  for (const std::int64_t n : {1024, 2048, 4096, 8192, 16384}) {
    if (scope == Scope::quick && n != 4096) continue;
    // Three matrices of the widest type.
    if (3 * sizeof(float) * static_cast<std::size_t>(n * n) > device.memory_bytes / 2) continue;
    for (const Type type : all_types) add(all, type, n, Operator::all, true);
    for (const Operator o : {Operator::largest, Operator::quantise, Operator::multiply}) {
      add(all, Type::fp8, n, o, false);
    }
  }
  return all;
}

/// Share of each operator in the sum of the three, per N.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  for (const MeasuredPoint& p : measured) {
    if (p.quantity != "time") continue;
    double sum = 0;
    int operators = 0;
    for (const MeasuredPoint& other : measured) {
      if (other.quantity == "time" && value_of(other.at, "n") == value_of(p.at, "n")) {
        sum += other.value;
        ++operators;
      }
    }
    if (operators < 3) continue;
    found.push_back(single_finding(
        {{"n", value_of(p.at, "n")}, {"operator", value_of(p.at, "operator")}}, "share", "%",
        100 * p.value / sum, "Of the times of amax, quantise and gemm, each timed alone"));
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"library/linear", "How fast is a linear layer through cuBLASLt, and where does FP8's time go?",
     "y = x w^T of N x N matrices, first algorithm of the heuristic, hot, by events; FP8 with the "
     "largest magnitude and the quantisation of bf16 x and w, timed together and apart; random "
     "data, samples held to a reference.",
     points, findings});

}  // namespace
}  // namespace amasia::library
