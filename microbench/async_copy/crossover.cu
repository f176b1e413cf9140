// async_copy/crossover: from which tile size, number of stages and arithmetic intensity is an
// asynchronous copy faster than a plain one? Up to which intensity (Svedin et al. 2021, section
// 4.1)?
//
// Method: bisection. At each step plain and the mechanism alternate over seven passes of 512 MiB
// (more than four times the L2 of any GPU known), with caches displaced before each. The mechanism
// is faster there if it is faster in all seven (sign test, 98 %). A tie is not faster. The value is
// the last step on the faster side. The bisection is repeated for every sample, so the interval of
// the row is that of the crossover.
// `along=intensity`: 0.25 to 64 operations per byte; tiles of 16 KiB, 512 threads, three stages.
//   With bound=from, the least intensity from which it is faster; with bound=to, the greatest up to
//   which. With all blocks that fit both may hold: a tie while memory is the limit.
// `along=tile`: 1 to 32 KiB, 32 bytes per thread, three stages, 0.25 operations per byte.
// `along=stages`: 2, 3, 4, 6, 8; tiles of 16 KiB, 512 threads, 0.25 operations per byte.
// A mechanism that is not faster at the favourable end gets a value beyond the range, twice the
// greatest or half the least; the finding says so.

#include <map>

#include "microbench/async_copy/measure.cuh"

namespace amasia::async_copy {
namespace {

constexpr int chunks = 2;
constexpr int rounds = 7;

enum class Along { intensity, tile, stages };
constexpr const char* name_of(Along a) {
  return a == Along::intensity ? "intensity" : a == Along::tile ? "tile" : "stages";
}
constexpr const char* unit_of(Along a) {
  return a == Along::intensity ? "operations/byte" : a == Along::tile ? "byte" : "stages";
}

/// A place on an axis; 16 KiB, three stages and one iteration are where the others stay.
struct Place {
  int iterations = 1;
  int threads = 512;
  int stages = 3;
};

/// The axis as whole steps: iterations, warps per block, stages; and which side is searched for.
struct Axis {
  Along along;
  bool to = false;  // faster up to the crossover; else from it on
  double low() const { return along == Along::stages ? stage_counts.front() : 1; }
  double high() const {
    return along == Along::intensity ? 256 : along == Along::tile ? 32 : stage_counts.back();
  }
  int step_at(double x) const {
    if (along != Along::stages) return static_cast<int>(x + 0.5);
    return *std::min_element(stage_counts.begin(), stage_counts.end(),
                             [x](int a, int b) { return std::abs(a - x) < std::abs(b - x); });
  }
  Place place(int step) const {
    Place p;
    (along == Along::intensity ? p.iterations
     : along == Along::tile    ? p.threads
                               : p.stages) = along == Along::tile ? 32 * step : step;
    return p;
  }
  /// In the unit of the axis. Also of steps that are no place, beyond the range.
  double value(double step) const {
    return along == Along::intensity ? 0.25 * step : along == Along::tile ? 1024 * step : step;
  }
  double never() const { return value(to ? low() / 2 : 2 * high()); }
  double everywhere() const { return value(to ? high() : low()); }
};

class Search {
 public:
  Search(Axis axis, Mechanism m, Occupancy occupancy, std::size_t bytes, const Device& d, Stream s)
      : axis_(axis), mechanism_(m), occupancy_(occupancy), bytes_(bytes), device_(d), stream_(s) {}

  double crossover() {
    const int sign = axis_.to ? -1 : 1;
    const Crossover found = bisect_crossover(axis_.low(), axis_.high(), 0.1, [&](double x) {
      return faster(axis_.step_at(x)) ? sign : -sign;
    });
    const bool nowhere =
        found.kind == (axis_.to ? Crossover::Kind::always_after : Crossover::Kind::always_before);
    if (nowhere) return axis_.never();
    const double end = axis_.to ? found.at.low : found.at.high;
    return axis_.value(axis_.step_at(end));
  }

 private:
  struct Pair {
    Run plain, other;
  };
  Pair& pair_at(int step) {
    const auto known = pairs_.find(step);
    if (known != pairs_.end()) return known->second;
    const Place p = axis_.place(step);
    const auto run = [&](Mechanism m) {
      return Run(staged<chunks>(m, p.threads, p.stages, occupancy_), bytes_, device_, stream_);
    };
    return pairs_.emplace(step, Pair{run(Mechanism::plain), run(mechanism_)}).first->second;
  }
  bool faster(int step) {
    const Pair& pair = pair_at(step);
    const int iterations = axis_.place(step).iterations;
    for (int r = 0; r < rounds; ++r) {
      const bool plain_first = r % 2 == 0;
      const double first = (plain_first ? pair.plain : pair.other).sample(iterations).value;
      const double second = (plain_first ? pair.other : pair.plain).sample(iterations).value;
      if ((plain_first ? second <= first : first <= second)) return false;
    }
    return true;
  }

  Axis axis_;
  Mechanism mechanism_;
  Occupancy occupancy_;
  std::size_t bytes_;
  Device device_;
  Stream stream_;
  std::map<int, Pair> pairs_;
};

void add(std::vector<Point>& points, const Axis& axis, Mechanism m, Occupancy occupancy,
         const Device& device) {
  const std::size_t bytes = array_bytes(device, std::size_t{512} << 20);
  const Place base;
  Point& p =
      add_point(points,
                {{"along", name_of(axis.along)},
                 {"bound", axis.to ? "to" : "from"},
                 {"mechanism", name_of(m)},
                 {"occupancy", name_of(occupancy)},
                 {"bytes", std::to_string(bytes)}},
                "crossover", unit_of(axis.along), axis.to ? Better::larger : Better::smaller);
  p.runs_from = runs_from(m);
  const Place end = axis.place(axis.step_at(axis.high()));
  const std::size_t most = staged<chunks>(m, end.threads, end.stages, occupancy).needed_bytes();
  if (most > device.shared_per_block) {
    p.unsupported = "a block cannot have the " + std::to_string(most) +
                    " bytes of shared memory that the end of the range needs";
  }
  for (const Mechanism either : {Mechanism::plain, m}) {
    const Shape s = staged<chunks>(either, base.threads, base.stages, occupancy);
    p.kernels.push_back(
        kernel_use(s.kernel, s.threads, s.dynamic_bytes(device), 1, s.tile_bytes()));
    for (Claim claim : claims_of(s)) {
      claim.kernel = p.kernels.size() - 1;
      p.claims.push_back(claim);
    }
  }
  p.prepare = [=](const Device& d, Stream stream) -> Sampling {
    auto search = std::make_shared<Search>(axis, m, occupancy, bytes, d, stream);
    return [search] { return Reading{search->crossover()}; };
  };
}

constexpr std::array axes{Axis{Along::intensity, true}, Axis{Along::intensity}, Axis{Along::tile},
                          Axis{Along::stages}};

std::vector<Point> points(const Device& device, Scope scope) {
  const bool quick = scope == Scope::quick;
  std::vector<Point> all;
  for (const Axis& axis : axes) {
    for (const Occupancy occupancy : {Occupancy::full, Occupancy::low}) {
      for (const Mechanism m : staged_mechanisms) {
        if (m == Mechanism::plain || (axis.along == Along::stages && !overlaps(m))) continue;
        const bool in_quick = axis.along == Along::intensity
                                  ? axis.to == (occupancy == Occupancy::low)
                                  : axis.along == Along::tile && occupancy == Occupancy::low;
        if (!quick || in_quick) add(all, axis, m, occupancy, device);
      }
    }
  }
  return all;
}

/// The values in words.
std::vector<Finding> findings(const Device&, const std::vector<MeasuredPoint>& measured) {
  std::vector<Finding> found;
  for (const MeasuredPoint& p : measured) {
    for (const Axis& axis : axes) {
      const std::string bound = axis.to ? "to" : "from";
      if (value_of(p.at, "along") != name_of(axis.along) || value_of(p.at, "bound") != bound) {
        continue;
      }
      const char* how = axis.to ? "Measurably faster than plain up to here"
                                : "Measurably faster than plain from here on";
      if (p.value == axis.never()) {
        how = axis.to ? "Not measurably faster than plain at the least intensity"
                      : "Not measurably faster than plain at the end of the range";
      } else if (p.value == axis.everywhere()) {
        how = "Measurably faster than plain over the whole range";
      }
      const double low = axis.value(axis.low()), high = axis.value(axis.high());
      found.push_back({{{"along", name_of(axis.along)},
                        {"bound", bound},
                        {"mechanism", value_of(p.at, "mechanism")},
                        {"occupancy", value_of(p.at, "occupancy")}},
                       "crossover",
                       p.unit,
                       p.value,
                       std::min(low, p.value),
                       std::max(high, p.value),
                       std::string(how) + "; low and high: the range searched"});
    }
  }
  return found;
}

const bool registered = register_microbenchmark(
    {"async_copy/crossover",
     "From which tile, how many stages and which arithmetic intensity on is an asynchronous copy "
     "faster than a plain one, and up to which intensity?",
     "Bisection over the intensity, the tile and the stages of a pass x -> x/2 + 1/2 over 512 MiB; "
     "at each place plain and the mechanism run seven times in turn, caches displaced, and the "
     "mechanism is faster if it is in all seven. Repeated for every sample. A mechanism that is "
     "not faster at the end of the range has a value beyond it.",
     points, findings});

}  // namespace
}  // namespace amasia::async_copy
