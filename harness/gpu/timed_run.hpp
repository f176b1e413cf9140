// One sample as the device gives it.
#pragma once

#include <optional>
#include <string>

namespace amasia {

struct TimedRun {
  double time_ms = 0;
  std::optional<double> sm_clock_mhz{};
  bool throttled = false;
  std::string left_set{};  // of persisting L2, PersistingL2::put_back()
};

}  // namespace amasia
