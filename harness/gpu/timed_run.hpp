// One sample as the device gives it.
#pragma once

#include <optional>

namespace amasia {

struct TimedRun {
  double time_ms = 0;
  std::optional<double> sm_clock_mhz{};
  bool throttled = false;
};

}  // namespace amasia
