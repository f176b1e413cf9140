#include "inputs/permutation.hpp"

#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

namespace amasia {

std::vector<std::uint32_t> random_cycle(std::uint32_t count, std::uint64_t seed) {
  if (count == 0) throw std::invalid_argument("random_cycle: no elements");
  std::vector<std::uint32_t> next(count);
  std::iota(next.begin(), next.end(), 0U);
  std::mt19937_64 random(seed);
  for (std::uint32_t i = count - 1; i > 0; --i) {
    // Below i, never i itself: that is what makes it one cycle (Sattolo 1986).
    const std::uint32_t j = std::uniform_int_distribution<std::uint32_t>(0, i - 1)(random);
    std::swap(next[i], next[j]);
  }
  return next;
}

bool is_full_cycle(const std::vector<std::uint32_t>& next) {
  if (next.empty()) return false;
  std::size_t visited = 0;
  std::uint32_t at = 0;
  do {
    if (at >= next.size()) return false;
    at = next[at];
    ++visited;
  } while (at != 0 && visited <= next.size());
  return visited == next.size();
}

}  // namespace amasia
