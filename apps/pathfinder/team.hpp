// How many threads walk the rows of the CPU reference together.
#pragma once

#include <algorithm>
#include <cstdint>

namespace amasia::pathfinder {

/// Threads for rows of `cols` cells on a host that shows `processors`. A barrier follows every row
/// and must cost little of it, so a thread has at least 16,384 cells (80 us at 5 ns a cell,
/// measured on one host). Hosts often show more processors than a process may use at one time. A
/// barrier then waits milliseconds for threads that do not run: 10,000 rows of 10,000 took more
/// than two minutes with all of them, and take half a second on one core. So 16 at most.
constexpr int team_size(std::int64_t cols, unsigned processors) {
  constexpr std::int64_t cells_per_thread = 16384, most = 16;
  const std::int64_t limit = std::clamp<std::int64_t>(processors, 1, most);
  return static_cast<int>(std::clamp<std::int64_t>(cols / cells_per_thread, 1, limit));
}

}  // namespace amasia::pathfinder
