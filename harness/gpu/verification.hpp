// What a row is judged by: the timed input and the challenges beside it.
#pragma once

#include <cstdint>

#include <fmt/format.h>

#include "harness/app.hpp"

namespace amasia {

/// Of that many challenges and of the timed input, which comes last: its outputs stay. `run_once`
/// restores the instance, runs the row once and waits.
template <class RunOnce>
Verdict verdict_on_inputs(Instance& instance, int challenges, RunOnce run_once) {
  Verdict verdict;
  verdict.passed = true;
  std::int64_t checked = 0;
  for (int left = challenges; left >= 0; --left) {
    instance.pose(left);
    if (!verdict.passed) continue;  // the timed input is put back all the same
    run_once();
    verdict = instance.verify();
    checked += verdict.checked;
    if (left > 0 && !verdict.passed) verdict.norm += fmt::format(", on challenge {}", left);
  }
  verdict.checked = checked;
  return verdict;
}

}  // namespace amasia
