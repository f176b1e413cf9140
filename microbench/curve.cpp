#include "microbench/curve.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

namespace amasia {
namespace {

double greatest_y(const std::vector<Abscissa>& points) {
  const auto less = [](const Abscissa& a, const Abscissa& b) { return a.y < b.y; };
  return std::max_element(points.begin(), points.end(), less)->y;
}

}  // namespace

double slope_of(const std::vector<Abscissa>& points) {
  double mean_x = 0, mean_y = 0;
  const auto n = static_cast<double>(points.size());
  for (const Abscissa& p : points) {
    mean_x += p.x / n;
    mean_y += p.y / n;
  }
  double xx = 0, xy = 0;
  for (const Abscissa& p : points) {
    xx += (p.x - mean_x) * (p.x - mean_x);
    xy += (p.x - mean_x) * (p.y - mean_y);
  }
  if (points.size() < 2 || !(xx > 0)) {
    throw std::invalid_argument("slope_of: needs two different x");
  }
  return xy / xx;
}

double saturation_of(std::vector<Abscissa> points, double share) {
  if (points.empty()) throw std::invalid_argument("saturation_of: no points");
  std::stable_sort(points.begin(), points.end(),
                   [](const Abscissa& a, const Abscissa& b) { return a.x < b.x; });
  if (!(points.front().x > 0)) throw std::invalid_argument("saturation_of: x must be positive");
  const double level = share * greatest_y(points);
  // From the right: a dip after the knee moves the knee, a lucky point before it does not.
  std::size_t first = points.size() - 1;
  while (points[first].y < level) --first;  // falls again at the end: the knee is before
  while (first > 0 && points[first - 1].y >= level) --first;
  if (first == 0) return points.front().x;
  const Abscissa &a = points[first - 1], &b = points[first];
  const double part = (level - a.y) / (b.y - a.y);
  return a.x * std::pow(b.x / a.x, part);
}

Bracket knee_of(const std::vector<Abscissa>& points, double share) {
  if (points.empty()) throw std::invalid_argument("knee_of: no points");
  const double level = share * greatest_y(points);
  const auto first =
      std::find_if(points.begin(), points.end(), [&](const Abscissa& p) { return p.y >= level; });
  return {first == points.begin() ? first->x : std::prev(first)->x, first->x};
}

Crossover bisect_crossover(double low, double high, double resolution, const Side& side) {
  if (!(low < high) || !(resolution > 0)) {
    throw std::invalid_argument("bisect_crossover: needs low < high and a positive resolution");
  }
  Crossover found;
  const auto ask = [&](double x) {
    ++found.evaluations;
    return side(x);
  };
  found.at = {low, high};
  const int at_low = ask(low);
  if (at_low > 0) {
    found.kind = Crossover::Kind::always_after;
    found.at = {low, low};
    return found;
  }
  const int at_high = ask(high);
  if (at_high < 0) {
    found.kind = Crossover::Kind::always_before;
    found.at = {high, high};
    return found;
  }
  if (at_low == 0 || at_high == 0) {
    found.kind = Crossover::Kind::not_resolved;
    return found;
  }
  const bool logarithmic = low > 0;
  constexpr int most = 60;  // halvings of a double's mantissa
  for (int i = 0; i < most; ++i) {
    Bracket& b = found.at;
    const bool near = logarithmic ? b.high / b.low - 1 <= resolution : b.high - b.low <= resolution;
    if (near) break;
    const double middle = logarithmic ? std::sqrt(b.low * b.high) : (b.low + b.high) / 2;
    const int which = ask(middle);
    if (which == 0) break;
    (which < 0 ? b.low : b.high) = middle;
  }
  return found;
}

}  // namespace amasia
