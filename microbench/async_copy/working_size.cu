// async_copy/working_size: how large must the tile of a block be before an asynchronous copy pays
// (Svedin et al. 2021, Fig. 3b and 3c)?
//
// Method: the pass of async_copy/intensity over 8 GiB (quick: 1 GiB) at full occupancy with three
// stages, for tiles of 512 bytes to 32 KiB and four arithmetic intensities, two bound by memory and
// two by arithmetic. Tiles of 512 bytes, 1 and 2 KiB have 32, 64 and 128 threads with 16 bytes
// each; 4 to 16 KiB have 128 threads with 2, 4 and 8 times 16 bytes; 32 KiB has 256 threads. As
// many blocks run as fit: from 32 KiB on, three stages leave two blocks per SM of compute
// capability 9.0, which is part of the answer. The paper prints the unit of its working size
// nowhere; its 256 is taken as elements, 1 KiB.

#include <map>

#include "microbench/async_copy/measure.cuh"

namespace amasia::async_copy {
namespace {

constexpr int stages = 3;
constexpr std::array iterations{1, 16, 64, 128};

struct Tile {
  int threads;
  int chunks;
  bool in_quick = false;
};
constexpr Tile tiles[] = {{32, 1},  {64, 1, true},  {128, 1}, {128, 2, true},
                          {128, 4}, {128, 8, true}, {256, 8}};

Shape shape(Mechanism m, Tile tile) {
  return with_constant<1, 2, 4, 8>(tile.chunks, [&](auto chunks) {
    return shape_of<chunks.value, stages>(m, tile.threads, Occupancy::full);
  });
}

std::vector<Point> points(const Device& device, Scope scope) {
  const bool quick = scope == Scope::quick;
  const std::size_t bytes = array_bytes(device, std::size_t{quick ? 1U : 8U} << 30);
  std::vector<Point> all;
  for (const Tile tile : tiles) {
    if (quick && !tile.in_quick) continue;
    for (const int n : iterations) {
      if (quick && n != 1 && n != 64) continue;
      for (const Mechanism m : staged_mechanisms) {
        all.push_back(point_of(shape(m, tile), n, bytes, device, false));
      }
    }
  }
  return all;
}

/// The tile that suits each mechanism best at the lowest intensity, against plain with that tile.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  const std::string low = short_number(operations_per_byte(iterations.front()));
  std::vector<Finding> found;
  for (const Mechanism m : staged_mechanisms) {
    if (m == Mechanism::plain) continue;
    std::map<double, double> ratio;
    for (const MeasuredPoint& p : measured) {
      if (!has(p, {{"intensity", low}, {"mechanism", name_of(m)}})) continue;
      const std::string tile = value_of(p.at, "tile");
      const double plain =
          value_at(measured, {{"intensity", low}, {"mechanism", "plain"}, {"tile", tile}});
      if (plain > 0) ratio[std::stod(tile)] = p.value / plain;
    }
    if (ratio.empty()) continue;
    const auto [worst, best] =
        std::minmax_element(ratio.begin(), ratio.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; });
    found.push_back({{{"mechanism", name_of(m)}, {"tile", short_number(best->first)}},
                     "speedup",
                     "ratio",
                     best->second,
                     worst->second,
                     best->second,
                     "Over plain at the lowest intensity, at the tile where it is greatest; low: "
                     "at the worst tile"});
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"async_copy/working_size",
     "How large must the tile of a block be before an asynchronous copy pays?",
     "x -> x/2 + 1/2 repeated for each element of 8 GiB of fp32 at full occupancy with three "
     "stages, tiles of 512 bytes to 32 KiB, at 0.25, 4, 16 and 32 operations per byte; verified, "
     "caches displaced.",
     points, findings});

}  // namespace
}  // namespace amasia::async_copy
