// A campaign split over machines: which part of a list each of them takes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace amasia {

/// Part `index` of `count`, counted from 1.
struct Shard {
  int index = 1;
  int count = 1;
};

/// "3/16". Throws UsageError unless 1 <= i <= n and n is at most a million.
Shard parse_shard(const std::string& text);

/// The part of 0..count-1 that shard `i` of `n` (1-based) runs: over all i disjoint, complete and
/// the same on every machine. Throws UsageError unless 1 <= i <= n.
std::vector<std::size_t> shard_members(std::size_t count, int i, int n);

/// The shard's part of `planned`, all of it without a shard.
template <class Planned>
std::vector<Planned> keep_shard(std::vector<Planned> planned, const std::optional<Shard>& shard) {
  if (!shard) return planned;
  std::vector<Planned> mine;
  for (const std::size_t member : shard_members(planned.size(), shard->index, shard->count)) {
    mine.push_back(std::move(planned[member]));
  }
  return mine;
}

}  // namespace amasia
