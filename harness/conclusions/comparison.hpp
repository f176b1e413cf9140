// The rows of one group against each other: which samples count, which row is the reference of
// which, and the paired ratio of the two.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

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

/// The verdict after the A/A control, which is among `comparisons`: within the noise when the ratio
/// is no larger than what the baseline of that role, or the row, differs from itself.
SpeedClaim claim_of(const std::vector<Comparison>& comparisons, const Comparison& comparison);

/// Where nothing is claimed and the interval holds 1 closely, the share by which the two differ at
/// most: a tie. Nothing for a wider interval, and for one of too few rounds.
std::optional<double> most_difference(const Comparison& comparison);
inline constexpr double most_of_a_tie = 0.02;

/// "drift: baseline took 1.2 times as long ...; let the GPU cool down ..."
std::string to_string(const Invalidity& invalidity);

/// Why a microbenchmark is not valid ("not valid: drift: ..."), then its warnings.
std::vector<std::string> reservations(const MicrobenchmarkResult& result);

/// The claims of a group's comparisons; of an invalid group, that there is none.
void set_claims(GroupResult& group);

// What a strategy gains at its best, divided into what its schedule gains and what its way of
// moving data gains.

/// Of one strategy in one group. Each ratio was measured in pairs in the same rounds, so `total` is
/// `by_schedule` times `by_movement` but for noise.
struct Gain {
  std::string variant;
  std::string schedule;           // that the strategy is best with
  std::string baseline_schedule;  // that the baseline is best with
  /// best / best.
  const Comparison* total = nullptr;
  /// The baseline with the strategy's schedule against the baseline at its best; nullptr where both
  /// are best with the same schedule: then the gain is 1, and all of the total is movement.
  const Comparison* by_schedule = nullptr;
  /// Both with the strategy's schedule.
  const Comparison* by_movement = nullptr;
  /// Both with the baseline's schedule; nullptr where the strategy cannot run it, or runs it best.
  const Comparison* at_baseline_schedule = nullptr;
};

/// Of every strategy whose movement gain was measured, in the order of the rows. The pointers point
/// into `group`.
std::vector<Gain> gains_of(const GroupResult& group);

}  // namespace amasia
