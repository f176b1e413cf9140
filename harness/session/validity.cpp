#include "harness/session/validity.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "harness/conclusions/comparison.hpp"
#include "harness/statistics/series.hpp"
#include "harness/statistics/statistics.hpp"
#include "harness/text/number.hpp"

namespace amasia {
namespace {

using State = std::map<std::string, std::string>;

std::string text_in(const State& state, const std::string& key) {
  const auto found = state.find(key);
  return found == state.end() ? "" : found->second;
}

std::optional<double> number_in(const State& state, const std::string& key) {
  return number_from<double>(text_in(state, key));
}

/// Reasons that no load of one's own gives on a GPU in good order: a power cap is not among them.
bool is_trouble(const std::string& throttle_reasons) {
  return throttle_reasons.find("thermal") != std::string::npos ||
         throttle_reasons.find("hardware") != std::string::npos;
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
  if (const std::string reasons = text_in(end, "throttle_reasons"); is_trouble(reasons)) {
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
  const bool timed = std::any_of(group.rows.begin(), group.rows.end(),
                                 [](const Row& row) { return !row.samples.empty(); });
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
                      text_in(group.device_state, "company"), around.probes));
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
  return std::any_of(invalid.begin(), invalid.end(),
                     [](const Invalidity& i) { return i.kind != InvalidKind::ceiling; });
}

namespace {

double low_end(const std::vector<ProbeReading>& probe, double ProbeReading::*member) {
  std::vector<double> values;
  for (const ProbeReading& reading : probe) values.push_back(reading.*member);
  return quantile_of(std::move(values), 0.1);
}

}  // namespace

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
  return static_cast<int>(
      std::count_if(probe.begin(), probe.end(), [&](const ProbeReading& reading) {
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

}  // namespace amasia
