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

#include "microbench/tma/measure.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::tma {
namespace {

template <int... RANKS>
void add_loads(std::vector<Point>& all, unsigned bytes, Level level) {
  (all.push_back(point_of({"load", Kind::load, load_ring<RANKS, false>, load_ring<RANKS, true>,
                           RANKS, bytes, 1, level, Out::store},
                          "done", false)),
   ...);
}

template <Out OUT, int... RANKS>
void add_puts(std::vector<Point>& all, unsigned bytes) {
  const auto add = [&](int rank, RingKernel kernel, const char* completion) {
    all.push_back(
        point_of({name_of(OUT), Kind::put, kernel, kernel, rank, bytes, 1, Level::l2, OUT},
                 completion, false));
  };
  ((add(RANKS, put_ring<OUT, RANKS, 1, false>, "done"),
    add(RANKS, put_ring<OUT, RANKS, 1, true>, "read")),
   ...);
}

template <Between BETWEEN, int RANK>
void add_exchange(std::vector<Point>& all, unsigned bytes) {
  all.push_back(point_of(exchange<BETWEEN, RANK>(bytes, 1, Level::l2), "handed over", false));
}

// ---- cp.async, to compare with ------------------------------------------------------------------

/// A warp copies CHUNKS x 512 bytes and waits for them, box after box.
template <int CHUNKS>
__global__ void __launch_bounds__(warp) copy_async_warp(Work work) {
  const unsigned to = async::held_address(slots()) + 16 * threadIdx.x;
  Course course(work);
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    const Stopwatch watch;
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
    if (threadIdx.x == 0) watch.stop(work.taken[w]);
  }
}

template <int CHUNKS>
Sampling walk_async(Level level, const Device& device, Stream stream) {
  const std::size_t footprint = footprint_of(level, device);
  Work work{};
  work.boxes.bytes = 512 * CHUNKS;
  work.boxes.count = static_cast<long long>(footprint / work.boxes.bytes);
  work.boxes.data = reinterpret_cast<std::byte*>(buffer_of(footprint));
  work.step = scattered(work.boxes.count);
  auto taken = std::make_shared<DeviceArray<Stamp>>(max_walks);
  auto first = std::make_shared<long long>(0);
  work.taken = taken->data();
  return [=]() mutable {
    if (level == Level::l2) {
      AMASIA_CUDA(cudaMemsetAsync(work.boxes.data, 0x5a, footprint, stream));
    }
    work.first = *first;
    work.copies = latency_walks;
    copy_async_warp<CHUNKS><<<1, warp, work.boxes.bytes, stream>>>(work);
    *first = behind_latency_walks(work);
    return slope_of_walks(stream, *taken, latency_walks);
  };
}

template <int CHUNKS>
void add_async(std::vector<Point>& all, Level level) {
  Point& p = add_point(all,
                       {{"operation", "load"},
                        {"way", "cp.async"},
                        {"box", std::to_string(512 * CHUNKS)},
                        {"in_flight", "1"},
                        {"level", level == Level::l2 ? "l2" : "memory"},
                        {"completion", "done"}},
                       "latency", "cycles");
  p.runs_from = 80;
  p.kernels = {kernel_use(copy_async_warp<CHUNKS>, warp, 512 * CHUNKS)};
  p.claims = {{"LDGSTS", "cp.async", CHUNKS}};
  p.prepare = [level](const Device& d, Stream s) { return walk_async<CHUNKS>(level, d, s); };
}

// ---- Points -------------------------------------------------------------------------------------

std::vector<Point> points(const Device&, Scope scope) {
  const bool quick = scope == Scope::quick;
  std::vector<Point> all;
  for (const Level level : {Level::l2, Level::memory}) {
    for (const unsigned bytes : {128U, 1024U, 4096U, 16384U, 65536U}) {
      if (bytes > 16384 && level == Level::l2) continue;  // an eighth has not one per SM
      if (!quick || bytes == 128 || bytes == 4096) add_loads<0>(all, bytes, level);
      if (bytes >= 1024 && bytes <= 16384 && !quick) add_loads<2>(all, bytes, level);
    }
    if (!quick) add_loads<1, 3, 4>(all, 1024, level);
    add_loads<5>(all, 1024, level);
    add_async<1>(all, level);
    add_async<2>(all, level);
    add_async<8>(all, level);
  }
  for (const unsigned bytes : {128U, 1024U, 4096U, 16384U}) {
    if (quick && bytes != 1024) continue;
    add_puts<Out::store, 0>(all, bytes);
    add_puts<Out::add, 0>(all, bytes);
  }
  if (!quick) {
    add_puts<Out::store, 1, 2, 3, 4, 5>(all, 1024);
    add_puts<Out::add, 1, 2, 5>(all, 1024);
    add_puts<Out::min, 0>(all, 1024);
    add_puts<Out::max, 0>(all, 1024);
    add_puts<Out::bit_and, 0>(all, 1024);
    add_puts<Out::bit_or, 0>(all, 1024);
  }
  for (const unsigned bytes : {1024U, 4096U, 16384U}) {
    if (quick && bytes != 1024) continue;
    add_exchange<Between::multicast, 0>(all, bytes);
    add_exchange<Between::multicast, 2>(all, bytes);
    add_exchange<Between::peer, 0>(all, bytes);
  }
  return all;
}

/// A copy's cost as a start and a rate, from the boxes of one kind.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  for (const char* level : {"l2", "memory"}) {
    std::vector<Abscissa> curve =
        curve_along(measured, "box", {{"operation", "load"}, {"way", "flat"}, {"level", level}});
    curve.erase(
        std::remove_if(curve.begin(), curve.end(), [](const Abscissa& p) { return p.x < 4096; }),
        curve.end());
    if (curve.size() < 2) continue;
    found.push_back(single_finding(
        {{"operation", "load"}, {"level", level}}, "rate", "byte/clk", 1 / slope_of(curve),
        "What a longer box adds to the latency, as a rate: slope over flat boxes from 4 KiB on"));
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
