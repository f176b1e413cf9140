// How the microbenchmarks write down points and findings. Without a device.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "harness/microbenchmark.hpp"
#include "microbench/curve.hpp"

namespace amasia {

enum class Better { smaller, larger };

/// A point still without kernels, claims and preparation.
inline Point new_point(Coordinates at, std::string quantity, std::string unit,
                       Better better = Better::smaller) {
  Point p;
  p.at = std::move(at);
  p.quantity = std::move(quantity);
  p.unit = std::move(unit);
  p.larger_is_better = better == Better::larger;
  return p;
}
/// The same at the end of `points`.
inline Point& add_point(std::vector<Point>& points, Coordinates at, std::string quantity,
                        std::string unit, Better better = Better::smaller) {
  return points.emplace_back(
      new_point(std::move(at), std::move(quantity), std::move(unit), better));
}

/// At least so many of an instruction, where compilers differ in how they do it.
inline Claim at_least(int count, std::string sass, std::string ptx, bool in_loop = true) {
  return {std::move(sass), std::move(ptx), count, in_loop, 0, -1, true};
}

/// A finding that has no interval.
inline Finding single_finding(Coordinates at, std::string quantity, std::string unit, double value,
                              std::string how) {
  return {std::move(at), std::move(quantity), std::move(unit), value, value, value, std::move(how)};
}

/// The mean of `values`, at least one; low and high are the extremes.
inline Finding mean_finding(Coordinates at, std::string quantity, std::string unit,
                            const std::vector<double>& values, std::string how) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {std::move(at),
          std::move(quantity),
          std::move(unit),
          sum / static_cast<double>(values.size()),
          *low,
          *high,
          std::move(how)};
}

/// Whether a point has all of these coordinates.
inline bool has(const MeasuredPoint& p, const Coordinates& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const auto& w) { return value_of(p.at, w.first) == w.second; });
}

/// The value of the first point that has all of these coordinates; 0, which no point has: none.
inline double value_at(const std::vector<MeasuredPoint>& measured, const Coordinates& wanted) {
  const auto found = std::find_if(measured.begin(), measured.end(),
                                  [&](const MeasuredPoint& p) { return has(p, wanted); });
  return found == measured.end() ? 0 : found->value;
}

/// Values against coordinate `along`, of the points that have all of these coordinates.
inline std::vector<Abscissa> curve_along(const std::vector<MeasuredPoint>& measured,
                                         std::string_view along, const Coordinates& wanted) {
  std::vector<Abscissa> curve;
  for (const MeasuredPoint& p : measured) {
    if (has(p, wanted)) curve.push_back({std::stod(value_of(p.at, along)), p.value});
  }
  return curve;
}

}  // namespace amasia
