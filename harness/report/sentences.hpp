// The answer, in a sentence.
#pragma once

#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// "hotspot rows=512,cols=512 cold stream: tma ran 1.18x [1.16, 1.20] faster than baseline": a
/// sentence for each claim of the role best that is faster or slower, the largest speed-up first. A
/// strategy that ran faster than all of these and is not resolved is named as well, with what may
/// resolve it. Where every interval holds 1 closely: "...: a tie: no strategy differs from baseline
/// by more than 0.8 %".
std::vector<std::string> sentences(const GroupResult&);

/// "tma ran 1.18x [1.16, 1.20] faster than baseline", under these names; where nothing is claimed,
/// that, with the ratio and its interval.
std::string sentence_of(const Comparison& comparison, const std::string& name,
                        const std::string& against);

}  // namespace amasia
