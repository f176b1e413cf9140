// The result files of a campaign that was split over machines, joined again.
#pragma once

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

}  // namespace amasia
