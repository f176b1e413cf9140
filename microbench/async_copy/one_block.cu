// async_copy/one_block: how much slower is one block per SM than as many as fit, when either may
// choose its threads and its tile (Svedin et al. 2021, Fig. 3d)?
//
// Method: the pass of async_copy/intensity over 1 GiB, three stages where a mechanism has stages.
// The paper prints neither threads nor tile, so both are swept. `occupancy` is that of
// async_copy/intensity. The finding compares the fastest shape of each at every intensity.

#include <map>

#include "microbench/async_copy/measure.cuh"

namespace amasia::async_copy {
namespace {

// Those of the paper's Fig. 3d: without copies, with barriers, with a pipeline.
constexpr std::array compared{Mechanism::plain, Mechanism::barrier, Mechanism::pipeline};

std::vector<Point> points(const Device& device, Scope scope) {
  const bool quick = scope == Scope::quick;
  const std::size_t bytes = array_bytes(device, std::size_t{1} << 30);
  const std::vector<int> swept =
      quick ? std::vector{1, 32} : std::vector{1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256};
  std::vector<Point> all;
  for (const Mechanism m : compared) {
    for (const int n : swept) {
      for (const Occupancy occupancy : {Occupancy::full, Occupancy::low}) {
        for (const int threads : {256, 512, 1024}) {
          if (quick && threads != 1024) continue;
          all.push_back(point_of(shape_of<2, 3>(m, threads, occupancy), n, bytes, device, true));
          if (quick) continue;
          all.push_back(point_of(shape_of<4, 3>(m, threads, occupancy), n, bytes, device, true));
        }
      }
    }
  }
  return all;
}

std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  for (const Mechanism m : compared) {
    std::map<std::string, double> full, low;  // the highest rate by intensity
    for (const MeasuredPoint& p : measured) {
      if (value_of(p.at, "mechanism") != name_of(m)) continue;
      double& best =
          (value_of(p.at, "occupancy") == "low" ? low : full)[value_of(p.at, "intensity")];
      best = std::max(best, p.value);
    }
    std::vector<double> slower;
    for (const auto& [intensity, rate] : full) {
      const auto one = low.find(intensity);
      if (one != low.end()) slower.push_back(100 * (rate / one->second - 1));
    }
    if (slower.empty()) continue;
    found.push_back(mean_finding(
        {{"mechanism", name_of(m)}}, "slowdown", "%", slower,
        "Time with one block per SM over time with as many as fit, minus one, each with its "
        "fastest threads and tile: mean over the intensities; low and high: the extremes"));
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"async_copy/one_block",
     "How much slower is one block per SM when it may choose its threads and its tile?",
     "x -> x/2 + 1/2 for each element of 1 GiB of fp32, 0.25 to 64 operations per byte; 256 to "
     "1024 threads, tiles of 32 and 64 bytes per thread, three stages; one block per SM by asking "
     "for all shared memory, and as many as fit; verified, caches displaced.",
     points, findings});

}  // namespace
}  // namespace amasia::async_copy
