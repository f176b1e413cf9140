// The answer, in a sentence.
#pragma once

#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// What a group answers, in the words of README's verdict lines.
struct Answer {
  std::string text;  // "lud n=8192 cold stream: tma 1.17× [1.15, 1.19] faster than the tuned ..."
  bool faster = false;  // than baseline, by a strategy
  double ratio = 0;     // the winner's; 0 where there is none
};

/// An answer for each group that is valid and compares anything, the largest speed-up first.
std::vector<Answer> answers(const ResultFile& file);

/// What ran faster than a group's winner and is not resolved, with what may resolve it: "dsm ran
/// 1.20× [0.99, 1.31], not resolved; more rounds (...) may resolve it".
std::vector<std::string> not_resolved(const GroupResult& group);

/// "tma ran 1.18x [1.16, 1.20] faster than baseline", under these names; where nothing is claimed,
/// that, with the ratio and its interval.
std::string sentence_of(const Comparison& comparison, const std::string& name,
                        const std::string& against);

}  // namespace amasia
