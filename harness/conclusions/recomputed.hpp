// Reading result files. What follows from the samples is computed anew, whatever the file says.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/app.hpp"
#include "harness/results/result.hpp"

namespace amasia {

/// Sets all that follows from the samples: ceilings, medians with their intervals, rates, shares of
/// floors, comparisons with verdict and claim, by the newest rule of intervals. (Not the floors of
/// a merged file, each from the ceilings of its part, nor the findings of a microbenchmark, which
/// follow by its code.) Throws ResultError naming the member that nothing can be computed from.
void recompute(ResultFile& file);

// Read and recomputed. Errors are ResultError "path:line:column: what" in the syntax,
// "path: member: what" in the content.
ResultFile result_from_json(Json);  // without "path: "
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

// The bound (roofline floor) of this GPU for an app's work, from ceilings measured on it
// (docs/methodology.md, "Floor and rates").

/// Floors in ms from the ceilings of the same result file, by name and unit.
///   `read_bandwidth`, `write_bandwidth`, `copy_bandwidth`: GB/s (1e9), bytes read + written.
///   `fp32_rate`, `tf32_rate`, `bf16_rate`, `e4m3_rate`: GFLOP/s. `int32_rate`: Gop/s (1e9).
///   `dependent_op_ns`: ns of one operation that waits for the last.
/// Traffic with a written share f is timed as a mixture of the two nearest measured streams (f = 0
/// read, f = 1/2 copy, f = 1 write). The answer is nullopt when a ceiling that this work needs is
/// missing or not positive. A ceiling with no work to bound is not needed.
std::optional<Floor> compute_floor(const Work& work, const std::vector<Ceiling>& ceilings);

/// The ceiling that bounds operations of this kind: "tf32_rate", of tf32x3 as well, which has a
/// third of it.
std::string rate_of(Work::Kind kind);

/// Whether a ceiling is a rate of the tensor cores. These run at the power limit, so they show
/// how warm the GPU was; the others show how fast it is.
bool is_tensor_rate(std::string_view ceiling);

}  // namespace amasia
