// Which published value stands beside which of ours: inputs/published/comparisons.csv.
#pragma once

#include <string>
#include <vector>

namespace amasia {

/// A published value beside one of ours.
struct PublishedComparison {
  std::string id;     // of the inventory
  std::string label;  // "L1 latency, H800"
  std::string file, where, column;
  std::string own;   // a selector, or two with " / " between
  double scale = 1;  // published x scale is in our unit
};
const std::vector<PublishedComparison>& published_comparisons();
/// The number in that cell, scaled. Throws ResultError unless exactly one row matches and its cell
/// is a number.
double published_value(const PublishedComparison& comparison);

/// Own value over a published one, and how to say it. `published` is in `own`'s unit after `scale`.
struct PublishedRatio {
  double ratio = 0;
  bool notable = false;  // further than 1.5x either way: needs an explanation
};
PublishedRatio against_published(double own, double published);

}  // namespace amasia
