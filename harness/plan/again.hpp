// What a result file holds, planned to be measured again: the same cases, rows and configs, with
// the same effort.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/campaign.hpp"
#include "harness/results/result.hpp"

namespace amasia {

/// Something of the file that this program cannot measure.
struct NotPossible {
  std::string what;  // "nw/tma (best) at nw rows=64,cols=64 cold stream"
  std::string reason;
};

struct Again {
  Campaign campaign{};
  std::vector<NotPossible> not_possible{};
};

/// Every row that has a time (of the shown session of its case) and every microbenchmark that has a
/// value, without energy. What this program cannot measure is named with the reason.
Again plan_again(const ResultFile& file, const std::vector<std::string>& only = {});

/// Whether a case ("nw rows=64 cold stream") or a microbenchmark is among those asked for: the
/// whole name matches one of the globs, or there are none.
bool is_asked(const std::vector<std::string>& only, std::string_view name);

/// The effort that the settings of a file name; what they do not name is the default.
Effort effort_in(const Provenance& provenance);

}  // namespace amasia
