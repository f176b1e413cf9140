// The rows of one group against each other: which samples count, which row is the reference of
// which, and the paired ratio of the two.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// A GPU held at its power limit throttles every run of a heavy kernel: then that is its speed, and
/// the marks stay as a remark.
bool always_throttled(const Row& row);

/// Times in ms of the samples that count: those not throttled, or all when all were.
std::vector<double> usable_times(const Row& row);

/// Times of two rows in the rounds where both have a usable sample: first of `a`, then of `b`. Both
/// have their samples in the order of the rounds.
std::pair<std::vector<double>, std::vector<double>> paired_times(const Row& a, const Row& b);

/// The row that `row` is compared with: the baseline in its role (for a comparator the tuned one),
/// at matched and cross of the same schedule. nullptr where there is none, and for the baseline
/// itself.
const Row* reference_of(const std::vector<Row>& rows, const Row& row);

struct RowPair {
  const Row* row = nullptr;
  const Row* reference = nullptr;
  Role role = Role::iso;  // of their comparison
};

/// The rows that a comparison is of; nothing when there are none that would be compared so.
std::optional<RowPair> rows_of(const std::vector<Row>& rows, const Comparison& comparison);

/// Every row against its reference, reference / row, at a joint confidence; a best row also against
/// the baseline matched to its schedule, a comparator against the strategy that it implements, in
/// the config of the same name. Candidates are not compared.
std::vector<Comparison> compare_rows(const std::vector<Row>& rows, double joint_confidence,
                                     std::optional<IntervalRule> rule = {});

/// What a row's median is known by, under the same rule. Throws as median_interval().
MedianInterval time_of(const Row& row, double confidence, std::optional<IntervalRule> rule);

/// The first run of a row over its second, in the rounds that have both; nothing where none has.
std::optional<RatioInterval> against_itself(const Row& row, double confidence);

}  // namespace amasia
