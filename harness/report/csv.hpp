// Result files as CSV: one line per row of a group, per sample, per point of a microbenchmark.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/results/result.hpp"
#include "harness/text/table.hpp"

namespace amasia {

// Each table begins with the columns gpu, driver, toolkit and commit, so that files of many GPUs
// and commits can be put below each other.

Table summary_table(const ResultFile&);  // one line per row of each group, timed or not
Table sample_table(const ResultFile&);   // throttled ones too
Table point_table(const ResultFile&);

// What several forms of a result say of a row in the same words.

Cell optional_cell(const std::optional<double>& value);
Cell text_or_nothing(const std::string& text);
Estimate estimate_of(const RatioInterval& ratio);
/// The median of a point with its interval; nothing without one.
Cell value_cell(const MicrobenchmarkRow& row);

/// Whose a row is, first in every table of a file that is exported, so that those of many GPUs and
/// commits are one table when they are put below each other: GPU, CUDA version of the driver,
/// toolkit, commit (with "-dirty" where the program was built of more than that). `session`: of
/// which session of the file, which may have a commit of its own.
std::vector<std::pair<Column, Cell>> origin_of(const Provenance& from,
                                               const std::optional<int>& session = {});

/// What the sessions of a row, or of a comparison, gave: "1.08 to 1.12 (6 runs on 3 GPUs)"; "one
/// run" where there is one.
std::string sessions_text(const ResultFile& file, const GroupResult& group, const Row& row);
std::string sessions_text(const ResultFile& file, const GroupResult& group,
                          const Comparison& comparison);

/// The comparison of this row with its reference; nullptr when there is none.
const Comparison* comparison_of(const GroupResult& group, const Row& row);
/// "hotspot/tma" -> "tma"
std::string strategy_of(const std::string& variant);
/// "32 LDG per iteration (sass)": what was counted in the code.
std::string proof_text(const MicrobenchmarkRow& row);

}  // namespace amasia
