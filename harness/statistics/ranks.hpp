// Medians and ranks of series.
#pragma once

#include <vector>

namespace amasia {

/// Place 0, 1, ... of each value in ascending order; equal values share the mean of their places.
std::vector<double> ranks_of(const std::vector<double>& values);

/// The mean of the two middle values where their number is even. `values` is not empty.
double median_of(std::vector<double> values);

}  // namespace amasia
