// Result files as arguments of a command.
#pragma once

#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// The files in this order, so that the first bad one is the one that is named.
/// A journal is read as far as it got.
/// Throws ResultError.
std::vector<ResultFile> read_result_files(const std::vector<std::string>& paths);

}  // namespace amasia
