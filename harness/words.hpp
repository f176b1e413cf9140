// What has a fixed set of values is an enum here (or where its noun lives), with one table of words
// for it: the command line, result files, tables and messages all take the word from it.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/errors.hpp"
#include "variants/host_device.hpp"

namespace amasia {

/// Whether a timed run finds its inputs in the caches: flushed before each, or left by the last.
enum class CacheMode { cold, hot };
/// A list of sizes of each app.
enum class Preset { smoke, quick, paper, sweep };
/// How much of a microbenchmark's question: `quick` is the part that fits many into 90 s.
enum class Scope { quick, full };
/// Why a row is in its group.
/// `iso`: the original geometry. `best`: the best config known. `matched`: the best config known of
/// a schedule that another strategy is best with; the two then differ in movement alone. `cross`:
/// the same, in a table of all schedules. `comparator`: a vendor library. `candidate`: one of the
/// configs that a search tries. `counterpart`: the strategy that a comparator implements, in its
/// config.
enum class Role { iso, best, matched, cross, comparator, candidate, counterpart };
/// What became of a row or point. Anything but ok has a reason beside it.
enum class RowStatus { ok, failed, skipped, crashed };
/// What the interval of a comparison says by itself.
enum class SpeedVerdict { faster, slower, not_resolved };
/// The claim of a comparison once the A/A noise of the baseline is known; invalid groups have none.
enum class SpeedClaim { faster, slower, not_resolved, within_noise, invalid };
/// Why a group's measurement is not valid.
/// `ceiling`: an impossible ceiling of the same run. `floor`: a cold row faster than its floor.
/// `interference`: another process computed on the GPU. `drift`: the baseline's time changed.
/// `device_state`: power, clocks or temperature are not those of the run's start.
enum class InvalidKind { ceiling, floor, interference, drift, device_state };
/// How the intervals within a run of a group were made (statistics/interval_rule.hpp).
/// `exact`: for rounds that are independent. `widened`: by ranks, where the samples show that they
/// are not. `effective`: from the effective number of rounds, where no ranks are left.
enum class IntervalRule { exact, widened, effective };
/// Why sampling ended. A group or point that never ran has none, and says why in its warnings.
enum class StopReason { narrow_enough, round_limit, sample_limit, time_limit };
/// What the floor of a group is made of.
enum class Bound { bytes, operations, dependency };

/// The table of an enum: `what` names it in messages, `list` has the word of each value in order.
/// Specialized beside an enum that lives elsewhere.
template <class Enum>
struct Words;

template <>
struct Words<CacheMode> {
  static constexpr std::string_view what = "cache mode", list[] = {"cold", "hot"};
};
template <>
struct Words<LaunchMode> {
  static constexpr std::string_view what = "launch mode", list[] = {"stream", "graph"};
};
template <>
struct Words<Preset> {
  static constexpr std::string_view what = "preset", list[] = {"smoke", "quick", "paper", "sweep"};
};
template <>
struct Words<Scope> {
  static constexpr std::string_view what = "scope", list[] = {"quick", "full"};
};
template <>
struct Words<Role> {
  static constexpr std::string_view what = "role",
                                    list[] = {"iso",        "best",      "matched",    "cross",
                                              "comparator", "candidate", "counterpart"};
};
template <>
struct Words<RowStatus> {
  static constexpr std::string_view what = "status",
                                    list[] = {"ok", "failed", "skipped", "crashed"};
};
template <>
struct Words<SpeedVerdict> {
  static constexpr std::string_view what = "verdict", list[] = {"faster", "slower", "not resolved"};
};
template <>
struct Words<SpeedClaim> {
  static constexpr std::string_view what = "claim",
                                    list[] = {"faster", "slower", "not resolved",
                                              "within A/A noise", "measurement invalid"};
};
template <>
struct Words<InvalidKind> {
  static constexpr std::string_view what = "kind of disturbance",
                                    list[] = {"ceiling", "floor", "company", "drift",
                                              "device state"};
};
template <>
struct Words<IntervalRule> {
  static constexpr std::string_view what = "rule of intervals",
                                    list[] = {"exact", "widened", "effective"};
};
template <>
struct Words<StopReason> {
  static constexpr std::string_view what = "stop reason",
                                    list[] = {"interval narrow enough", "round limit",
                                              "sample limit", "time limit"};
};
template <>
struct Words<Bound> {
  static constexpr std::string_view what = "bound", list[] = {"bytes", "operations", "dependency"};
};

template <class Enum, class = void>
struct HasWords : std::false_type {};
template <class Enum>
struct HasWords<Enum, std::void_t<decltype(Words<Enum>::list)>> : std::true_type {};

template <class Enum>
constexpr std::string_view word_of(Enum value) {
  return Words<Enum>::list[static_cast<std::size_t>(value)];
}

/// "" for none.
template <class Enum>
constexpr std::string_view word_of(const std::optional<Enum>& value) {
  return value ? word_of(*value) : std::string_view();
}

/// Every value, in the order of its table.
template <class Enum>
std::vector<Enum> all_values() {
  std::vector<Enum> values;
  for (std::size_t i = 0; i < std::size(Words<Enum>::list); ++i) {
    values.push_back(static_cast<Enum>(i));
  }
  return values;
}

/// Nothing for any other text.
template <class Enum>
constexpr std::optional<Enum> find_word(std::string_view text) {
  for (std::size_t i = 0; i < std::size(Words<Enum>::list); ++i) {
    if (Words<Enum>::list[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

/// "ok, failed, skipped or crashed"
template <class Enum>
std::string list_of_words() {
  constexpr std::size_t count = std::size(Words<Enum>::list);
  std::string list;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) list += i + 1 == count ? " or " : ", ";
    list += Words<Enum>::list[i];
  }
  return list;
}

/// Throws Error with the words there are.
template <class Enum, class Error = UsageError>
Enum from_word(std::string_view text) {
  if (const auto value = find_word<Enum>(text)) return *value;
  throw Error("no " + std::string(Words<Enum>::what) + " '" + std::string(text) + "': expected " +
              list_of_words<Enum>());
}

}  // namespace amasia
