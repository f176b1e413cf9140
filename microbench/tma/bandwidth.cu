// tma/bandwidth: how large must boxes be and how many in flight before bulk copies reach the
// bandwidth (Hopper Tuning Guide, 4.1.2)?
//
// Method: one thread in one block on each SM keeps 1 to 32 copies in flight in a ring of boxes of 1
// to 32 KiB; there is no computation. GB/s of the whole device are the slope in time between two
// launches, the longer of 1 GiB, or of 2,000 copies per slot where that is less.
// Loads: from device memory and from the L2 (an eighth of it, written before).
// Stores and reductions: into device memory; they end in the L2 and are written back.
// Multicasts: into both blocks of clusters of two, counted as arriving twice.
// Peer copies: between the shared memories of two blocks, both ways at once.
// Of multicasts and peer copies, half of the slots are in flight while the others are handed back.
// Boxes of 1 to 5 dimensions are contiguous and measured at the knee. The issue rate of one thread
// limits small boxes (on an H200 one per 175 cycles, with its wait). Two and four blocks per SM are
// two and four times as fast, so the copy engine is not the limit.

#include <map>

#include "microbench/tma/measure.cuh"

namespace amasia::tma {
namespace {

/// Whether a block can have such a ring, beside the barriers.
bool fits(const Device& device, unsigned bytes, int in_flight, int halves = 1) {
  constexpr std::size_t for_barriers = 4 << 10;
  return std::size_t{bytes} * static_cast<unsigned>(in_flight * halves) + for_barriers <=
         device.shared_per_block;
}

template <int... RANKS>
void add_loads(std::vector<Point>& all, const Device& device, unsigned bytes, int in_flight,
               Level level, int blocks_per_sm = 1) {
  if (!fits(device, bytes, in_flight * blocks_per_sm)) return;
  const auto add = [&](int rank, RingKernel kernel, RingKernel checked) {
    if (!box_possible(rank, bytes)) return;
    all.push_back(point_of({"load", Kind::load, kernel, checked, rank, bytes, in_flight, level,
                            Out::store, blocks_per_sm},
                           "done", true));
  };
  (add(RANKS, load_ring<RANKS, false>, load_ring<RANKS, true>), ...);
}

template <Out OUT, int IN_FLIGHT, int... RANKS>
void add_puts(std::vector<Point>& all, const Device& device, unsigned bytes) {
  if (!fits(device, bytes, IN_FLIGHT)) return;
  const auto add = [&](int rank, RingKernel kernel) {
    if (!box_possible(rank, bytes)) return;
    all.push_back(point_of(
        {name_of(OUT), Kind::put, kernel, kernel, rank, bytes, IN_FLIGHT, Level::memory, OUT},
        "done", true));
  };
  (add(RANKS, put_ring<OUT, RANKS, IN_FLIGHT, false>), ...);
}
/// Flat ones, with each of these numbers in flight; in the quick form with 8.
template <Out OUT, int... IN_FLIGHT>
void add_flat_puts(std::vector<Point>& all, const Device& device, unsigned bytes, bool quick) {
  ((!quick || IN_FLIGHT == 8 ? add_puts<OUT, IN_FLIGHT, 0>(all, device, bytes) : void()), ...);
}

template <Between BETWEEN, int RANK>
void add_exchange(std::vector<Point>& all, const Device& device, unsigned bytes, int in_flight) {
  if (!fits(device, bytes, in_flight, 2)) return;
  all.push_back(
      point_of(exchange<BETWEEN, RANK>(bytes, in_flight, Level::memory), "handed over", true));
}

std::vector<Point> points(const Device& device, Scope scope) {
  const bool quick = scope == Scope::quick;
  std::vector<Point> all;
  for (const unsigned bytes : {1024U, 4096U, 16384U, 32768U}) {
    if (quick && bytes != 4096) continue;
    for (const int in_flight : {1, 2, 4, 8, 16, 32}) {
      if (quick && in_flight != 1 && in_flight != 8) continue;
      add_loads<0>(all, device, bytes, in_flight, Level::memory);
      add_loads<0>(all, device, bytes, in_flight, Level::l2);
      if (!quick) add_loads<2>(all, device, bytes, in_flight, Level::memory);
    }
    add_flat_puts<Out::store, 1, 2, 4, 8, 16>(all, device, bytes, quick);
    add_flat_puts<Out::add, 1, 4, 8, 16>(all, device, bytes, quick);
    for (const int in_flight : {1, 2, 4, 8, 16}) {
      if (quick && in_flight != 8) continue;
      add_exchange<Between::multicast, 0>(all, device, bytes, in_flight);
      if (in_flight >= 4) add_exchange<Between::multicast, 2>(all, device, bytes, in_flight);
      add_exchange<Between::peer, 0>(all, device, bytes, in_flight);
    }
  }
  if (quick) return all;
  // Whose limit is it, the thread's or the copy engine's? More threads issue.
  for (const int blocks : {2, 4}) {
    for (const unsigned bytes : {1024U, 4096U}) {
      add_loads<0>(all, device, bytes, 8, Level::l2, blocks);
      add_loads<2>(all, device, bytes, 8, Level::l2, blocks);
    }
  }
  constexpr int many = 16;
  add_loads<1, 3, 4, 5>(all, device, 1024, many, Level::memory);
  add_loads<3, 4, 5>(all, device, 4096, many, Level::memory);
  add_puts<Out::store, many, 1, 2, 3, 4, 5>(all, device, 1024);
  add_puts<Out::add, many, 2, 5>(all, device, 1024);
  add_puts<Out::min, 8, 0>(all, device, 4096);
  add_puts<Out::max, 8, 0>(all, device, 4096);
  add_puts<Out::bit_and, 8, 0>(all, device, 4096);
  add_puts<Out::bit_or, 8, 0>(all, device, 4096);
  return all;
}

/// The knee of each box: the bytes in flight per SM at 95 % of its best bandwidth.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::map<std::array<std::string, 3>, std::vector<Abscissa>> curves;
  for (const MeasuredPoint& p : measured) {
    if (value_of(p.at, "way") != "flat" || value_of(p.at, "blocks") != "1 per SM") continue;
    const double box = std::stod(value_of(p.at, "box"));
    curves[{value_of(p.at, "operation"), value_of(p.at, "level"), value_of(p.at, "box")}].push_back(
        {box * std::stod(value_of(p.at, "in_flight")), p.value});
  }
  std::vector<Finding> found;
  for (const auto& [which, curve] : curves) {
    if (curve.size() < 3) continue;
    const Bracket knee = knee_of(curve, 0.95);
    found.push_back({{{"operation", which[0]}, {"level", which[1]}, {"box", which[2]}},
                     "knee",
                     "byte/SM",
                     saturation_of(curve, 0.95),
                     knee.low,
                     knee.high,
                     "Bytes in flight per SM at 95 % of the best bandwidth with this box, by "
                     "interpolation; low and high: the points around it"});
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"tma/bandwidth",
     "How large must boxes be and how many in flight before bulk copies reach the bandwidth?",
     "One thread per SM keeps 1 to 32 bulk copies of 1 to 32 KiB in flight: loads from memory and "
     "from the L2, stores, reductions, multicasts and copies between blocks, flat and of 1 to 5 "
     "dimensions; GB/s of the device as the slope in time between two launches.",
     points, findings});

}  // namespace
}  // namespace amasia::tma
