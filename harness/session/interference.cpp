#include "harness/session/interference.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "harness/statistics/series.hpp"
#include "harness/statistics/statistics.hpp"

namespace amasia {
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
