// Whose step is next, where warpgroups compute the tiles of a block by turns (specialised.cuh), and
// where in the ring of stages its slices are: plain arithmetic, the same on host and device.
#pragma once

#include "variants/geometry/pipeline_state.hpp"
#include "variants/host_device.hpp"

namespace amasia::gemm {

/// A walk by `TEAMS` teams: the first step of the block's is team 0's. The producer fills the
/// STAGES of the ring in the order of the steps, so a team passes over the slices of the others.
template <int STAGES, int TEAMS>
struct Turns {
  int turn = 0;
  long long before = 0;  // slices of earlier steps

  AMASIA_HD constexpr bool is_of(int team) const { return turn == team; }
  AMASIA_HD constexpr bool is_first() const { return before == 0; }
  /// Whose step the next one is.
  AMASIA_HD constexpr int next() const { return turn + 1 == TEAMS ? 0 : turn + 1; }
  /// Where the step's first slice is.
  AMASIA_HD constexpr PipelineState<STAGES> state() const {
    return PipelineState<STAGES>::after(before);
  }
  /// To the step behind one of `slices`.
  AMASIA_HD constexpr void pass(int slices) {
    before += slices;
    turn = next();
  }
};

}  // namespace amasia::gemm
