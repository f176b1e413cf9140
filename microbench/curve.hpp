// What microbenchmarks compute from their readings, without a device: slopes over chain lengths,
// the knee of a curve, where two curves cross, a value against a published one.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace amasia {

/// One point of a curve.
struct Abscissa {
  double x = 0;
  double y = 0;
};

/// dy/dx by least squares: what one more link, byte or launch costs, with whatever is paid once
/// (clock reads, start, drain) in the intercept. Throws std::invalid_argument unless there are two
/// different x.
double slope_of(const std::vector<Abscissa>& points);

/// Least x from which y stays at or above `share` of its maximum, between measured points by
/// interpolation (logarithmic in x): the bytes in flight that saturate a bandwidth. Sorted by x
/// inside. Throws std::invalid_argument without points or with an x that is not positive.
double saturation_of(std::vector<Abscissa> points, double share);

/// An interval in which something happens.
struct Bracket {
  double low = 0;
  double high = 0;
};

/// The points around a knee: the first with at least `share` of the greatest y, and the one before
/// it, or the first itself where there is none. `points` is in the order of x.
Bracket knee_of(const std::vector<Abscissa>& points, double share);

/// Which side of a crossover one x lies on: -1 before it, +1 after, 0 not resolved.
using Side = std::function<int(double x)>;

struct Crossover {
  enum class Kind { between, always_before, always_after, not_resolved } kind = Kind::between;
  Bracket at{};         // the true crossover lies inside, as far as `side` is right
  int evaluations = 0;  // of `side`
};

/// Bisects [low, high] (logarithmically when both are positive) until the bracket's ends are within
/// `resolution` of each other (high/low - 1), or a middle is not resolved: then what is left is the
/// interval. Throws std::invalid_argument unless low < high and resolution > 0.
Crossover bisect_crossover(double low, double high, double resolution, const Side& side);

}  // namespace amasia
