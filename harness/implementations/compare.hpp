// Two or more implementations of another language against each other, in this process: registered
// as an app for as long as they are measured, by the sampler, schedule and statistics of every app.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/app.hpp"
#include "harness/errors.hpp"
#include "harness/plan/plan.hpp"
#include "harness/results/result.hpp"

namespace amasia {

/// A callable ended with an exception of its language, which its caller keeps. Nothing more is
/// called.
class ImplementationFailed : public UsageError {
 public:
  using UsageError::UsageError;
};

/// What to compare, and how. The functions throw ImplementationFailed.
struct Implementations {
  std::string name = "callables";    // of the problem, as results call it
  std::vector<std::string> names{};  // of the implementations; the first is the baseline
  /// What tells this case from others: at least one pair of a name and an integer or a word.
  std::vector<std::pair<std::string, std::string>> size{{"case", "1"}};
  /// Enqueues the work of one of them on the stream.
  std::function<void(std::size_t implementation, Stream)> enqueue;
  /// Restores inputs and poisons outputs, on the stream. Empty member: every run may follow
  /// another.
  std::function<void(Stream)> reset{};
  /// Enqueues new inputs that belong to the seed, for reset, runs and verify. Empty member: they
  /// are the same in every round.
  std::function<void(Stream, std::uint64_t seed)> inputs{};
  /// Judges the outputs of the last run; what is wrong with them, "" for nothing. Empty member:
  /// nobody knows whether a run was right.
  std::function<std::string()> verify{};
  std::function<void(const std::string& line)> progress{};
  std::optional<Stream> stream{};  // to run on; nothing: one of the harness
  std::optional<Work> work{};      // of one run, for its rates
  CacheMode cache = CacheMode::cold;
  Effort effort{};
  int device = 0;
  std::vector<std::string> argv{};  // of the program, for the result
};

/// The result, as a file of one group. Throws UsageError for bad names, NoDevice with the reason,
/// and what the functions throw. What is wrong with an implementation is in the status of its row.
ResultFile compare_implementations(const Implementations& implementations);

/// What a comparison of that group says, in a sentence with the names of the implementations:
/// "new ran 1.18x [1.16, 1.20] faster than old". Of the control: what the baseline differs from
/// itself.
std::string answer(const Comparison& comparison, const std::string& baseline);

}  // namespace amasia
