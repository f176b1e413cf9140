// memory/latency: latency of one dependent load, from L1 to device memory and of shared memory (Luo
// et al. 2024, Table IV; Abdelkhalik et al. 2022).
//
// Method, the ladder (method=ladder): one thread follows pointers through nodes 128 bytes apart, in
// a random order that is one cycle through the whole footprint, so that no prefetcher, open row or
// half-walked cache helps. Each launch walks three times: once to warm L1 and TLB (up to the whole
// cycle), then 1,024 links, then 8,192 (32,768 where the footprint fits an L1); the latency is the
// slope between the last two, in cycles and in nanoseconds. The next launch continues where the
// last one stopped: a node is not met again before the cycle is through. Footprints reach from 2
// KiB to 8 GiB or an eighth of the memory; one that may fit the L2 is walked through once
// beforehand. L1 is set to its largest share.
//
// Method, seed 000 (method=luo; Luo et al. 2024, IV-A): nodes at a fixed stride in the order of
// their addresses, everything initialised and warm; device memory by four threads that read 8 bytes
// each, one 32-byte transaction. The paper does not print stride or footprint: both are coordinates
// here, the stride swept. link=index is `i = data[i]`, which computes an address per link;
// link=pointer is the load alone.
//
// Method, seed 001 (method=abdelkhalik; Abdelkhalik et al. 2022, Fig. 2): one thread, sequential
// nodes of 8 bytes, clock read once before and after 32,768 loads (256 KiB) of an array just
// written. The array has 5/4 of the L2 for "global" with ld.cv, 256 KiB for L2 with ld.cg, and 16
// KiB walked twice for L1 with ld.ca. Only one load in four begins a 32-byte sector, so "global" is
// a mean over L2 hits and misses.
//
// Method, shared memory: a chain of addresses in shared memory; the store is what a store of the
// word before each load adds to the link (a store alone has no latency that a thread could see).

#include "microbench/memory/chase.cuh"
#include "microbench/memory/shared_chain.cuh"

namespace amasia::memory {
namespace {

// ---- Device memory, L2, L1 ----------------------------------------------------------------------

constexpr std::uint64_t short_walk = 1024;

std::uint64_t long_walk(const Chain& chain) {
  constexpr std::size_t any_l1 = 256 << 10;
  return chain.footprint <= any_l1 ? 32768 : 8192;
}

Sampling warm_walk(const Chain& chain, const Device& device, Stream stream) {
  auto state = std::make_shared<Chase>(chain, stream);
  if (chain.footprint <= 2 * device.l2_bytes) {  // ~60 ns a link, 128 MiB: a tenth of a second
    for (std::uint64_t left = state->nodes(); left > 0;) {
      const std::uint64_t part = std::min<std::uint64_t>(left, 1 << 19);
      state->walk({part});
      left -= part;
    }
  }
  return [state, chain] {
    const std::uint64_t warm = std::min<std::uint64_t>(state->nodes(), 8192);
    const std::uint64_t longer = long_walk(chain);
    const auto taken = state->walk({warm, short_walk, longer});
    return slope_between(taken[1], short_walk, taken[2], static_cast<double>(longer));
  };
}

Point& add(std::vector<Point>& points, const char* method, const char* level, const Chain& chain) {
  Point& p = add_point(points,
                       {{"method", method},
                        {"level", level},
                        {"footprint", std::to_string(chain.footprint)},
                        {"order", chain.random ? "random" : "sequential"},
                        {"stride", std::to_string(chain.stride)},
                        {"hint", name_of(chain.hint)},
                        {"link", name_of(chain.link)},
                        {"threads", std::to_string(chain.threads)}},
                       "latency", "cycles");
  p.kernels = {use_of(chain.hint, chain.link)};
  p.claims = {{"LDG", "ld.global", unroll}};
  return p;
}

/// A point that is walked warm.
void add_warm(std::vector<Point>& points, const char* method, const char* level,
              const Chain& chain) {
  add(points, method, level, chain).prepare = [chain](const Device& d, Stream stream) {
    return warm_walk(chain, d, stream);
  };
}

/// 2 KiB, 3 KiB, 4 KiB, 6 KiB, ...: two footprints per octave, four around the sizes of L1 and L2.
std::vector<std::size_t> footprints(const Device& device, Scope scope) {
  const std::size_t most = std::min<std::size_t>(std::size_t{8} << 30, device.memory_bytes / 8);
  // What L1 can have at most is not asked of the device: shared memory and L1 are one array.
  const std::size_t l1 = device.shared_per_sm;
  const auto near = [](std::size_t f, std::size_t size) { return f >= size / 2 && f < 2 * size; };
  std::vector<std::size_t> all;
  for (std::size_t f = 2 << 10; f <= most; f *= 2) {
    all.push_back(f);
    const bool fine = near(f, l1) || near(f, device.l2_bytes);
    if (scope == Scope::quick && !fine) {
      f *= 2;  // with the loop's own doubling: every other octave
      continue;
    }
    for (int quarter = 1; quarter < 4; ++quarter) {
      const std::size_t between = f + f / 4 * quarter;
      if ((fine || quarter == 2) && between <= most) all.push_back(between);
    }
  }
  return all;
}

/// "l1", "l2" or "memory" where the footprint leaves no doubt, "" in between.
const char* level_of(std::size_t footprint, const Device& device) {
  if (footprint <= device.shared_per_sm / 2) return "l1";
  if (footprint >= 4 * device.shared_per_sm && footprint <= device.l2_bytes / 4) return "l2";
  return footprint >= 4 * device.l2_bytes ? "memory" : "between";
}

void add_ladder(std::vector<Point>& points, const Device& device, Scope scope) {
  for (const Hint hint : {Hint::ca, Hint::cg, Hint::cv}) {
    for (const std::size_t footprint : footprints(device, scope)) {
      // The other operators differ where L1 would answer, and are checked at a few sizes beyond.
      const bool octave = (footprint & (footprint - 1)) == 0;
      const bool of_interest = footprint <= (1 << 20) || (octave && footprint % (1 << 23) == 0);
      if (hint != Hint::ca && (scope == Scope::quick || !octave || !of_interest)) continue;
      Chain chain;
      chain.footprint = footprint;
      chain.hint = hint;
      const char* level = level_of(footprint, device);
      if (hint != Hint::ca && std::string(level) == "l1") level = "l2";
      add_warm(points, "ladder", level, chain);
    }
  }
}

// ---- The papers' ways ---------------------------------------------------------------------------

void add_luo(std::vector<Point>& points, const Device& device) {
  for (const Link link : {Link::index, Link::pointer}) {
    add_warm(points, "luo", "l1", {16 << 10, 32, false, link, Hint::ca, 1});
    add_warm(points, "luo", "l2", {device.l2_bytes / 8, 128, false, link, Hint::cg, 1});
    for (const std::size_t stride : {32, 64, 128, 256}) {
      add_warm(points, "luo", "memory",
               {8 * device.l2_bytes, stride, false, link, Hint::ca, lanes});
    }
  }
}

/// Seed 001: one length, the clock before and after; `warm` links first.
Sampling sequential_walk(const Chain& chain, std::uint64_t warm, std::uint64_t links,
                         Stream stream) {
  auto state = std::make_shared<Chase>(chain, stream);
  return [state, warm, links] {
    state->restart();  // written again: the state of the caches is that of the paper's one launch
    const Stamp taken = state->walk({warm, links})[1];
    return in_cycles(static_cast<double>(taken.cycles) / static_cast<double>(links),
                     static_cast<double>(taken.nanoseconds) / static_cast<double>(links));
  };
}

void add_abdelkhalik(std::vector<Point>& points, const Device& device) {
  constexpr std::uint64_t links = 32768;  // 262,144 bytes, as in their Fig. 2
  const auto walk = [&](const char* level, std::size_t footprint, Hint hint, std::uint64_t warm) {
    const Chain chain{footprint, 8, false, Link::pointer, hint, 1};
    add(points, "abdelkhalik", level, chain).prepare = [chain, warm](const Device&, Stream stream) {
      return sequential_walk(chain, warm, links, stream);
    };
  };
  walk("memory", device.l2_bytes / 8 * 10, Hint::cv, 0);  // theirs: 52 MB where L2 has 42 MB
  walk("l2", 256 << 10, Hint::cg, 0);
  walk("l1", 16 << 10, Hint::ca, 2048);
}

// ---- Registration -------------------------------------------------------------------------------

std::vector<Point> points(const Device& device, Scope scope) {
  std::vector<Point> all;
  add_shared(all);
  add_luo(all, device);
  add_abdelkhalik(all, device);
  add_ladder(all, device, scope);
  return all;
}

/// Capacities: where the ladder leaves one plateau and where it has reached the next.
std::vector<Finding> findings(const Device& device, const std::vector<MeasuredPoint>& measured) {
  std::vector<Abscissa> ladder =
      curve_along(measured, "footprint", {{"method", "ladder"}, {"hint", "ca"}});
  std::sort(ladder.begin(), ladder.end(), [](auto& a, auto& b) { return a.x < b.x; });
  // The last footprint within `share` of the plateau at its left, the first beyond it.
  std::vector<Finding> found;
  const auto add = [&](const char* level, double from, double share, const char* how) {
    const auto first =
        std::find_if(ladder.begin(), ladder.end(), [&](const Abscissa& p) { return p.x >= from; });
    const auto beyond = std::find_if(
        first, ladder.end(), [&](const Abscissa& p) { return p.y > first->y * (1 + share); });
    if (beyond == ladder.end()) return;
    const double last = std::prev(beyond)->x / 1024;
    found.push_back({{{"level", level}}, "capacity", "KiB", last, last, beyond->x / 1024, how});
  };
  if (ladder.empty()) return found;
  add("l1", ladder.front().x, 0.05,
      "Largest footprint of the ladder within 5 % of the latency of the smallest; high: the next");
  add("l2", static_cast<double>(device.l2_bytes) / 4, 0.15,
      "Largest footprint of the ladder within 15 % of the latency at a quarter of the L2; high: "
      "the next");
  return found;
}

const bool registered = register_microbenchmark(
    {"memory/latency", "What does one dependent load cost at every level of the memory?",
     "A pointer chase by one thread, in a random order that is one cycle through the footprint, "
     "latency as the slope over two lengths of the walk, in cycles and nanoseconds; footprints "
     "from inside L1 to several GiB. Beside it the methods of both papers: fixed stride and warm "
     "(Luo et al.), 8-byte steps through 256 KiB with ld.cv, ld.cg and ld.ca (Abdelkhalik et al.), "
     "and chains in shared memory.",
     points, findings});

}  // namespace
}  // namespace amasia::memory
