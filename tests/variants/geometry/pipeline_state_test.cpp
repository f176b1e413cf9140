#include "variants/geometry/pipeline_state.hpp"

#include <gtest/gtest.h>

namespace amasia {
namespace {

template <int STAGES>
void walk() {
  PipelineState<STAGES> state;
  for (long long use = 0; use < 5 * STAGES + 3; ++use, ++state) {
    EXPECT_EQ(state.index, use % STAGES) << STAGES << " stages, use " << use;
    EXPECT_EQ(state.phase, use / STAGES % 2) << STAGES << " stages, use " << use;
    const auto found = PipelineState<STAGES>::after(use);
    EXPECT_EQ(found.index, state.index);
    EXPECT_EQ(found.phase, state.phase);
    auto next = state.before();
    EXPECT_EQ((++next).index, state.index);
    EXPECT_EQ(next.phase, state.phase);
  }
}

TEST(PipelineState, WalksTheStagesAndTurnsThePhaseAfterTheLast) {
  walk<1>();
  walk<2>();
  walk<3>();
  walk<5>();
  walk<12>();
}

TEST(PipelineState, IsRightFarOut) {
  const auto far = PipelineState<4>::after(4LL * 3'000'000'001 + 1);
  EXPECT_EQ(far.index, 1);
  EXPECT_EQ(far.phase, 1u);
}

}  // namespace
}  // namespace amasia
