// Result files as arguments of a command.
#pragma once

#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// The files in this order, so that the first bad one is the one that is named; a journal is read
/// as far as it got. One line on stderr names those of a schema version before digests of the
/// content. Throws ResultError.
std::vector<ResultFile> read_result_files(const std::vector<std::string>& paths);

}  // namespace amasia
