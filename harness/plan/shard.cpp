#include "harness/plan/shard.hpp"

#include <fmt/format.h>

#include "harness/errors.hpp"
#include "harness/text/number.hpp"

namespace amasia {
namespace {

constexpr int most_shards = 1000000;  // beyond any job array

/// A whole number that is all of `text`; 0 for anything else, which no shard is.
int number(std::string_view text) { return number_from<int>(text).value_or(0); }

}  // namespace

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  Shard shard{0, 0};
  if (slash != std::string::npos) {
    shard.index = number(std::string_view(text).substr(0, slash));
    shard.count = number(std::string_view(text).substr(slash + 1));
  }
  if (shard.index < 1 || shard.index > shard.count || shard.count > most_shards) {
    throw UsageError(fmt::format("--shard {}: expected i/n with 1 <= i <= n <= {}, e.g. 3/16", text,
                                 most_shards));
  }
  return shard;
}

std::vector<std::size_t> shard_members(std::size_t count, int i, int n) {
  if (n < 1 || i < 1 || i > n) {
    throw UsageError(fmt::format("shard {}/{}: expected i/n with 1 <= i <= n", i, n));
  }
  // Dealt like cards, not cut into blocks: neighbours in a plan are the same app at growing sizes.
  std::vector<std::size_t> members;
  for (std::size_t member = static_cast<std::size_t>(i - 1); member < count;
       member += static_cast<std::size_t>(n)) {
    members.push_back(member);
  }
  return members;
}

}  // namespace amasia
