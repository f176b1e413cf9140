// A campaign split over machines: which groups a shard runs, and its result files joined again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// Joins result files of the same settings (but for the shard), build, GPU type, driver and
/// sources. `names` are for messages. Ceilings are pooled: all samples, one median; floors stay
/// those of the file a group came from. Groups are taken in turn from each file, and groups from
/// another GPU of the type say so in a warning. Throws ResultError naming the two files that do not
/// fit or that both have the same group.
ResultFile merge_files(const std::vector<ResultFile>& files, const std::vector<std::string>& names);

/// The part of 0..count-1 that shard `i` of `n` (1-based) runs: over all i disjoint, complete and
/// the same on every machine. Throws UsageError unless 1 <= i <= n.
std::vector<std::size_t> shard_members(std::size_t count, int i, int n);

}  // namespace amasia
