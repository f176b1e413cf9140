// One sample, and one probe between samples, as the device gives them. A probe is a piece of work
// that is always the same: another process on the GPU makes it wait or last longer
// (docs/methodology.md, "Disturbed measurements").
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

/// What one probe saw. The host's and the GPU's times are by two clocks with nothing in common but
/// that both go forward.
struct ProbeTimes {
  double launched_us = 0;        // host: when the launch had returned
  double done_us = 0;            // host: when the end was seen
  double began_us = 0;           // GPU: the first block's start
  double ended_us = 0;           // GPU: the last block's end
  double arithmetic_cycles = 0;  // SM clock cycles of the arithmetic, median over the blocks
  double memory_us = 0;          // of the reads, by the GPU's clock
};

}  // namespace amasia
