#include "harness/session/validity.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "harness/conclusions/comparison.hpp"
#include "harness/conclusions/recomputed.hpp"
#include "harness/statistics/statistics.hpp"
#include "harness/text/file.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

using State = std::map<std::string, std::string>;

std::optional<double> number_in(const State& state, const std::string& key) {
  return number_from<double>(value_in(state, key));
}

/// Reasons that no load of one's own gives on a GPU in good order: a power cap is not among them.
bool is_trouble(const std::string& throttle_reasons) {
  return throttle_reasons.find("thermal") != std::string::npos ||
         throttle_reasons.find("hardware") != std::string::npos;
}

double low_end(const std::vector<ProbeReading>& probe, double ProbeReading::*member) {
  std::vector<double> values;
  for (const ProbeReading& reading : probe) values.push_back(reading.*member);
  return quantile_of(std::move(values), 0.1);
}

/// What stands in front of the groups of a result file; nothing of what is none.
ResultFile beginning_of(const std::string& path) {
  try {
    return read_beginning(path);
  } catch (const ResultError&) {
    return {};
  }
}

/// fp32 lanes of an SM; 0 where it is not known.
int lanes_of(int compute_capability) {
  constexpr int with_64[] = {70, 72, 75, 80}, with_128[] = {86, 87, 89, 90, 100, 103, 120, 121};
  if (std::ranges::find(with_64, compute_capability) != std::end(with_64)) return 64;
  return std::ranges::find(with_128, compute_capability) != std::end(with_128) ? 128 : 0;
}

bool is_memory_bandwidth(const std::string& ceiling) {
  return ceiling == "read_bandwidth" || ceiling == "write_bandwidth" ||
         ceiling == "copy_bandwidth" || ceiling == "triad_bandwidth";
}

double middle_of(const CeilingRecord& record) { return median_interval(record.values, 0.5).median; }

/// Whether a doubt about `ceiling` is one about the measurement of such work. That of a rate of the
/// tensor cores is where it bounds the work. The others say what the GPU was like at the time.
bool concerns(const std::string& ceiling, const Work& work) {
  return !is_tensor_rate(ceiling) || ceiling == rate_of(work.kind);
}

/// The most that the clocks and widths of this GPU allow, in the ceiling's unit; 0 where not known.
/// Bandwidth: memory clock x 2 x bus width. fp32, int32: SMs x clock x lanes x 2.
double most_by_data_sheet(const std::string& ceiling, const Device& device) {
  if (is_memory_bandwidth(ceiling)) {  // two transfers per clock, 8 bits to a byte
    return 2e-3 * device.memory_clock_mhz * (device.memory_bus_bits / 8.0);
  }
  if (ceiling == "fp32_rate" || ceiling == "int32_rate") {
    return 2e-3 * device.max_clock_mhz * device.sm_count * lanes_of(device.compute_capability);
  }
  return 0;
}

/// How far from the median of earlier runs a value may be, as a share: three times as far as the
/// farthest, 6 % at least (GPUs of a model differ by half of that). 0 for less than three runs.
double tolerance_of(const CeilingRecord& record) {
  if (record.values.size() < 3) return 0;
  const double middle = middle_of(record);
  double farthest = 0;
  for (const double value : record.values) {
    farthest = std::max(farthest, std::abs(value / middle - 1));
  }
  return std::max(0.06, 3 * farthest);
}

}  // namespace

std::string contradiction_in(const Work& work, std::int64_t device_bytes) {
  const std::pair<const char*, double> claims[] = {
      {"operations", work.operations},
      {"bytes_read", work.bytes_read},
      {"bytes_written", work.bytes_written},
      {"dependent_operations", work.dependent_operations}};
  for (const auto& [name, value] : claims) {
    if (!std::isfinite(value) || value < 0) {
      return fmt::format("work() says {} = {:g}, which is no amount", name, value);
    }
    if (std::string_view(name).starts_with("bytes") && value > static_cast<double>(device_bytes)) {
      return fmt::format(
          "work() says {} = {:.0f}, and device_bytes() that all its memory is {}: compulsory "
          "traffic moves no byte twice, so one of the two is wrong",
          name, value, device_bytes);
    }
  }
  return "";
}

std::optional<Invalidity> faster_than_floor(const GroupResult& group) {
  if (group.key.cache != CacheMode::cold || !group.floor) return std::nullopt;
  const double floor = group.floor->floor_ms();
  for (const Row& row : group.rows) {
    if (row.status != RowStatus::ok || !row.time_ms || row.time_ms->high >= floor) continue;
    return Invalidity{
        InvalidKind::floor,
        fmt::format(
            "{} {} took {:.4g} ms [{:.4g}, {:.4g}] with cold caches, less than its floor of "
            "{:.4g} ms by {}",
            row.variant, word_of(row.role), row.time_ms->median, row.time_ms->low,
            row.time_ms->high, floor, word_of(group.floor->bound_by())),
        "either the ceilings are too low, because of another process or a lower clock: let the GPU "
        "be "
        "idle and measure again; or work() counts more than the necessary work"};
  }
  return std::nullopt;
}

std::optional<Invalidity> drift_in(const GroupResult& group) {
  for (const Comparison& c : group.comparisons) {
    if (!c.control || !c.speedup.resolved) continue;
    const double distance = std::max(c.speedup.low - 1, 1 - c.speedup.high);
    if (distance <= control_limit) continue;
    return Invalidity{
        InvalidKind::drift,
        fmt::format("{} {} differs from itself by {:.2f} % [{:.4g}, {:.4g}], more than "
                    "the {:.0f} % that noise may",
                    c.variant, word_of(c.role), 100 * std::abs(c.speedup.ratio - 1), c.speedup.low,
                    c.speedup.high, 100 * control_limit),
        "measure again with more rounds (--min-rounds) on a GPU that is otherwise "
        "idle"};
  }
  for (const Row& row : group.rows) {
    if (row.status != RowStatus::ok || !row.variant.ends_with("/baseline")) continue;
    const Trend trend = trend_of(usable_times(row));
    if (std::abs(trend.z) <= trend_z || std::abs(trend.shift) <= trend_limit) continue;
    return Invalidity{
        InvalidKind::drift,
        fmt::format("the times of {} {} {} by {:.1f} % from the first third of the rounds to the "
                    "last (rank correlation {:.2f})",
                    row.variant, word_of(row.role), trend.shift > 0 ? "rose" : "fell",
                    100 * std::abs(trend.shift), trend.correlation),
        "let the GPU come to an even temperature and clock, and measure again"};
  }
  return std::nullopt;
}

std::optional<Invalidity> changed_state(const State& start, const State& end) {
  const auto invalid = [](const std::string& reason, const std::string& remedy) {
    return Invalidity{InvalidKind::device_state, reason, remedy};
  };
  const auto limit = number_in(start, "power_limit_w"), limit_now = number_in(end, "power_limit_w");
  if (limit && limit_now && *limit != *limit_now) {
    return invalid(fmt::format("the power limit was {:g} W at the run's start and is {:g} W now",
                               *limit, *limit_now),
                   "measure again when nobody changes the GPU's settings");
  }
  const auto clock = number_in(start, "memory_clock_mhz"),
             clock_now = number_in(end, "memory_clock_mhz");
  if (clock && clock_now && *clock_now < 0.98 * *clock) {
    return invalid(
        fmt::format("the memory clock was {:g} MHz at the run's start and is {:g} MHz now", *clock,
                    *clock_now),
        "measure again when the GPU is back at its full memory clock");
  }
  if (const std::string reasons = value_in(end, "throttle_reasons"); is_trouble(reasons)) {
    return invalid("the GPU holds its clock down: " + reasons,
                   "see to its cooling and power supply, let it cool, and measure again");
  }
  const auto temperature = number_in(end, "temperature_c"), slowdown = number_in(end, "slowdown_c");
  if (temperature && slowdown && *slowdown > 0 && *temperature > *slowdown - near_slowdown_c) {
    return invalid(fmt::format("the GPU has {:g} degrees Celsius and slows down at {:g}",
                               *temperature, *slowdown),
                   "see to its cooling, let it cool, and measure again");
  }
  return std::nullopt;
}

std::vector<Invalidity> invalidities_of(const GroupResult& group, const Circumstances& around) {
  const bool timed =
      std::ranges::any_of(group.rows, [](const Row& row) { return !row.samples.empty(); });
  if (!timed) return {};
  std::vector<Invalidity> found;
  for (const CeilingDoubt& doubt : around.ceilings) {
    if (concerns(doubt.ceiling, group.work)) found.push_back(doubt);
  }
  const auto add = [&found](std::optional<Invalidity> invalidity) {
    if (invalidity) found.push_back(std::move(*invalidity));
  };
  add(faster_than_floor(group));
  add(interference_in(group.probe, quieter(around.quiet, group.probe),
                      value_in(group.device_state, "company"), around.probes));
  add(drift_in(group));
  add(changed_state(around.state_at_start, group.device_state));
  return found;
}

void learn(Circumstances& around, const GroupResult& group) {
  around.quiet = quieter(around.quiet, group.probe);
  if (!around.quiet) return;
  around.probes.readings += static_cast<int>(group.probe.size());
  around.probes.disturbed += disturbed_readings(group.probe, *around.quiet);
}

void mark(GroupResult& group, std::vector<Invalidity> invalid) {
  group.invalid = std::move(invalid);
  set_claims(group);
}

bool worth_repeating(const std::vector<Invalidity>& invalid) {
  return std::ranges::any_of(invalid,
                             [](const Invalidity& i) { return i.kind != InvalidKind::ceiling; });
}

std::vector<ProbeReading> readings_of(const std::vector<std::pair<int, ProbeTimes>>& probes) {
  constexpr double near_us = 0.5e6;
  std::vector<ProbeReading> readings;
  for (const auto& [round, p] : probes) {
    // As differences, because the GPU's clock may count from 1970, where a double ends at 0.25 us.
    double offset = p.ended_us - p.done_us;
    for (const auto& [other_round, other] : probes) {
      if (std::abs(other.done_us - p.done_us) > near_us) continue;
      offset = std::max(offset, other.ended_us - other.done_us);
    }
    ProbeReading reading;
    reading.round = round;
    reading.wait_us = in_tenths(std::max(0.0, p.began_us - p.launched_us - offset));
    reading.arithmetic_cycles = std::max(0.0, std::round(p.arithmetic_cycles));
    reading.memory_us = in_tenths(std::max(0.0, p.memory_us));
    readings.push_back(reading);
  }
  return readings;
}

std::optional<QuietProbe> quieter(const std::optional<QuietProbe>& quiet,
                                  const std::vector<ProbeReading>& probe) {
  if (probe.empty()) return quiet;
  QuietProbe now{low_end(probe, &ProbeReading::arithmetic_cycles),
                 low_end(probe, &ProbeReading::memory_us)};
  if (quiet) {
    now.arithmetic_cycles = std::min(now.arithmetic_cycles, quiet->arithmetic_cycles);
    now.memory_us = std::min(now.memory_us, quiet->memory_us);
  }
  return now;
}

int disturbed_readings(const std::vector<ProbeReading>& probe, const QuietProbe& quiet) {
  return static_cast<int>(std::ranges::count_if(probe, [&](const ProbeReading& reading) {
    return reading.wait_us > wait_limit_us ||
           reading.arithmetic_cycles > arithmetic_limit * quiet.arithmetic_cycles ||
           reading.memory_us > memory_limit * quiet.memory_us;
  }));
}

std::optional<Invalidity> interference_in(const std::vector<ProbeReading>& probe,
                                          const std::optional<QuietProbe>& quiet,
                                          const std::string& named, const ProbeCount& earlier) {
  const auto all = static_cast<int>(probe.size());
  const int disturbed = quiet ? disturbed_readings(probe, *quiet) : 0;
  const bool alarm =
      disturbed > 0 && (binomial_upper_tail(all, disturbed, quiet_share) < false_alarm ||
                        binomial_upper_tail(all + earlier.readings, disturbed + earlier.disturbed,
                                            quiet_share) < false_alarm);
  if (!alarm && named.empty()) return std::nullopt;
  std::string reason = "another process computed on this GPU";
  if (!named.empty()) reason += fmt::format(" (NVML: {})", named);
  if (alarm) {
    reason += fmt::format(": {} of {} probes between the samples had to wait or took longer",
                          disturbed, all);
    if (earlier.disturbed > 0) {
      reason +=
          fmt::format(", and {} of {} in the groups before", earlier.disturbed, earlier.readings);
    }
  }
  return Invalidity{InvalidKind::interference, reason,
                    "end the other process (nvidia-smi lists those that it may show) or take "
                    "another GPU (--device), and measure again"};
}

std::vector<CeilingProbe> in_measuring_order(std::vector<CeilingProbe> probes) {
  const auto heat = [](const CeilingProbe& probe) {
    return is_tensor_rate(probe.name) + (probe.name == rate_of(Work::Kind::e4m3));
  };
  std::ranges::stable_sort(probes, {}, heat);
  return probes;
}

std::vector<Ceiling> measure_ceilings(Instrument& instrument, int samples,
                                      const ProgressSink& progress) {
  const Device& device = instrument.device();
  std::vector<Ceiling> ceilings;
  for (const CeilingProbe& probe : in_measuring_order(ceiling_probes())) {
    if (instrument.code_capability() < probe.runs_from) continue;  // of the loaded code
    progress(-1, "ceiling " + probe.name);
    Ceiling c{probe.name, probe.unit, probe.method};
    // Unrecorded: allocation, module load, clocks.
    probe.measure(device, instrument.stream());
    for (int i = 0; i < samples; ++i) {
      c.samples.push_back(probe.measure(device, instrument.stream()));
    }
    c.value = median_interval(c.samples, 0.95).median;
    ceilings.push_back(std::move(c));
  }
  return ceilings;
}

std::vector<CeilingRecord> read_ceiling_records(const std::string& folder, const Device& device) {
  std::vector<CeilingRecord> records;
  for (const std::string& path : json_files_in(folder)) {
    const ResultFile file = beginning_of(path);
    const Provenance& from = file.provenance;
    const bool is_slice = value_in(from.device_state, "mig") == "on";
    if (from.device.name != device.name || from.device.sm_count != device.sm_count || is_slice) {
      continue;
    }
    for (const Ceiling& c : file.ceilings) {
      if (c.value <= 0) continue;
      auto record = std::ranges::find(records, c.name, &CeilingRecord::name);
      if (record == records.end()) record = records.insert(record, {c.name});
      record->values.push_back(c.value);
    }
  }
  return records;
}

std::vector<CeilingDoubt> doubtful_ceilings(const std::vector<Ceiling>& ceilings,
                                            const Device& device,
                                            const std::vector<CeilingRecord>& records) {
  // Clocks are told in whole megahertz, and a boost may overshoot by a step.
  constexpr double rounding = 1.01;
  std::vector<CeilingDoubt> found;
  for (const Ceiling& c : ceilings) {
    const double most = most_by_data_sheet(c.name, device);
    if (most > 0 && c.value > rounding * most) {
      found.push_back(
          {{InvalidKind::ceiling,
            fmt::format("{} was measured as {:.4g} {}, and the clocks and widths of this "
                        "GPU allow {:.4g}",
                        c.name, c.value, c.unit, most),
            "measure again; if it stays so, the clock that times it is wrong: say so "
            "with the file"},
           c.name});
      continue;
    }
    const auto record = std::ranges::find(records, c.name, &CeilingRecord::name);
    if (record == records.end()) continue;
    const double tolerance = tolerance_of(*record), middle = middle_of(*record);
    if (tolerance > 0 && std::abs(c.value / middle - 1) > tolerance) {
      found.push_back(
          {{InvalidKind::ceiling,
            fmt::format("{} was measured as {:.4g} {}, and in {} earlier runs on this model it was "
                        "{:.4g} with a tolerance of {:.1f} %",
                        c.name, c.value, c.unit, record->values.size(), middle, 100 * tolerance),
            "look for another process and for limits of power or clock (amasia doctor), and "
            "measure "
            "again; of a GPU that is set so, say --records none"},
           c.name});
    }
  }
  return found;
}

std::vector<CeilingDoubt> ceilings_in_doubt(const std::vector<Ceiling>& ceilings,
                                            const Device& device, const std::string& folder) {
  if (folder == "none") return doubtful_ceilings(ceilings, device, {});
  const std::string own = "results/" + device_slug(device.name);
  return doubtful_ceilings(ceilings, device,
                           read_ceiling_records(folder.empty() ? own : folder, device));
}

}  // namespace amasia
