// tma/latency: how long does one bulk copy take, from its issue to its end (Hopper Tuning Guide,
// 4.1.2)?
//
// Method: one thread of one block issues a copy, waits for its end, and issues the next. Cycles per
// copy are the slope between walks of 64 and 1,088 in one launch, after a warm-up walk. Copies are
// from device memory (1 GiB, no box twice) and from the L2 (an eighth of it, written before). Boxes
// of all ranks are contiguous, so that only the rank differs.
//
// A load ends when its mbarrier's phase has completed (try_wait). A store or reduction ends when
// wait_group returns (completion=done) or wait_group.read (completion=read, its source has been
// read). On sm_90 both are the same wait in the machine code (DEPBAR.LE SB0); the first also
// invalidates L1. So neither covers the way to the L2 and back: a store ends when it has left the
// SM.
//
// `multicast`: in clusters of two, each block loads a box into both, and both signal each other its
// arrival.
// `peer`: from the shared memory of one block to that of the other, both ways at once, with the
// same hand-over.
// `way=cp.async`: for comparison, one warp copies as many bytes by cp.async, 16 per thread, and
// waits for them.

#include "microbench/curve.hpp"
#include "microbench/tma/measure.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::tma {
namespace {

template <int RANK>
void add_load(std::vector<Point>& all, unsigned bytes, Level level) {
  all.push_back(point_of({"load", Kind::load, load_ring<RANK, false>, load_ring<RANK, true>, RANK,
                          bytes, 1, level, Out::store},
                         "done", false));
}

template <Out OUT, int RANK>
void add_put(std::vector<Point>& all, const char* name, unsigned bytes) {
  const auto add = [&](RingKernel kernel, const char* completion) {
    all.push_back(point_of({name, Kind::put, kernel, kernel, RANK, bytes, 1, Level::l2, OUT},
                           completion, false));
  };
  add(put_ring<OUT, RANK, 1, false>, "done");
  add(put_ring<OUT, RANK, 1, true>, "read");
}

template <Between BETWEEN, int RANK>
void add_exchange(std::vector<Point>& all, const char* name, Kind kind, unsigned bytes) {
  all.push_back(
      point_of({name, kind, exchange_ring<BETWEEN, RANK, false>, exchange_ring<BETWEEN, RANK, true>,
                RANK, bytes, 1, Level::l2, Out::store},
               "handed over", false));
}

// ---- cp.async, to compare with ------------------------------------------------------------------

/// A warp copies CHUNKS x 512 bytes and waits for them, box after box.
template <int CHUNKS>
__global__ void __launch_bounds__(warp) copy_async_warp(Work work) {
  const unsigned to = async::held_address(slots()) + 16 * threadIdx.x;
  Course course(work);
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    const unsigned long long begin_ns = nanoseconds_now();
    const long long begin = clock_now();
#pragma unroll 1
    for (int i = 0; i < work.copies.links[w]; ++i) {
      const std::byte* const from = course.box.data + 16 * threadIdx.x;
#pragma unroll
      for (int k = 0; k < CHUNKS; ++k) async::copy16(to + 512 * k, from + 512 * k);
      async::commit();
      async::wait<0>();
      __syncwarp();
      course.advance();
    }
    if (threadIdx.x == 0) {
      work.taken[w].cycles = clock_now() - begin;
      work.taken[w].nanoseconds = nanoseconds_now() - begin_ns;
    }
  }
}

template <int CHUNKS>
Sampling walk_async(Level level, const Device& device, Stream stream) {
  const std::size_t footprint = level == Level::l2
                                    ? device.l2_bytes / 8
                                    : std::min(std::size_t{1} << 30, device.memory_bytes / 8);
  Work work{};
  work.boxes.bytes = 512 * CHUNKS;
  work.boxes.count = static_cast<long long>(footprint / work.boxes.bytes);
  work.boxes.data = reinterpret_cast<std::byte*>(buffer_of(footprint));
  work.step = scattered(work.boxes.count);
  auto taken = std::make_shared<DeviceArray<Stamp>>(max_walks);
  auto first = std::make_shared<long long>(0);
  work.taken = taken->data();
  return [=]() mutable {
    constexpr int few = 64, many = 64 + 1024;
    if (level == Level::l2) {
      AMASIA_CUDA(cudaMemsetAsync(work.boxes.data, 0x5a, footprint, stream));
    }
    work.first = *first;
    work.copies = {{16, few, many}};
    copy_async_warp<CHUNKS><<<1, warp, work.boxes.bytes, stream>>>(work);
    AMASIA_CUDA(cudaGetLastError());
    AMASIA_CUDA(cudaStreamSynchronize(stream));
    *first = (*first + (16 + few + many) * work.step) % work.boxes.count;
    Stamp host[max_walks];
    taken->download(host);
    return slope_between(host[1], few, host[2], many);
  };
}

template <int CHUNKS>
void add_async(std::vector<Point>& all, Level level) {
  Point p;
  p.at = {{"operation", "load"},
          {"way", "cp.async"},
          {"box", std::to_string(512 * CHUNKS)},
          {"in_flight", "1"},
          {"level", level == Level::l2 ? "l2" : "memory"},
          {"completion", "done"}};
  p.quantity = "latency";
  p.unit = "cycles";
  p.runs_from = 80;
  p.kernels = {{reinterpret_cast<const void*>(copy_async_warp<CHUNKS>), warp, 512 * CHUNKS}};
  p.claims = {{"LDGSTS", "cp.async", CHUNKS}};
  p.prepare = [level](const Device& d, Stream s) { return walk_async<CHUNKS>(level, d, s); };
  all.push_back(std::move(p));
}

// ---- Points -------------------------------------------------------------------------------------

std::vector<Point> points(const Device&, Scope scope) {
  const bool quick = scope == Scope::quick;
  std::vector<Point> all;
  for (const Level level : {Level::l2, Level::memory}) {
    for (const unsigned bytes : {128U, 1024U, 4096U, 16384U, 65536U}) {
      if (bytes > 16384 && level == Level::l2) continue;  // an eighth has not one per SM
      if (!quick || bytes == 128 || bytes == 4096) add_load<0>(all, bytes, level);
      if (bytes >= 1024 && bytes <= 16384 && !quick) add_load<2>(all, bytes, level);
    }
    if (!quick) {
      add_load<1>(all, 1024, level);
      add_load<3>(all, 1024, level);
      add_load<4>(all, 1024, level);
    }
    add_load<5>(all, 1024, level);
    add_async<1>(all, level);
    add_async<2>(all, level);
    add_async<8>(all, level);
  }
  for (const unsigned bytes : {128U, 1024U, 4096U, 16384U}) {
    if (quick && bytes != 1024) continue;
    add_put<Out::store, 0>(all, "store", bytes);
    add_put<Out::add, 0>(all, "add", bytes);
  }
  if (!quick) {
    add_put<Out::store, 1>(all, "store", 1024);
    add_put<Out::store, 2>(all, "store", 1024);
    add_put<Out::store, 3>(all, "store", 1024);
    add_put<Out::store, 4>(all, "store", 1024);
    add_put<Out::store, 5>(all, "store", 1024);
    add_put<Out::add, 1>(all, "add", 1024);
    add_put<Out::add, 2>(all, "add", 1024);
    add_put<Out::add, 5>(all, "add", 1024);
    add_put<Out::min, 0>(all, "min", 1024);
    add_put<Out::max, 0>(all, "max", 1024);
    add_put<Out::bit_and, 0>(all, "and", 1024);
    add_put<Out::bit_or, 0>(all, "or", 1024);
  }
  for (const unsigned bytes : {1024U, 4096U, 16384U}) {
    if (quick && bytes != 1024) continue;
    add_exchange<Between::multicast, 0>(all, "multicast", Kind::multicast, bytes);
    add_exchange<Between::multicast, 2>(all, "multicast", Kind::multicast, bytes);
    add_exchange<Between::peer, 0>(all, "peer", Kind::peer, bytes);
  }
  return all;
}

/// A copy's cost as a start and a rate, from the boxes of one kind.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  for (const char* level : {"l2", "memory"}) {
    std::vector<Abscissa> curve;
    for (const MeasuredPoint& p : measured) {
      if (value_of(p.at, "operation") == "load" && value_of(p.at, "way") == "flat" &&
          value_of(p.at, "level") == level && std::stod(value_of(p.at, "box")) >= 4096) {
        curve.push_back({std::stod(value_of(p.at, "box")), p.value});
      }
    }
    if (curve.size() < 2) continue;
    const double bytes_per_cycle = 1 / slope_of(curve);
    found.push_back({{{"operation", "load"}, {"level", level}},
                     "rate",
                     "byte/clk",
                     bytes_per_cycle,
                     bytes_per_cycle,
                     bytes_per_cycle,
                     "What a longer box adds to the latency, as a rate: slope over flat boxes from "
                     "4 KiB on"});
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"tma/latency", "What does one bulk copy cost, from its issue to its end?",
     "One thread issues a bulk copy, waits for it, and issues the next; cycles per copy as the "
     "slope between walks of 64 and 1,088 copies. Loads, stores and reductions, flat and of 1 to 5 "
     "dimensions, boxes of 128 bytes to 64 KiB, from memory and from the L2; multicast to and "
     "copies between two blocks of a cluster, with the hand-over; cp.async of a warp beside them.",
     points, findings});

}  // namespace
}  // namespace amasia::tma
