// A probe of the device between samples: a piece of work that is always the same. On a GPU that
// this process has to itself it always takes the same time; another process that computes there
// makes it wait or last longer (docs/methodology.md, "Disturbed measurements").
#pragma once

namespace amasia {

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
