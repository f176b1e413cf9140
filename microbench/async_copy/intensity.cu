// async_copy/intensity: where on the roofline is each way into shared memory, with and without
// other blocks to hide its latency (Svedin et al. 2021, section 4.1, Fig. 3a and 3d)?
//
// Method: x -> x/2 + 1/2, 1 to 256 times for each element of 8 GiB of fp32. An iteration is two
// operations and an element eight bytes: 0.25 to 64 operations per byte. One geometry for all:
// blocks of 512 threads, tiles of 16 KiB, three stages where a mechanism has stages. Four such
// blocks take all threads and nearly all shared memory of an SM of compute capability 9.0. The grid
// is as many blocks as fit at once; each takes every n-th tile.
// `occupancy=low`: one block per SM, because it asks for all the dynamic shared memory it can have,
// as in the paper. measure.cuh has how a pass is verified and timed; quick: 1 GiB. The paper leaves
// open and this file chooses: the swept values, the tile, the stages, and a second array for the
// results.

#include "microbench/async_copy/measure.cuh"

namespace amasia::async_copy {
namespace {

constexpr int threads = 512;
constexpr int chunks = 2;
constexpr int stages = 3;
constexpr std::array iterations{1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256};
constexpr std::array some_iterations{1, 16, 64, 192};

std::vector<Point> points(const Device& device, Scope scope) {
  const bool quick = scope == Scope::quick;
  const std::size_t bytes = array_bytes(device, std::size_t{quick ? 1U : 8U} << 30);
  const std::vector<int> swept = quick ? std::vector(some_iterations.begin(), some_iterations.end())
                                       : std::vector(iterations.begin(), iterations.end());
  std::vector<Point> all;
  const auto add = [&](Mechanism m, Occupancy occupancy) {
    for (const int n : swept) {
      all.push_back(
          point_of(shape_of<chunks, stages>(m, threads, occupancy), n, bytes, device, true));
    }
  };
  for (const Mechanism m : staged_mechanisms) {
    add(m, Occupancy::full);
    add(m, Occupancy::low);
  }
  add(Mechanism::direct, Occupancy::full);
  return all;
}

/// Rate against operations per byte.
std::vector<Abscissa> curve_of(const std::vector<MeasuredPoint>& measured, const char* mechanism,
                               const char* occupancy) {
  return curve_along(measured, "intensity", {{"mechanism", mechanism}, {"occupancy", occupancy}});
}

std::optional<double> rate_at(double intensity, const std::vector<Abscissa>& curve) {
  for (const Abscissa& p : curve) {
    if (p.x == intensity) return p.y;
  }
  return std::nullopt;
}

void add_ratios(std::vector<Finding>& found, Coordinates at, const char* quantity, const char* unit,
                const std::vector<double>& ratios, const char* how) {
  if (!ratios.empty()) found.push_back(mean_finding(std::move(at), quantity, unit, ratios, how));
}

/// What the paper's text says of its Fig. 3a and 3d: means, low and high the extremes.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  const auto plain = curve_of(measured, "plain", "full");
  // Where plain first gives nine tenths of its greatest rate, it is no longer bound by memory.
  double greatest = 0;
  for (const Abscissa& p : plain) greatest = std::max(greatest, p.y);
  double ridge = 0;
  for (const Abscissa& p : plain) {
    if (p.y < 0.9 * greatest) ridge = std::max(ridge, p.x);
  }
  for (const Mechanism m : staged_mechanisms) {
    const char* const name = name_of(m);
    const auto full = curve_of(measured, name, "full");
    const auto low = curve_of(measured, name, "low");
    const auto plain_low = curve_of(measured, "plain", "low");
    std::vector<double> bound_by_memory, bound_by_arithmetic, at_low, slower;
    for (const Abscissa& p : full) {
      if (const auto other = rate_at(p.x, plain)) {
        (p.x <= ridge ? bound_by_memory : bound_by_arithmetic).push_back(p.y / *other);
      }
      if (const auto here = rate_at(p.x, low)) {
        slower.push_back(100 * (p.y / *here - 1));
        if (const auto other = rate_at(p.x, plain_low); other && p.x <= ridge) {
          at_low.push_back(*here / *other);
        }
      }
    }
    if (m != Mechanism::plain) {
      add_ratios(found, {{"mechanism", name}, {"intensity", "low"}, {"occupancy", "full"}},
                 "speedup", "ratio", bound_by_memory,
                 "Over plain: mean over the intensities where plain is bound by memory (below nine "
                 "tenths of its greatest rate); low and high: the extremes");
      add_ratios(found, {{"mechanism", name}, {"intensity", "high"}, {"occupancy", "full"}},
                 "speedup", "ratio", bound_by_arithmetic,
                 "Over plain: mean over the intensities where plain is bound by arithmetic; low "
                 "and high: the extremes");
      add_ratios(found, {{"mechanism", name}, {"intensity", "low"}, {"occupancy", "low"}},
                 "speedup", "ratio", at_low,
                 "Over plain, both with one block per SM, where plain at full occupancy is bound "
                 "by memory; low and high: the extremes");
    }
    add_ratios(found, {{"mechanism", name}, {"occupancy", "low"}}, "slowdown", "%", slower,
               "Time with one block per SM over time at full occupancy, minus one: mean over all "
               "intensities; low and high: the extremes");
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"async_copy/intensity",
     "When does an asynchronous copy pay: where on the roofline does each way into shared memory "
     "lie?",
     "x -> x/2 + 1/2 repeated for each element of 8 GiB of fp32, 0.25 to 64 operations per byte, "
     "tiles of 16 KiB, blocks of 512 threads, three stages; plain copies through registers, "
     "cp.async waited for at once, cuda::pipeline, arrive/wait barriers, private slots, bulk "
     "copies; as many blocks as fit, and one per SM by asking for all shared memory. Caches "
     "displaced before each pass, results verified against the closed form.",
     points, findings});

}  // namespace
}  // namespace amasia::async_copy
