// A file is believed where its samples bear it out.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "harness/results/result.hpp"

namespace amasia {

/// Recomputes all that follows from the samples: ceilings, medians with their intervals, rates,
/// floors and shares of them, comparisons with verdict and claim, and which comparisons there are.
/// (Not the findings of a microbenchmark: those follow by its code.) Throws ResultError naming the
/// first that differs, e.g. "groups[3].comparisons[1].speedup.ratio: expected 1.249, as the samples
/// have it, found 9.99 (hotspot rows=512,cols=512 cold stream, hotspot/tma best against
/// hotspot/baseline)".
void check_summaries(const ResultFile& file);

// Read and checked; what the claims are is said anew. Errors are ResultError "path:line:column:
// what" in the syntax, "path: member: what" in the content.
ResultFile result_from_json(nlohmann::ordered_json);  // without "path: "
ResultFile result_from_text(const std::string& text, const std::string& path);
ResultFile read_result_file(const std::string& path);

/// The joint confidence of the comparisons of a group, as it was asked for. Throws ResultError for
/// what is no confidence.
double asked_confidence(const Provenance& provenance);

}  // namespace amasia
