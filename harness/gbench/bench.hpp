// The cases of a campaign as Google Benchmarks. The library decides how often something runs and
// makes the statistics; an instrument runs, times and verifies, as in the suite's own loops.
#pragma once

#include <vector>

#include "harness/cli/command_line.hpp"
#include "harness/gpu/instrument.hpp"
#include "harness/plan/campaign.hpp"

namespace amasia {

/// Registers what is planned, then runs or lists what the library's filter lets through.
/// `ceilings`: of this GPU, for the counter floor; none leaves it out. `one_run`: a repetition is
/// one run of a variant; else as many runs as the library needs for its minimum time of a
/// repetition.
///
ExitStatus run_benchmarks(const Campaign& plan, Instrument& instrument,
                          const std::vector<Ceiling>& ceilings, bool one_run);

}  // namespace amasia
