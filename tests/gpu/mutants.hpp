// What the mutants of all apps share: the faults, a check that each is caught, and faults that
// happen once. A test <app>_mutants_test.cu writes one plain kernel of its app that commits each
// fault on demand. The verification must catch all of them, and pass the same kernel without a
// fault.
#pragma once

#include "inputs/random.hpp"
#include "tests/gpu/device_test.hpp"

namespace amasia {

/// nothing: no kernel runs. edge: off by one at an edge. skipped_tile: a tile nobody computed.
/// stale_halo: a neighbour's value from too early.
enum class Fault { none, nothing, edge, skipped_tile, stale_halo };

inline void synchronize() {
  AMASIA_CUDA(cudaGetLastError());
  AMASIA_CUDA(cudaDeviceSynchronize());
}

/// The kernels that `run(fault)` launches pass without a fault. With one they fail, and with a
/// mismatch named.
template <class Run>
void expect_caught(Instance& i, const Run& run) {
  for (const Fault fault :
       {Fault::none, Fault::nothing, Fault::edge, Fault::skipped_tile, Fault::stale_halo}) {
    i.reset(nullptr);
    if (fault != Fault::nothing) run(fault);
    synchronize();
    const Verdict v = i.verify();
    EXPECT_EQ(v.passed, fault == Fault::none)
        << "fault " << static_cast<int>(fault) << ", " << v.norm << " " << v.error;
    EXPECT_EQ(v.first_mismatches.empty(), v.passed);
  }
}

// ---- faults that happen once

/// Once: an app's faults, the first of which is none.
template <class Once>
struct Single {
  Once what = {};
  int step = 0;  // or iteration, or launch
  std::int64_t row = 0, column = 0;

  AMASIA_HD Once at(std::int64_t r, std::int64_t c) const {
    return r == row && c == column ? what : Once{};
  }
};

/// The n-th random number in [0, bound) of a stream.
inline std::int64_t anywhere(std::uint64_t stream, std::uint64_t n, std::int64_t bound) {
  return random_below(5, stream, n, static_cast<std::uint32_t>(bound));
}

/// Whether verification accepts what `run` leaves on an input: 0, the timed one, or a challenge.
template <class Run>
bool passes(Instance& i, int input, const Run& run) {
  i.pose(input);
  i.reset(nullptr);
  run();
  synchronize();
  return i.verify().passed;
}

/// The first input on which it does not: -1 when it passes on all.
template <class Run>
int caught_by(Instance& i, const Run& run) {
  for (int input = 0; input <= i.challenges(); ++input) {
    if (!passes(i, input, run)) return input;
  }
  return -1;
}

/// At least one input shows the fault that `run(once)` commits.
template <class Once, class Run>
void expect_caught_once(Instance& i, const Single<Once>& once, const Run& run) {
  EXPECT_GE(caught_by(i, [&] { run(once); }), 0)
      << "fault " << static_cast<int>(once.what) << " in step " << once.step << " at (" << once.row
      << ", " << once.column << ")";
}

}  // namespace amasia
