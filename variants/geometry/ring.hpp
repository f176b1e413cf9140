// Where a ring of stages stands: which stage comes next, and the phase of that stage's barriers. In
// the words of CUTLASS: a producer acquires a stage, copies into it and commits it; a consumer
// waits for it, reads it and releases it. Both walk the stages in the same order with a state of
// their own. And the rounding that tiles and stages need.
#pragma once

#include "variants/host_device.hpp"

namespace amasia {

AMASIA_HD constexpr long long ceil_div(long long a, long long b) { return (a + b - 1) / b; }
AMASIA_HD constexpr long long round_up(long long a, long long b) { return ceil_div(a, b) * b; }

/// Stage `index` of STAGES, used for the time of parity `phase`. An mbarrier completes one phase
/// per use of its stage: a consumer waits for `full` with `phase`; a producer, which finds every
/// stage empty at first, waits for `empty` with `phase ^ 1`.
template <int STAGES>
struct PipelineState {
  static_assert(STAGES >= 1);
  static constexpr int stages = STAGES;
  int index = 0;
  unsigned phase = 0;

  AMASIA_HD constexpr PipelineState& operator++() {
    if (++index == STAGES) {
      index = 0;
      phase ^= 1;
    }
    return *this;
  }
  /// The state after `n` uses of the pipeline.
  AMASIA_HD static constexpr PipelineState after(long long n) {
    return {static_cast<int>(n % STAGES), static_cast<unsigned>(n / STAGES & 1)};
  }
  /// The state of the use before this one; not to be asked before the first.
  AMASIA_HD constexpr PipelineState before() const {
    return index > 0 ? PipelineState{index - 1, phase} : PipelineState{STAGES - 1, phase ^ 1};
  }
};

}  // namespace amasia
