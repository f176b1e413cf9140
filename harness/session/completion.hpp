// What the parent adds to what a child measured, the same way for groups and microbenchmarks:
// medians and comparisons from the samples, then source digests, the instructions in the machine
// code, floors, proofs and findings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/evidence/evidence.hpp"
#include "harness/plan/plan.hpp"

namespace amasia {

/// Medians and intervals from the samples; of a group also rates, comparisons, and a warning where
/// the control differs from the baseline or rounds depend on each other.
void summarise(GroupResult& result, double confidence);

/// Adds everything but the summaries, which it expects to be there.
class Completion {
 public:
  /// `code`: the machine code of this executable, read as far as it is asked for.
  Completion(Device device, std::vector<Ceiling> ceilings, CodeEvidence code);

  /// Floors from the ceilings, instruction counts.
  void complete(GroupResult& result);
  /// Floors alone.
  void bound(GroupResult& result) const;
  /// Counts the claimed instructions, then draws the findings. A row whose claim is wrong becomes
  /// `failed` and loses its value. The row's remark names code that cannot be read.
  void complete(MicrobenchmarkResult& result, const std::vector<Point>& points);
  /// Of one point what the above does before the findings.
  void prove(MicrobenchmarkRow& row, const Point& point);

 private:
  static void count_instructions(CodeEvidence& counted,
                                 const std::vector<std::vector<KernelEvidence>*>& evidence);

  Device device_;
  std::vector<Ceiling> ceilings_;
  CodeEvidence code_;                            // of this executable
  std::map<std::string, CodeEvidence> files_{};  // of files that implementations were loaded from
};

}  // namespace amasia
