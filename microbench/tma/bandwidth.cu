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

#include "microbench/curve.hpp"
#include "microbench/tma/measure.cuh"

namespace amasia::tma {
namespace {

/// Whether a block can have such a ring, beside the barriers.
bool fits(const Device& device, unsigned bytes, int in_flight, int halves = 1) {
  constexpr std::size_t for_barriers = 4 << 10;
  return std::size_t{bytes} * static_cast<unsigned>(in_flight * halves) + for_barriers <=
         device.shared_per_block;
}

template <int RANK>
void add_load(std::vector<Point>& all, const Device& device, unsigned bytes, int in_flight,
              Level level, int blocks_per_sm = 1) {
  if (!box_possible(RANK, bytes) || !fits(device, bytes, in_flight * blocks_per_sm)) return;
  all.push_back(point_of({"load", Kind::load, load_ring<RANK, false>, load_ring<RANK, true>, RANK,
                          bytes, in_flight, level, Out::store, blocks_per_sm},
                         "done", true));
}

template <Out OUT, int RANK, int IN_FLIGHT>
void add_put(std::vector<Point>& all, const Device& device, const char* name, unsigned bytes) {
  if (!box_possible(RANK, bytes) || !fits(device, bytes, IN_FLIGHT)) return;
  constexpr RingKernel kernel = put_ring<OUT, RANK, IN_FLIGHT, false>;
  all.push_back(point_of(
      {name, Kind::put, kernel, kernel, RANK, bytes, IN_FLIGHT, Level::memory, OUT}, "done", true));
}

template <Between BETWEEN, int RANK>
void add_exchange(std::vector<Point>& all, const Device& device, const char* name, Kind kind,
                  unsigned bytes, int in_flight) {
  if (!fits(device, bytes, in_flight, 2)) return;
  all.push_back(
      point_of({name, kind, exchange_ring<BETWEEN, RANK, false>, exchange_ring<BETWEEN, RANK, true>,
                RANK, bytes, in_flight, Level::memory, Out::store},
               "handed over", true));
}

std::vector<Point> points(const Device& device, Scope scope) {
  const bool quick = scope == Scope::quick;
  std::vector<Point> all;
  for (const unsigned bytes : {1024U, 4096U, 16384U, 32768U}) {
    if (quick && bytes != 4096) continue;
    for (const int in_flight : {1, 2, 4, 8, 16, 32}) {
      if (quick && in_flight != 1 && in_flight != 8) continue;
      add_load<0>(all, device, bytes, in_flight, Level::memory);
      add_load<0>(all, device, bytes, in_flight, Level::l2);
      if (!quick) add_load<2>(all, device, bytes, in_flight, Level::memory);
    }
    if (!quick) add_put<Out::store, 0, 1>(all, device, "store", bytes);
    if (!quick) add_put<Out::store, 0, 2>(all, device, "store", bytes);
    if (!quick) add_put<Out::store, 0, 4>(all, device, "store", bytes);
    add_put<Out::store, 0, 8>(all, device, "store", bytes);
    if (!quick) add_put<Out::store, 0, 16>(all, device, "store", bytes);
    if (!quick) add_put<Out::add, 0, 1>(all, device, "add", bytes);
    if (!quick) add_put<Out::add, 0, 4>(all, device, "add", bytes);
    add_put<Out::add, 0, 8>(all, device, "add", bytes);
    if (!quick) add_put<Out::add, 0, 16>(all, device, "add", bytes);
    for (const int in_flight : {1, 2, 4, 8, 16}) {
      if (quick && in_flight != 8) continue;
      add_exchange<Between::multicast, 0>(all, device, "multicast", Kind::multicast, bytes,
                                          in_flight);
      if (in_flight >= 4) {
        add_exchange<Between::multicast, 2>(all, device, "multicast", Kind::multicast, bytes,
                                            in_flight);
      }
      add_exchange<Between::peer, 0>(all, device, "peer", Kind::peer, bytes, in_flight);
    }
  }
  if (quick) return all;
  // Whose limit is it, the thread's or the copy engine's? More threads issue.
  for (const int blocks : {2, 4}) {
    for (const unsigned bytes : {1024U, 4096U}) {
      add_load<0>(all, device, bytes, 8, Level::l2, blocks);
      add_load<2>(all, device, bytes, 8, Level::l2, blocks);
    }
  }
  constexpr int many = 16;
  add_load<1>(all, device, 1024, many, Level::memory);
  add_load<3>(all, device, 1024, many, Level::memory);
  add_load<4>(all, device, 1024, many, Level::memory);
  add_load<5>(all, device, 1024, many, Level::memory);
  add_load<3>(all, device, 4096, many, Level::memory);
  add_load<4>(all, device, 4096, many, Level::memory);
  add_load<5>(all, device, 4096, many, Level::memory);
  add_put<Out::store, 1, many>(all, device, "store", 1024);
  add_put<Out::store, 2, many>(all, device, "store", 1024);
  add_put<Out::store, 3, many>(all, device, "store", 1024);
  add_put<Out::store, 4, many>(all, device, "store", 1024);
  add_put<Out::store, 5, many>(all, device, "store", 1024);
  add_put<Out::add, 2, many>(all, device, "add", 1024);
  add_put<Out::add, 5, many>(all, device, "add", 1024);
  add_put<Out::min, 0, 8>(all, device, "min", 4096);
  add_put<Out::max, 0, 8>(all, device, "max", 4096);
  add_put<Out::bit_and, 0, 8>(all, device, "and", 4096);
  add_put<Out::bit_or, 0, 8>(all, device, "or", 4096);
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
    double greatest = 0;
    for (const Abscissa& p : curve) greatest = std::max(greatest, p.y);
    double low = 0, high = 0;
    for (const Abscissa& p : curve) {
      if (high == 0 && p.y >= 0.95 * greatest) high = p.x;
      if (high == 0) low = p.x;
    }
    found.push_back({{{"operation", which[0]}, {"level", which[1]}, {"box", which[2]}},
                     "knee",
                     "byte/SM",
                     saturation_of(curve, 0.95),
                     low == 0 ? high : low,
                     high,
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
