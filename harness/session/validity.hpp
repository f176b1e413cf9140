// Whether the measurement of a group may be believed (docs/methodology.md, "Disturbed
// measurements"). Each detector looks at the finished result alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/ceiling.hpp"
#include "harness/gpu/instrument.hpp"
#include "harness/gpu/timed_run.hpp"
#include "harness/process/isolation.hpp"
#include "harness/results/result.hpp"

namespace amasia {

// The measured limits of a device, and whether they can be: compared with what the clocks and
// widths of the GPU allow, and with what earlier runs on GPUs of the model gave.

/// `probes` in measuring order: rates of the tensor cores last, and of them that of e4m3. They run
/// at the power limit, and the SM clock takes a while to come back: behind e4m3 an H200 showed 56.4
/// instead of 65.3 TFLOP/s of fp32.
std::vector<CeilingProbe> in_measuring_order(std::vector<CeilingProbe> probes);

/// How often a ceiling is measured.
inline constexpr int ceiling_samples = 11;

/// Each ceiling `samples` times, after one unrecorded measurement.
std::vector<Ceiling> measure_ceilings(Instrument& instrument, int samples,
                                      const ProgressSink& progress);

/// What one ceiling was in earlier runs: a value each.
struct CeilingRecord {
  std::string name;
  std::vector<double> values{};
};

/// From the result files in `folder` of whole GPUs with this one's name and number of SMs. Any
/// other file is passed over.
std::vector<CeilingRecord> read_ceiling_records(const std::string& folder, const Device& device);

/// Why a ceiling is not believed.
struct CeilingDoubt : Invalidity {
  std::string ceiling;
};

/// The ceilings that cannot be, or are out of line with the records: one entry for each.
std::vector<CeilingDoubt> doubtful_ceilings(const std::vector<Ceiling>& ceilings,
                                            const Device& device,
                                            const std::vector<CeilingRecord>& records);

/// The same with the records in `folder`; "" for results/<gpu>, "none" for none.
std::vector<CeilingDoubt> ceilings_in_doubt(const std::vector<Ceiling>& ceilings,
                                            const Device& device, const std::string& folder);

// Whether another process computes on the GPU, told by probes: short pieces of work between samples
// that take the same time whenever the GPU has nothing else to do.

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

/// A baseline that differs from itself by more than this share, with its whole interval.
inline constexpr double control_limit = 0.02;
/// A baseline whose last third of rounds differs from the first by more than this share, and whose
/// order in time is no chance: |z| of its rank correlation with the round.
inline constexpr double trend_limit = 0.05, trend_z = 4.4;
/// A GPU within this many degrees of the temperature at which it slows down.
inline constexpr int near_slowdown_c = 2;

/// What is known of the run around a group.
struct Circumstances {
  std::map<std::string, std::string> state_at_start{};  // Provenance::device_state
  std::vector<CeilingDoubt> ceilings{};                 // doubtful_ceilings()
  std::optional<QuietProbe> quiet{};                    // of the groups so far
  ProbeCount probes{};                                  // likewise
};

/// What cannot be in what an app says of its work; "" where nothing contradicts itself. Compulsory
/// traffic reads and writes no byte twice, so that neither is more than the memory the app needs.
std::string contradiction_in(const Work& work, std::int64_t device_bytes);

/// A cold row faster than its floor, beyond the interval of its median.
std::optional<Invalidity> faster_than_floor(const GroupResult& group);
/// The A/A control, or the times of a baseline over the rounds.
std::optional<Invalidity> drift_in(const GroupResult& group);
/// Limits, clocks and temperature at the group's end beside those at the run's start.
std::optional<Invalidity> changed_state(const std::map<std::string, std::string>& start,
                                        const std::map<std::string, std::string>& end);

/// All of the above and interference. Empty for a group that was verified alone. The probes of the
/// group itself are among those that tell what is quiet.
std::vector<Invalidity> invalidities_of(const GroupResult& group, const Circumstances& around);

/// Adds the probes of a group to what is known of the run.
void learn(Circumstances& around, const GroupResult& group);

/// Sets what makes the group invalid, and with it that nothing is claimed from it.
void mark(GroupResult& group, std::vector<Invalidity> invalid);

/// Whether measuring the group again could help: a ceiling stays what it is.
bool worth_repeating(const std::vector<Invalidity>& invalid);

}  // namespace amasia
