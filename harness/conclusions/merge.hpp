// Result files joined: the shards of a campaign that was split over machines, and repeated runs of
// the same cases as sessions of one file.
#pragma once

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
/// Files without a case in common are parts of one campaign: settings (but for the shard), harness
/// and sources must agree.
/// Files with cases in common are sessions, in the order of their dates; shards of one campaign are
/// one session. Settings and commits may differ, but not the confidence. A row whose code is not
/// that of the newest session stays out with a note.
/// Ceilings are pooled; floors stay those of their file. Throws ResultError naming the two files
/// that do not fit, or that both have the same case of a session.
Merged merge(const std::vector<ResultFile>& files, const std::vector<std::string>& names);

}  // namespace amasia
