// Who does what in the block that decomposes a diagonal block: plain arithmetic, the same on host
// and device; the CPU tests replay it.
//
// The diagonal block is 4 x 4 sub-blocks of 32 x 32, and a task is a warp's work on one of them. A
// step decomposes a diagonal sub-block, solves its row and its column with it, and updates the next
// diagonal sub-block: that is the chain, in three phases with a barrier behind each. While one warp
// decomposes, others do what is not on the chain, as late as can be. They make the updates that
// this step's solving and the next diagonal sub-block need, by all steps before in one product.
// They store what the last step has finished.
#pragma once

#include <array>
#include <cstdint>

#include "apps/lud/lud.hpp"
#include "variants/host_device.hpp"

namespace amasia::lud {

inline constexpr int sub = solve_edge;
inline constexpr int subs = panel_width / sub;
inline constexpr int block_warps = 8;
/// 3 step + {decompose, solve, update}; the last step has nothing to solve, its second phase only
/// stores, and it has no update.
inline constexpr int phases = 3 * subs - 1;

struct Task {
  enum Kind { none, decompose, solve, update } kind = none;
  /// decompose, solve: the step. update: the first step whose panels are subtracted, and
  /// the one behind the last.
  int step = 0, end = 0;
  bool lower = false;  // solve: with L of the diagonal sub-block; otherwise with U
  int i = 0, j = 0;    // solve, update: the sub-block
  /// update: the whole sub-block, its upper or lower half, or a quarter.
  enum Part { whole, half, quarter } part = whole;
  bool lower_rows = false, right_columns = false;  // of the halves
  /// Behind the task: a sub-block to be stored.
  bool stores = false;
  int stored_i = 0, stored_j = 0;
};

/// What a warp does in a phase.
AMASIA_HD constexpr Task task_of(int phase, int warp) {
  static_assert(subs == 4 && block_warps == 8, "the distribution is for these");
  const int step = phase / 3;
  const int left = subs - 1 - step;  // sub-blocks beside, and below
  Task t;
  t.step = step;
  if (phase % 3 == 0) {
    if (warp == 0) {
      t.kind = Task::decompose;
      return t;
    }
    // The row of the last step, from its diagonal on, then the rest of its column.
    const int place = warp - 1;
    if (step > 0 && place <= 2 * (left + 1)) {
      t.stores = true;
      t.stored_i = place <= left + 1 ? step - 1 : step - 1 + place - (left + 1);
      t.stored_j = place <= left + 1 ? step - 1 + place : step - 1;
    }
    if (warp == 4) return t;  // it would take issue slots from warp 0
    const int other = warp < 4 ? warp - 1 : warp - 2;
    if ((step == 1 && other < 5) || step == 2) {
      // The row of `step`, its column, and the next diagonal sub-block: a warp each, or two where
      // they lose 64 columns of L.
      const int which = other / step;
      t.kind = Task::update;
      t.step = 0, t.end = step;
      t.i = which < left ? step : which < 2 * left ? step + 1 + which - left : step + 1;
      t.j = which < left ? step + 1 + which : which < 2 * left ? step : step + 1;
      t.part = step == 1 ? Task::whole : Task::half;
      t.lower_rows = step == 2 && other % 2 == 1;
    }
  } else if (phase % 3 == 1) {
    t.lower = warp % 2 == 0;
    if (left == 0) {
      t.stores = warp == 0;
      t.stored_i = t.stored_j = step;
    } else if (warp < 2 * left) {
      t.kind = Task::solve;
      t.i = t.lower ? step : step + 1 + warp / 2;
      t.j = t.lower ? step + 1 + warp / 2 : step;
    }
  } else if (warp < 4) {
    t.kind = Task::update;
    t.end = step + 1;
    t.i = t.j = step + 1;
    t.part = Task::quarter;
    t.lower_rows = warp / 2 == 1, t.right_columns = warp % 2 == 1;
  }
  return t;
}

/// A task in one word, which takes less time to fetch than a task takes to be worked out.
AMASIA_HD constexpr std::uint32_t packed(const Task& t) {
  const int fields[] = {t.kind, t.step,       t.end,           t.lower,  t.i,        t.j,
                        t.part, t.lower_rows, t.right_columns, t.stores, t.stored_i, t.stored_j};
  const int bits[] = {2, 2, 2, 1, 2, 2, 2, 1, 1, 1, 2, 2};
  std::uint32_t word = 0;
  int at = 0;
  for (int f = 0; f < 12; at += bits[f++]) word |= static_cast<std::uint32_t>(fields[f]) << at;
  return word;
}
AMASIA_HD constexpr Task unpacked(std::uint32_t word) {
  const auto take = [&](int bits) {
    const int field = static_cast<int>(word & ((1u << bits) - 1));
    word >>= bits;
    return field;
  };
  Task t;
  t.kind = static_cast<Task::Kind>(take(2));
  t.step = take(2);
  t.end = take(2);
  t.lower = take(1);
  t.i = take(2);
  t.j = take(2);
  t.part = static_cast<Task::Part>(take(2));
  t.lower_rows = take(1);
  t.right_columns = take(1);
  t.stores = take(1);
  t.stored_i = take(2);
  t.stored_j = take(2);
  return t;
}

/// All tasks of a warp are fetched at once, one per lane.
struct TaskTable {
  std::uint32_t of[block_warps][32] = {};
};
constexpr TaskTable task_table() {
  TaskTable table;
  for (int warp = 0; warp < block_warps; ++warp) {
    for (int phase = 0; phase < phases; ++phase) {
      table.of[warp][phase] = packed(task_of(phase, warp));
    }
  }
  return table;
}

}  // namespace amasia::lud
