// What `run` and `study` do with a request: plan it, run it, write and say what came out.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/command_line.hpp"
#include "harness/cli/options.hpp"
#include "harness/plan/campaign.hpp"
#include "harness/session/session.hpp"

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

/// Where the results go: without --out to out/<gpu>-<title>, numbered where there is one. Throws
/// UsageError where it is one of `inputs` or cannot be written.
std::string output_of(const SessionOptions& session, const Device& device, const std::string& title,
                      const std::vector<std::string>& inputs = {});

// --dry-run: what would run, without running it.

/// What runs on the device that a session names, or would where there is none.
using Plan = std::function<Campaign(const std::optional<Device>& device)>;

/// Groups with their rows and configs, device memory by size, expected time, on stdout; lines of at
/// most 100 columns. What depends on a device that is not there is shown as unknown: none is no
/// error here. Throws UsageError for a size of `request` that the device does not hold.
ExitStatus preview(const std::string& title, const MeasureRequest& request,
                   const std::vector<AppCases>& cases, const Plan& plan);

}  // namespace amasia
