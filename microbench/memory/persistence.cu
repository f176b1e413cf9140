// memory/persistence: does a persisting window of the L2 keep a hot region while a stream passes
// through the cache (Hopper Tuning Guide)?
//
// Method: a hot region is read whole, past L1. Then all SMs stream eight times the L2 of other
// memory. Then one thread chases pointers through the region past L1 (ld.cg), in a random order
// that is one cycle, and no node twice. The latency is the slope between two walks of the launch.
// Its mean gives the share of loads that the L2 still answered: L2 and memory are far apart in
// latency (280 and 660 cycles on an H200), but less than a factor of two in bandwidth. Also, a grid
// reads a region that fits in about the time of a launch.
//
// The region is a share of the largest set-aside of the device, from an eighth of it to twice. The
// window is on while the region is read, streamed past, and chased, on a stream of its own.
// `stream=no`: the region undisturbed, the best case of the L2.
// `window=off`: the same with the stream, no set-aside.
// `window=on`: all of the set-aside, and a window over the region whose lines all persist (hitRatio
//   1). Other memory is unaffected.
// `window=fitted`: for a region larger than the set-aside. Only the share of its lines that fits
//   persists; the others stream.
//
// readers=one: the region is read by one block, on one SM, as is the chase. readers=all: by all
// SMs, each chunk of 64 KiB by another. Where an L2 is built of two halves that each keep what
// their SMs read, the chase then finds a part of its nodes in the far half.
//
// capacity: the largest region that, streamed past, stays within 10 % of the latency of 1 MiB, by
// bisection to 3 %. The limit is put back and persisting lines are made normal after each point.

#include <optional>

#include "microbench/memory/chase.cuh"
#include "microbench/memory/persistence.hpp"
#include "microbench/memory/set_aside.cuh"

namespace amasia::memory {
namespace {

constexpr int reader_threads = 1024, reader_words = 4;  // of 16 bytes, in flight per thread
static_assert(persistence_chunk == std::size_t{16} * reader_words * reader_threads);

/// Blocks read chunks side by side, past L1.
__global__ void __launch_bounds__(reader_threads)
    read_chunks(const std::byte* data, unsigned chunks, unsigned* sink) {
  unsigned folded = 0;
#pragma unroll 1
  for (unsigned chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const std::byte* const mine =
        data + std::size_t{chunk} * persistence_chunk + std::size_t{16} * threadIdx.x;
    uint4 v[reader_words];
#pragma unroll
    for (int k = 0; k < reader_words; ++k) v[k] = load_past_l1(mine + k * 16 * reader_threads);
#pragma unroll
    for (int k = 0; k < reader_words; ++k) folded ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  if (folded == 0x12345678U) *sink = folded;  // the compiler does not know that it never matters
}

// ---- One sample ---------------------------------------------------------------------------------

constexpr int largest_percent = 200;  // of the set-aside

enum class Window { off, on, fitted };
enum class Readers { one, all };

struct Setting {
  Window window = Window::on;
  bool stream = true;
  Readers readers = Readers::one;
};

/// A chain in the first bytes of the buffer, what is streamed in the last.
class HotRegion {
 public:
  HotRegion(std::size_t bytes, const Setting& setting, const Device& device)
      : setting_(setting),
        sms_(static_cast<unsigned>(device.sm_count)),
        bytes_(bytes),
        streamed_(stream_bytes(device.l2_bytes, device.memory_bytes)) {
    if (streamed_ == 0) throw Unavailable("an eighth of the memory is not enough beyond the L2");
    const std::size_t most = largest_set_aside(device);
    const std::size_t largest = region_bytes(most, largest_percent);
    region_ = reinterpret_cast<std::byte*>(buffer_of(largest + streamed_));
    behind_ = region_ + largest;
    AMASIA_CUDA(cudaMemsetAsync(behind_, 0x5a, streamed_, stream_));
    if (setting.window != Window::off) set_aside_.emplace(most);
    Chain chain;
    chain.footprint = bytes_;
    chain.hint = Hint::cg;
    chase_.emplace(chain, stream_);  // the same buffer: it is large enough already
    if (setting.window != Window::off) {
      const float ratio = setting.window == Window::fitted ? fitted_ratio(most, bytes_) : 1.0F;
      open_window(stream_, region_, bytes_, ratio, device);
    }
  }

  Reading sample() {
    read(region_, bytes_, setting_.readers == Readers::one ? 1 : sms_);
    if (setting_.stream) read(behind_, streamed_, 2 * sms_);
    const Lengths lengths = lengths_of(chase_->nodes(), unroll);
    const auto taken = chase_->walk({lengths.warm, lengths.few, lengths.many});
    walked_ += lengths.warm + lengths.few + lengths.many;
    if (chase_->standing() != chase_->after(walked_)) {
      throw std::runtime_error("the walk is not where so many links lead");
    }
    return slope_between(taken[1], static_cast<double>(lengths.few), taken[2],
                         static_cast<double>(lengths.many));
  }

 private:
  void read(const std::byte* from, std::size_t bytes, unsigned blocks) {
    read_chunks<<<blocks, reader_threads, 0, stream_>>>(
        from, static_cast<unsigned>(bytes / persistence_chunk), sink_.data());
    AMASIA_CUDA(cudaGetLastError());
  }

  Setting setting_;
  unsigned sms_;
  std::size_t bytes_, streamed_;
  std::byte *region_ = nullptr, *behind_ = nullptr;
  std::uint64_t walked_ = 0;
  DeviceArray<unsigned> sink_{1};
  std::optional<SetAside> set_aside_{};  // outlives the stream and its window
  OwnedStream stream_{};
  std::optional<Chase> chase_{};
};

Sampling latency_of(int percent, const Setting& setting, const Device& device) {
  const std::size_t bytes = region_bytes(largest_set_aside(device), percent);
  auto region = std::make_shared<HotRegion>(bytes, setting, device);
  return [region] { return region->sample(); };
}

Sampling capacity(const Device& device) {
  return [device] {
    const auto cycles = [&](double bytes) {
      const auto whole = static_cast<std::size_t>(bytes) / persistence_chunk * persistence_chunk;
      HotRegion region(whole, Setting{}, device);
      region.sample();
      return region.sample().value;
    };
    constexpr double small = 1 << 20;
    const std::size_t most = region_bytes(largest_set_aside(device), largest_percent);
    if (most < 2 * small) throw Unavailable("the set-aside is too small to bisect from 1 MiB");
    const double undisturbed = cycles(small);
    const Crossover found =
        bisect_crossover(small, static_cast<double>(most), 0.03,
                         [&](double bytes) { return cycles(bytes) > 1.1 * undisturbed ? 1 : -1; });
    if (found.kind != Crossover::Kind::between) {
      throw std::runtime_error("no region up to twice the set-aside left the L2");
    }
    return Reading{found.at.low / (1 << 20)};
  };
}

// ---- Registration -------------------------------------------------------------------------------

void add_latency(std::vector<Point>& points, int percent, const Setting& s) {
  constexpr const char* windows[] = {"off", "on", "fitted"};
  Point& p = add_point(points,
                       {{"region_percent", std::to_string(percent)},
                        {"window", windows[static_cast<int>(s.window)]},
                        {"stream", s.stream ? "yes" : "no"},
                        {"readers", s.readers == Readers::one ? "one" : "all"}},
                       "latency", "cycles");
  p.prepare = [percent, s](const Device& d, Stream) { return latency_of(percent, s, d); };
}

std::vector<Point> points(const Device&, Scope scope) {
  const bool full = scope == Scope::full;
  std::vector<Point> all;
  for (const Readers readers : {Readers::one, Readers::all}) {
    if (!full && readers == Readers::all) continue;
    for (const int percent : {12, 25, 50, 75, 100, 125, 150, largest_percent}) {
      const bool coarse = percent == 25 || percent == 100 || percent == largest_percent;
      if (!coarse && (!full || (readers == Readers::all && percent != 50))) continue;
      add_latency(all, percent, {Window::off, false, readers});
      add_latency(all, percent, {Window::off, true, readers});
      add_latency(all, percent, {Window::on, true, readers});
      if (percent > 100) add_latency(all, percent, {Window::fitted, true, readers});
    }
  }
  if (full) {
    add_point(all, {{"level", "persisting l2"}}, "capacity", "MiB", Better::larger).prepare =
        [](const Device& d, Stream) { return capacity(d); };
  }
  for (Point& p : all) {
    p.runs_from = 80;
    p.kernels = {use_of(Hint::cg, Link::pointer),
                 kernel_use(read_chunks, reader_threads, 0, 1, persistence_chunk)};
    p.claims = {{"LDG", "ld.global", unroll}, {"LDG", "ld.global", reader_words, true, 1}};
  }
  return all;
}

/// What each window gains, and which share of the loads it keeps in the L2.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  for (const MeasuredPoint& p : measured) {
    if (value_of(p.at, "window").empty() || value_of(p.at, "window") == "off") continue;
    const Coordinates at{{"region_percent", value_of(p.at, "region_percent")},
                         {"window", value_of(p.at, "window")},
                         {"readers", value_of(p.at, "readers")}};
    const auto without_window = [&](const char* stream) {
      Coordinates beside = at;
      beside[1].second = "off";
      beside.emplace_back("stream", stream);
      return value_at(measured, beside);
    };
    const double displaced = without_window("yes"), undisturbed = without_window("no");
    if (displaced > 0) {
      found.push_back(
          single_finding(at, "gain", "x", displaced / p.value,
                         "Latency behind the stream without a window over that with it"));
    }
    // Where the region undisturbed is hardly faster there is nothing to keep.
    if (undisturbed > 0 && displaced > 1.1 * undisturbed) {
      found.push_back(single_finding(
          at, "kept", "share", kept_share(displaced, p.value, undisturbed),
          "By the latency: 0 as behind the stream without a window, 1 as undisturbed"));
    }
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"memory/persistence", "What does a persisting window keep in the L2 while a stream passes?",
     "A hot region, a share of the largest set-aside, is read whole; eight times the L2 is "
     "streamed; then one thread chases through the region past L1, latency as the slope over two "
     "lengths of the walk. Without a window, with one whose lines all persist, with one that "
     "persists the share that fits, and without the stream; the gain is the ratio. Capacity: the "
     "largest region within 10 % of the latency of 1 MiB.",
     points, findings});

}  // namespace
}  // namespace amasia::memory
