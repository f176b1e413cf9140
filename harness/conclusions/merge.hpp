// Result files joined: the shards of a campaign that was split over machines, and repeated runs of
// the same cases as sessions of one file.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

struct Merged {
  ResultFile file{};
  /// What a reader of the file must know and could not tell: sessions that lack a case, and rows
  /// that stayed out, each with the reason.
  std::vector<std::string> notes{};
};

/// Joins result files of one GPU type, build and driver. `names` are for messages.
///
/// Files without a case in common are parts of one campaign: settings (but for the shard), harness
/// and sources must agree. Groups are taken in turn from each file, and groups from another GPU of
/// the type say so in a warning.
///
/// Files that have cases in common are sessions, in the order of their dates, of which shards of
/// one campaign are one. Their settings may differ but for the confidence, and so may their
/// commits: a row joins the sessions when the digest of its code is that of the newest session that
/// has the variant, and stays out with a note when it is not. A session that lacks some cases is
/// said.
///
/// Ceilings are pooled: all samples, one median; floors stay those of the file a group came from.
/// Throws ResultError naming the two files that do not fit or that both have the same session of a
/// group.
Merged merge(const std::vector<ResultFile>& files, const std::vector<std::string>& names);

/// What a file has of some apps: their groups, sources and sessions. Ceilings stay, microbenchmarks
/// do not.
ResultFile only_apps(ResultFile file, const std::set<std::string>& apps);

/// A file without the rows of some variants, and the rest as if they had not been there: intervals
/// of a group hold jointly, for as many claims as it has. For rows whose code has changed.
ResultFile without_variants(ResultFile file, const std::set<std::string>& variants);

/// The file alone.
ResultFile merge_files(const std::vector<ResultFile>& files, const std::vector<std::string>& names);

}  // namespace amasia
