// async_copy/geometry: how many copies in flight, blocks per SM and threads does each way into
// shared memory need (Svedin et al. 2021, section 4.1)?
//
// Method: the pass of async_copy/intensity over 1 GiB (more than eight times the L2 of any GPU
// known), tiles of 32 bytes per thread. It runs at 0.25 operations per byte (memory-bound) and 8
// (both memory and arithmetic matter). The value is bytes read and written over the time of a pass.
// Mechanisms without stages have one.

#include "microbench/async_copy/measure.cuh"

namespace amasia::async_copy {
namespace {

constexpr int chunks = 2;
constexpr std::array iterations{1, 32};

Point swept(const char* what, const Shape& shape, int n, std::size_t bytes, const Device& device) {
  Point p = point_of(shape, n, bytes, device, false);
  p.at.insert(p.at.begin(), {"swept", what});
  return p;
}

std::vector<Point> points(const Device& device, Scope scope) {
  const bool quick = scope == Scope::quick;
  const std::size_t bytes = array_bytes(device, std::size_t{1} << 30);
  std::vector<Point> all;
  for (const Mechanism m : staged_mechanisms) {
    for (const int n : iterations) {
      if (quick && n != 1) continue;
      for (const Occupancy occupancy : {Occupancy::full, Occupancy::low}) {
        for (const int stages : stage_counts) {
          if (quick && (stages == 3 || stages == 6)) continue;
          all.push_back(
              swept("stages", staged<chunks>(m, 512, stages, occupancy), n, bytes, device));
          if (!overlaps(m)) break;
        }
      }
      for (const int blocks : {1, 2, 4, 8}) {
        if (quick && blocks != 2) continue;
        all.push_back(swept("blocks", shape_of<chunks, 3>(m, 256, Occupancy::full, blocks), n,
                            bytes, device));
      }
    }
    for (const int threads : {64, 128, 256, 512, 1024}) {
      if (quick && threads != 128) continue;
      all.push_back(
          swept("threads", shape_of<chunks, 3>(m, threads, Occupancy::full, 1), 1, bytes, device));
    }
  }
  for (Point& p : all) {
    const int blocks = std::atoi(value_of(p.at, "blocks").c_str());
    const int threads = std::stoi(value_of(p.at, "threads"));
    const bool fits = blocks * threads <= device.max_threads_per_sm &&
                      static_cast<std::size_t>(blocks) *
                              (p.kernels[0].dynamic_shared_bytes + device.shared_reserved) <=
                          device.shared_per_sm;
    if (p.unsupported.empty() && value_of(p.at, "occupancy") != "low" && !fits) {
      p.unsupported = "an SM cannot hold so many blocks of this shape";
    }
  }
  return all;
}

/// The stages a mechanism needs for 95 % of its best bandwidth.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  for (const char* occupancy : {"full", "low"}) {
    for (const Mechanism m : staged_mechanisms) {
      const std::vector<Abscissa> curve =
          curve_along(measured, "stages",
                      {{"swept", "stages"},
                       {"occupancy", occupancy},
                       {"mechanism", name_of(m)},
                       {"intensity", short_number(operations_per_byte(iterations[0]))}});
      if (curve.size() < 2) continue;
      const Bracket knee = knee_of(curve, 0.95);
      found.push_back(
          {{{"mechanism", name_of(m)}, {"occupancy", occupancy}},
           "stages",
           "stages",
           knee.high,
           knee.low,
           knee.high,
           "The first of 2, 3, 4, 6 and 8 stages with 95 % of the best bandwidth at 0.25 "
           "operations per byte; low: the last that does not, where there is one"});
    }
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"async_copy/geometry",
     "How many copies in flight, blocks per SM and threads does each way into shared memory need?",
     "x -> x/2 + 1/2 for each element of 1 GiB of fp32: 2 to 8 stages at full and at low "
     "occupancy, 1 to 8 blocks per SM, 64 to 1024 threads; verified, caches displaced.",
     points, findings});

}  // namespace
}  // namespace amasia::async_copy
