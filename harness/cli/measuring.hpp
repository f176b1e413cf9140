// What `run` and `study` do with a request: plan it, run it, write and say what came out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/cli/exit_status.hpp"
#include "harness/cli/options.hpp"

namespace amasia {

/// Verifies, times and compares what `request.campaign` asks for, or shows it (--dry-run). Its
/// effort is final; modes that are still empty are an error of the caller.
ExitStatus measure(MeasureRequest request, const std::vector<std::string>& argv);

/// How many rows ended how, and whether all of what was measured is valid.
struct Tally {
  int ok = 0, failed = 0, skipped = 0, crashed = 0;
  bool valid = true;
};
/// Says on stderr what a file holds that is worth a line, and counts its rows.
Tally report(const ResultFile& file);

/// The exit status of what ended before all was measured, said on stderr; nothing where it did not.
std::optional<ExitStatus> report_early_end(const SessionOutcome& outcome);

/// The winners in the file `tuning`, which must exist; "" for those recorded of the device, if any.
/// Throws UsageError, ResultError.
TuningTable recorded_winners(const std::string& tuning, const std::optional<Device>& device);

}  // namespace amasia
