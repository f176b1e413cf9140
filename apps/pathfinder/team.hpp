// How many threads walk the rows of the CPU reference together.
#pragma once

#include <algorithm>
#include <cstdint>

namespace amasia::pathfinder {

/// Threads for rows of `cols` cells on a host that shows `processors`. There is a barrier behind
/// every row, and it must cost little of it: a thread has at least 16,384 cells (80 us at the 5 ns
/// a cell of the one host where it was measured). Hosts often show more processors than a process
/// may use at one time, and a barrier then waits for threads that do not run, milliseconds a row:
/// with a team of all, 10,000 rows of 10,000 took more than two minutes on such a host, and take
/// half a second on one core. So 16 at most.
constexpr int team_size(std::int64_t cols, unsigned processors) {
  constexpr std::int64_t cells_per_thread = 16384, most = 16;
  const std::int64_t limit = std::clamp<std::int64_t>(processors, 1, most);
  return static_cast<int>(std::clamp<std::int64_t>(cols / cells_per_thread, 1, limit));
}

}  // namespace amasia::pathfinder
