// The matrix of scores as a text file, for comparing with other programs.
//
// rows + 1 lines of cols + 1 integers, separated by one blank each: line i (from 0) has score(i,
// 0), score(i, 1), ..., score(i, cols) of the recurrence in nw.hpp, borders included.
#pragma once

#include <cstdint>
#include <string>

#include "apps/nw/instance.hpp"

namespace amasia::nw {

/// 16384 x 16384 scores are 2 GB of text and take half a minute; beyond a few more a file is of no
/// use to anybody.
inline constexpr std::int64_t most_scores_written = 300'000'000;

/// Throws UsageError, one line, where write_scores() would refuse this many or could not create the
/// file. Creates nothing.
void check_score_file(const std::string& path, std::int64_t rows, std::int64_t cols);

/// Throws UsageError, one line, where a file of this name cannot be created. `parameter` names it.
void check_output_file(const std::string& parameter, const std::string& path);

/// Writes the file. Throws UsageError when it cannot be written completely.
void write_scores(const std::string& path, const ScoreSource& source, int penalty);

}  // namespace amasia::nw
