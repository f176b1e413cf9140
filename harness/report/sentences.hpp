// The answer, in a sentence.
#pragma once

#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// "hotspot rows=512,cols=512 cold stream: tma ran 1.18x [1.16, 1.20] faster than baseline": a
/// sentence for each claim of the role best that is faster or slower.
std::vector<std::string> sentences(const GroupResult&);

}  // namespace amasia
