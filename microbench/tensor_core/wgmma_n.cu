// tensor_core/wgmma_n: how wide must a wgmma be? f16 into f32 with n from 8 to 256 (Luo et al.
// 2024, Table X).
//
// Method: as tensor_core/wgmma, dense and sparse, A from shared memory and from registers, with one
// warpgroup per SM, as published, and with as many, up to four, as its registers hold. The finding
// is the n at which a curve reaches 95 % of its maximum. With A from shared memory an H200 reaches
// it where the n / 2 cycles of the units exceed the 16 + n / 4 that 128 bytes a cycle take for A (2
// KiB) and B (32 n bytes); more warpgroups do not help against that.

#include <map>

#include "microbench/tensor_core/wgmma_run.cuh"

namespace amasia::tensor {
namespace {

template <int N, Mode M, Source A>
void add(std::vector<Point>& points, const Device& d, Scope scope) {
  using Run = WgmmaRun<Wgmma<Element::f16, Sum::f32, N>, M, A>;
  const std::size_t first = points.size();
  // More would need more registers than an SM has, and run one after another.
  const int groups = N < 256 ? 4 : A == Source::shared ? 3 : 2;
  if (scope == Scope::full) {
    Run::add_latency(points, d);
    Run::add_interval(points, d);
    Run::add_rate(points, d, Fill::zero, 1);
    Run::add_rate(points, d, Fill::random, 1);
  }
  Run::add_rate(points, d, Fill::random, groups);
  for (std::size_t i = first; i < points.size(); ++i) {
    points[i].at.insert(points[i].at.begin() + 3, {"n", std::to_string(N)});
  }
}

template <int N>
void add_all(std::vector<Point>& points, const Device& d, Scope scope) {
  add<N, Mode::dense, Source::shared>(points, d, scope);
  if (scope == Scope::quick) return;
  add<N, Mode::dense, Source::registers>(points, d, scope);
  add<N, Mode::sparse, Source::shared>(points, d, scope);
  add<N, Mode::sparse, Source::registers>(points, d, scope);
}

std::vector<Point> points(const Device& d, Scope scope) {
  std::vector<Point> all;
  add_all<8>(all, d, scope);
  add_all<16>(all, d, scope);
  add_all<32>(all, d, scope);
  add_all<64>(all, d, scope);
  add_all<128>(all, d, scope);
  add_all<256>(all, d, scope);
  return all;
}

std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::map<Coordinates, std::vector<Abscissa>> curves;
  for (const MeasuredPoint& p : measured) {
    if (p.quantity != "throughput" || value_of(p.at, "data") != "random") continue;
    const Coordinates curve{{"mode", value_of(p.at, "mode")},
                            {"a", value_of(p.at, "a")},
                            {"warpgroups", value_of(p.at, "warpgroups") == "1" ? "1" : "most"}};
    curves[curve].push_back({std::stod(value_of(p.at, "n")), p.value});
  }
  std::vector<Finding> found;
  for (const auto& [at, curve] : curves) {
    if (curve.size() < 2) continue;
    found.push_back(single_finding(
        at, "n at 95 % of the throughput", "columns", saturation_of(curve, 0.95),
        "Where the curve on random data crosses 95 % of its maximum, by interpolation"));
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"tensor_core/wgmma_n", "How wide does a wgmma have to be to keep the tensor cores busy?",
     "As tensor_core/wgmma, f16 into f32, n from 8 to 256, dense and sparse, A from shared memory "
     "and registers, with one warpgroup per SM and with four (at n = 256 three, or two with A in "
     "registers).",
     points, findings});

}  // namespace
}  // namespace amasia::tensor
