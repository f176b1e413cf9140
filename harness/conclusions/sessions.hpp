// The sessions of a file: which session, GPU and code a group or row is of, and which session a
// table shows. How far rows move between sessions is for python -m plots.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// The session of a group or microbenchmark: its record, or what the provenance says.
SessionRecord session_of(const Provenance& provenance, const std::optional<int>& session);

/// The hash of the UUID of the GPU that a group, or a microbenchmark, was measured on.
std::string gpu_of(const Provenance& provenance, const GroupResult& group);
std::string gpu_of(const Provenance& provenance, const MicrobenchmarkResult& result);

/// The digest of the code: what was recorded with the row, or else of its variant.
std::string code_of(const Provenance& provenance, const Row& row);
std::string code_of(const Provenance& provenance, const MicrobenchmarkResult& result);

/// One group for each case, the first session in which it is valid, if no other has more variants
/// or the rounds that it lacks: what a table shows.
std::vector<const GroupResult*> shown_groups(const ResultFile& file);
/// The same of microbenchmarks.
std::vector<const MicrobenchmarkResult*> shown_microbenchmarks(const ResultFile& file);

}  // namespace amasia
