// Where a result comes from: the command, the commit, the compilers, and a digest of the code of
// each variant. The digests are computed by cmake/digests/ as a build step.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// "app/strategy" -> SHA-256 (hex) over all that can change what is timed, judged or bounded: the
/// variant with its includes, the app, the ceilings, the compiler's options. By content, without
/// names, format and comments. Of every variant in the source tree, built or not, and of apps
/// outside it.
std::map<std::string, std::string> source_digests();

/// "question/name" -> the same of microbench/<question>/<name>.cu, what it includes and its
/// options.
const std::map<std::string, std::string>& microbenchmark_digests();

/// Digest of one variant, comparator or microbenchmark, "" when neither the source tree nor an app
/// outside it has one of that name.
std::string source_digest(const std::string& name);

/// The same over harness/ and inputs/ with what they include: what times, generates and compares.
const std::string& harness_digest();

/// An argument in which each absolute path is its last component alone, also behind a "=": the rest
/// tells whose machine this was (home folders carry names) and nothing of the run.
std::string without_folders(std::string_view argument);

/// Adds to `p`, which has the device and its state, what is known without a GPU. The host name is
/// recorded only when `record_host`, and of absolute paths in argv only the last component.
Provenance collect_provenance(const std::vector<std::string>& argv, const std::string& study,
                              const std::map<std::string, std::string>& settings,
                              bool record_host = false, Provenance p = {});

/// Of the project, as `--version` tells it.
std::string_view suite_version();

/// Now, "2026-11-21T09:30:00Z".
std::string utc_now();

/// Whether this is a date in that form which the calendar has.
bool is_date(const std::string& text);

}  // namespace amasia
