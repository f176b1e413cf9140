// A result file for people and for spreadsheets: CSV, Markdown, and the answer in a sentence.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/results/result.hpp"
#include "harness/text/table.hpp"

namespace amasia {

Table summary_table(const ResultFile&);  // one line per row of each group, timed or not
Table point_table(const ResultFile&);

// What several forms of a result say of a row in the same words.

Cell optional_cell(const std::optional<double>& value);
Cell text_or_nothing(const std::string& text);
Estimate estimate_of(const RatioInterval& ratio);
/// A median with its interval; nothing without one.
Cell median_cell(const std::optional<MedianInterval>& median);

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

/// Provenance, ceilings, and per group the A/A noise, the floor, the table, failures and warnings.
/// A speed-up that is not resolved, or smaller than the A/A interval, is shown as such.
std::string to_markdown(const ResultFile&);

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
