// Whether another process computes on the GPU, told by probes: short pieces of work between samples
// that take the same time whenever the GPU has nothing else to do.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/gpu/timed_run.hpp"
#include "harness/results/result.hpp"

namespace amasia {

/// Probes of a group as its result has them; with each, its round.
/// The wait of a launch is between two clocks. Each probe bounds their distance: the GPU had
/// finished when the host saw the end. The closest within half a second tells it to microseconds. A
/// busy host makes a wait look shorter, never longer.
std::vector<ProbeReading> readings_of(const std::vector<std::pair<int, ProbeTimes>>& probes);

/// What the work of a probe takes without interference: the 10 % quantiles of the quietest group.
struct QuietProbe {
  double arithmetic_cycles = 0;
  double memory_us = 0;
};
/// The lesser of both. Nothing in `probe` leaves `quiet` as it is.
std::optional<QuietProbe> quieter(const std::optional<QuietProbe>& quiet,
                                  const std::vector<ProbeReading>& probe);

/// How many readings show interference: a wait of more than `wait_limit_us`, or work that took
/// distinctly longer than when quiet.
int disturbed_readings(const std::vector<ProbeReading>& probe, const QuietProbe& quiet);

/// Four times the longest wait seen on an H200 without interference, a fiftieth of a time slice.
inline constexpr double wait_limit_us = 50;
/// Of the quiet work. The longest seen without interference were 1.25 and 1.5 of it.
inline constexpr double arithmetic_limit = 1.5, memory_limit = 2;
/// The share of readings that may show interference where there is none: with 95 % confidence it is
/// no more, because none of 44,000 did.
inline constexpr double quiet_share = 7e-5;
/// How probable it may be that a group is called disturbed without interference.
inline constexpr double false_alarm = 1e-4;

/// Readings of a run so far, and how many of them showed interference.
struct ProbeCount {
  int readings = 0;
  int disturbed = 0;
};

/// Interference, or nothing: so many readings that chance gives them with a probability below
/// false_alarm, in this group or, together with at least one in this group, in the run so far.
/// `named`: what NVML knows of it, or "".
std::optional<Invalidity> interference_in(const std::vector<ProbeReading>& probe,
                                          const std::optional<QuietProbe>& quiet,
                                          const std::string& named, const ProbeCount& earlier = {});

}  // namespace amasia
