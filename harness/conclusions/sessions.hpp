// Whether results of two runs may be in one file, and the sessions of a file: which session, GPU
// and code a group or row is of, and which session a table shows. How far rows move between
// sessions is for python -m plots.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// The session of a group or microbenchmark: its record, or what the provenance says.
SessionRecord session_of(const Provenance& provenance, const std::optional<int>& session);

/// The hash of the UUID of the GPU that a group, or a microbenchmark, was measured on.
template <class Result>
std::string gpu_of(const Provenance& provenance, const Result& result) {
  return result.uuid_hash.empty() ? session_of(provenance, result.session).uuid_hash
                                  : result.uuid_hash;
}

/// The digest of the code: what was recorded with the row, or else of its variant.
std::string code_of(const Provenance& provenance, const Row& row);
std::string code_of(const Provenance& provenance, const MicrobenchmarkResult& result);

/// One group for each case, the first session in which it is valid, if no other has more variants
/// or the rounds that it lacks: what a table shows.
std::vector<const GroupResult*> shown_groups(const ResultFile& file);
/// The same of microbenchmarks.
std::vector<const MicrobenchmarkResult*> shown_microbenchmarks(const ResultFile& file);

/// Settings in which the shards of one campaign differ.
inline const std::set<std::string> shard_settings{"shard"};

/// The first reason why not, as a phrase ("setting precision: 0.01 against 0.005"); nullopt when
/// the two agree in settings (but those in `ignored`), build, GPU type, driver, harness code and
/// the code of `variants`. With `same_gpu` it must be the very GPU, not only its type.
std::optional<std::string> disagreement(const Provenance& a, const Provenance& b,
                                        const std::set<std::string>& variants, bool same_gpu,
                                        const std::set<std::string>& ignored = {});

/// The same of two sessions of the same cases: GPU type, driver, CUDA compiler and confidence must
/// agree. The code is compared row by row.
std::optional<std::string> session_disagreement(const Provenance& a, const Provenance& b);

/// Every variant with a row and every microbenchmark: names whose sources must agree.
std::set<std::string> measured_code(const ResultFile& file);

// Result files joined: the shards of a campaign that was split over machines, and repeated runs of
// the same cases as sessions of one file.

struct Merged {
  ResultFile file{};
  /// What a reader of the file must know and could not tell: sessions that lack a case, and rows
  /// that stayed out, each with the reason.
  std::vector<std::string> notes{};
};

/// Joins result files of one GPU type, build and driver. `names` are for messages.
/// Files without a case in common are parts of one campaign: settings (but for the shard), harness
/// and sources must agree.
/// Files with cases in common are sessions, in the order of their dates; shards of one campaign are
/// one session. Settings and commits may differ, but not the confidence. A row whose code is not
/// that of the newest session stays out with a note.
/// Ceilings are pooled; floors stay those of their file. Throws ResultError naming the two files
/// that do not fit, or that both have the same case of a session.
Merged merge(const std::vector<ResultFile>& files, const std::vector<std::string>& names);

}  // namespace amasia
