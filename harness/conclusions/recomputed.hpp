// Reading result files. What follows from the samples is computed anew, whatever the file says.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "harness/results/result.hpp"

namespace amasia {

/// Sets all that follows from the samples: ceilings, medians with their intervals, rates, shares of
/// floors, comparisons with verdict and claim, by the newest rule of intervals. (Not the floors of
/// a merged file, each from the ceilings of its part, nor the findings of a microbenchmark, which
/// follow by its code.) Throws ResultError naming the member that nothing can be computed from.
void recompute(ResultFile& file);

// Read and recomputed. Errors are ResultError "path:line:column: what" in the syntax,
// "path: member: what" in the content.
ResultFile result_from_json(nlohmann::ordered_json);  // without "path: "
ResultFile result_from_text(const std::string& text, const std::string& path);
ResultFile read_result_file(const std::string& path);

/// The joint confidence of the comparisons of a group, as it was asked for. Throws ResultError for
/// what is no confidence.
double asked_confidence(const Provenance& provenance);

/// Sets all that follows from the samples, the work and the floor of a group. `confidence`: joint,
/// of all comparisons; of each median on its own.
void recompute(GroupResult& group, double confidence);

/// Judges a group that was read, whatever rule of intervals it was written by, as it would be
/// judged now: intervals, verdicts and claims.
void judge_anew(GroupResult& group, double confidence);

/// Sets the medians that follow from the samples of each point.
void recompute(MicrobenchmarkResult& result, double confidence);

/// Floor / median, nothing when either is not known.
std::optional<double> share_of_floor(const std::optional<Floor>& floor, const Row& row);

}  // namespace amasia
