// tensor_core/wmma: the C++ interface of the tensor cores: how long does wmma::mma_sync take, and
// which machine instructions is it (Abdelkhalik et al. 2022, Table III)?
//
// Method: fragments loaded once, by type and shape of seed 001's Table III. Latency: one warp adds
// product after product to one sum. Issue interval: it adds to four sums in turn. Both are the
// slope over loops of 16. Throughput: 16 warps per SM of four sums, milliseconds, by events, random
// data. Two B's and their negatives take turns, so that sums stay bounded; integer sums wrap
// around. The product of random data is first compared with the CPU's. layout: A and B row- or
// column-major. Where the machine instruction needs the other one, MOVM transposes the fragment
// once, outside the loop. clock=n is seed 001's method: n multiplications between two clock reads
// of one warp, divided by n. The read does not wait for the sum, so n = 1 is not a latency.

#include "microbench/tensor_core/wmma_run.cuh"

namespace amasia::tensor {
namespace {

template <class I, int CHAINS>
void launch_wmma(const Operands<I>& o, unsigned blocks, int threads, const Walks& walks,
                 Stream stream) {
  run_wmma<I, CHAINS>
      <<<blocks, threads, 0, stream>>>(o.a.data(), o.b.data(), walks, o.taken.data(), o.out.data());
}

template <class I, int CHAINS>
std::shared_ptr<const Operands<I>> verified(Stream stream) {
  auto o = std::make_shared<const Operands<I>>();
  launch_wmma<I, CHAINS>(*o, 1, 32, Walks{{1, 0, 0}}, stream);
  finish(stream);
  o->hold();
  return o;
}

template <class I, int CHAINS>
Sampling cycles(Stream stream) {
  auto o = verified<I, CHAINS>(stream);
  return [o, stream] {
    const Walks walks{{16, 64, 320}};
    launch_wmma<I, CHAINS>(*o, 1, 32, walks, stream);
    return slope_of_walks(stream, o->taken, walks, per_loop);
  };
}

template <class I>
Sampling rate(const Device& device, Stream stream) {
  auto o = verified<I, rate_chains>(stream);
  const auto blocks = static_cast<unsigned>(device.sm_count);
  return [o, blocks, stream] {
    constexpr int iterations = 4000;
    Reading r = time_of_launch(stream, o->taken, [&] {
      launch_wmma<I, rate_chains>(*o, blocks, rate_threads, Walks{{iterations, 0, 0}}, stream);
    });
    r.value = 2.0 * I::m * I::n * I::k * blocks * (rate_threads / 32) * per_loop * iterations /
              *r.time_ns * 1e-3;
    return r;
  };
}

template <class I, int COUNT>
Sampling clocked(Stream stream) {
  auto o = verified<I, 1>(stream);
  auto taken = std::make_shared<DeviceArray<long long>>(1);
  return [o, taken, stream] {
    constexpr int times = 64;
    run_clocked<I, COUNT>
        <<<1, 32, 0, stream>>>(o->a.data(), o->b.data(), times, taken->data(), o->out.data());
    finish(stream);
    const double each = static_cast<double>(first_of(*taken)) / (times * COUNT);
    return Reading{each, each};
  };
}

template <class I>
Point& add_point_of(std::vector<Point>& points, const char* quantity, const char* unit,
                    const KernelUse& kernel, int count) {
  const auto text = [](int number) { return std::to_string(number); };
  Point& p = add_point(
      points,
      {{"input", I::name},
       {"sum", I::sum},
       {"shape", "m" + text(I::m) + "n" + text(I::n) + "k" + text(I::k)},
       {"layout", std::string(I::a_rows ? "row" : "col") + "." + (I::b_rows ? "row" : "col")}},
      quantity, unit);
  p.runs_from = 80;
  p.kernels = {kernel};
  p.claims = {{I::group, "wmma.mma", count * I::machine, true, 0, count}};
  return p;
}

template <class I, int CHAINS>
Point& add_looped(std::vector<Point>& points, const char* quantity, const char* unit) {
  return add_point_of<I>(points, quantity, unit,
                         kernel_use(run_wmma<I, CHAINS>, CHAINS == 1 ? 32 : rate_threads),
                         per_loop);
}

template <class I>
void add_latency(std::vector<Point>& points, int moves = -1) {
  Point& p = add_looped<I, 1>(points, "latency", "cycles");
  // Before the loop: a fragment of 16 x 16 is four 8 x 8 matrices.
  if (moves >= 0) p.claims.push_back({"MOVM", "wmma.load", moves, false, 0, 1 + matrices});
  p.prepare = [](const Device&, Stream s) { return cycles<I, 1>(s); };
}

template <class I>
void add(std::vector<Point>& points, Scope scope, int moves = -1) {
  add_latency<I>(points, moves);
  if (scope == Scope::full) {
    add_looped<I, rate_chains>(points, "interval", "cycles").prepare = [](const Device&, Stream s) {
      return cycles<I, rate_chains>(s);
    };
  }
  Point& p = add_looped<I, rate_chains>(
      points, "throughput", std::is_integral_v<typename I::Stored> ? "TOP/s" : "TFLOP/s");
  p.larger_is_better = true;
  p.prepare = [](const Device& d, Stream s) { return rate<I>(d, s); };
}

template <class I, int COUNT>
void add_clocked(std::vector<Point>& points) {
  Point& p = add_point_of<I>(points, "cycles between clock reads", "cycles",
                             kernel_use(run_clocked<I, COUNT>, 32), COUNT);
  p.at.emplace_back("clock", std::to_string(COUNT));
  p.prepare = [](const Device&, Stream s) { return clocked<I, COUNT>(s); };
}

std::vector<Point> points(const Device&, Scope scope) {
  std::vector<Point> all;
  add<Wmma<F16, 16, 16, 16>>(all, scope);
  add<Wmma<F16F32, 16, 16, 16>>(all, scope, 0);
  add<Wmma<Bf16, 16, 16, 16>>(all, scope);
  add<Wmma<Tf32, 16, 16, 8>>(all, scope);
  add<Wmma<F64, 8, 8, 4>>(all, scope);
  add<Wmma<U8, 16, 16, 16>>(all, scope);
  if (scope == Scope::quick) return all;
  add_latency<Wmma<F16, 8, 32, 16>>(all);
  add_latency<Wmma<F16, 32, 8, 16>>(all);
  add_latency<Wmma<F16F32, 8, 32, 16>>(all);
  add_latency<Wmma<F16F32, 32, 8, 16>>(all);
  add_latency<Wmma<U8, 8, 32, 16>>(all);
  add_latency<Wmma<U8, 32, 8, 16>>(all);
  add_latency<Wmma<F16F32, 16, 16, 16, true, true>>(all, 4 * matrices);
  add_latency<Wmma<F16F32, 16, 16, 16, false, true>>(all, 4 * (1 + matrices));
  add_latency<Wmma<F16F32, 16, 16, 16, false, false>>(all, 4);
  add_clocked<Wmma<F16F32, 16, 16, 16>, 1>(all);
  add_clocked<Wmma<F16F32, 16, 16, 16>, 4>(all);
  add_point(all, {{"input", "u4"}, {"sum", "s32"}, {"shape", "m8n8k32"}, {"layout", "row.col"}},
            "latency", "cycles")
      .unsupported =
      "four-bit wmma is a preview of one layout that GPUs from sm_90 on emulate: tensor_core/mma "
      "measures s4";
  return all;
}

/// Machine instructions per wmma, as claimed and proved, and the latency of each.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  const auto add_type = [&](auto type) {
    using Type = decltype(type);
    const Coordinates at{{"input", Type::name}, {"sum", Type::sum}};
    for (const MeasuredPoint& p : measured) {
      if (p.quantity != "latency" || !has(p, at) || value_of(p.at, "layout") != "row.col" ||
          value_of(p.at, "shape").rfind("m8n32", 0) == 0 ||
          value_of(p.at, "shape").rfind("m32n8", 0) == 0) {
        continue;
      }
      found.push_back(single_finding(at, "instructions", "instructions", Type::machine,
                                     "Counted in the loop of the kernel that was measured"));
      found.push_back(single_finding(
          at, "latency_each", "cycles", p.value / Type::machine,
          "Latency of the dependent chain over the machine instructions of one wmma"));
    }
  };
  add_type(F16{});
  add_type(F16F32{});
  add_type(Bf16{});
  add_type(Tf32{});
  add_type(F64{});
  add_type(U8{});
  return found;
}

const bool registered = register_microbenchmark(
    {"tensor_core/wmma", "What does wmma::mma_sync cost, and which machine instructions is it?",
     "Fragments loaded once; latency as the slope over dependent wmma of one warp, issue interval "
     "over four sums, throughput of 16 warps per SM by events; layouts, and seed 001's clock reads "
     "around one and four; each product is first held to the CPU's.",
     points, findings});

}  // namespace
}  // namespace amasia::tensor
