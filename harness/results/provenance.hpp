// Where a result comes from: the command, the commit, the compilers, and a digest of the code of
// each variant. The digests are computed by cmake/source_digests.cmake as a build step.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// "app/strategy" -> SHA-256 (hex) over apps/<app>/<strategy>.cu and what it includes from apps/
/// and variants/, comments and blank space normalised away: two builds agree on a digest exactly
/// when the variant's code is the same. Covers every variant in the source tree, built or not.
const std::map<std::string, std::string>& source_digests();

/// "question/name" -> the same over microbench/<question>/<name>.cu and what it includes from
/// microbench/ and variants/.
const std::map<std::string, std::string>& microbenchmark_digests();

/// Digest of one variant or microbenchmark, "" when the source tree has none of that name (a
/// comparator has one, too: it is a file apps/<app>/<library>.cu).
std::string source_digest(const std::string& name);

/// The same over harness/ and inputs/: what times, verifies and generates.
const std::string& harness_digest();

/// Everything known without a GPU. `device` and `device_state` are left for the caller; the host
/// name is recorded only when `record_host`, and of absolute paths in argv only the last component.
Provenance collect_provenance(const std::vector<std::string>& argv, const std::string& study,
                              const std::map<std::string, std::string>& settings,
                              bool record_host = false);

/// Now, "2026-11-21T09:30:00Z".
std::string utc_now();

}  // namespace amasia
