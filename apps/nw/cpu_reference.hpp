// The CPU references of nw, two of them, and how a result is judged by them.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/nw/nw.hpp"

namespace amasia::nw {

/// The next row of scores in place: `row` holds row r - 1 (r = 0: border) and becomes row r,
/// interior only. O(cols) memory for the reference of any size.
void advance_row(const Sequences& s, std::int64_t r, int penalty, std::vector<int>& row);

/// Row -1: the upper border, as advance_row() takes it.
std::vector<int> border_row(std::int64_t cols, int penalty);

/// All interior scores by another route: columns from left to right, every cell pushing what it is
/// worth to its three successors instead of pulling from three predecessors; 64 bits. For checking.
std::vector<std::int64_t> scores_by_relaxation(const Sequences& s, int penalty);

/// Adds one row to a verdict.
void compare_row(const int* got, const std::vector<int>& expected, std::int64_t row,
                 Verdict& verdict);

/// The verdict of comparing the two references with each other, which `verify --reference` reports.
Verdict check_references(const Parameters& p, std::uint64_t seed);

}  // namespace amasia::nw
