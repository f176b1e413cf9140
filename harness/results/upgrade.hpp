// A result file of schema version 1 as one of version 2.
#pragma once

#include <map>
#include <string>

#include "harness/results/result.hpp"

namespace amasia {

/// Replaces digests by path, which say nothing about those by content: by `known` under the name of
/// the variant or microbenchmark ("harness" for that of the harness), else by "", not known. The
/// caller answers for `known` being the code that was measured. A file that has digests by content
/// stays as it is. (Claims were computed when it was read.)
void upgrade(ResultFile& file, const std::map<std::string, std::string>& known);

/// Name -> digest from a JSON object, as `amasia list --sources` prints it. Throws ResultError.
std::map<std::string, std::string> read_digests(const std::string& path);

}  // namespace amasia
