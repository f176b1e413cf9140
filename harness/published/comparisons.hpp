// Which published value stands beside which of ours: inputs/published/comparisons.csv.
#pragma once

#include <string>
#include <vector>

namespace amasia {

/// A published value beside one of ours, and what makes the two agree. The head of comparisons.csv
/// explains the words.
struct PublishedComparison {
  std::string id;     // of the inventory
  std::string label;  // "L1 latency"
  std::string file, where, column;
  std::string own;   // a selector, or two with " / " between
  double scale = 1;  // published x scale is in our unit
  std::string gpu;   // whose value it is; "" where the statement is of no single GPU
  std::string relation;
  double tolerance = 0;  // in percent
  std::string basis;
};
const std::vector<PublishedComparison>& published_comparisons();

/// A published value, where low = high, or a range; in our unit.
struct PublishedRange {
  double low = 0, high = 0;
};
/// The number in that cell, the quotient of two cells, or a range. Throws ResultError unless
/// exactly one row matches each and its cell is a number.
PublishedRange published_range(const PublishedComparison& comparison);

/// "agrees within 10 %", "differs", or why neither follows from `own`, measured on a GPU of compute
/// capability `architecture`.
std::string verdict_of(const PublishedComparison& comparison, double own, int architecture);

}  // namespace amasia
