#include "harness/conclusions/recomputed.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "harness/conclusions/floor.hpp"
#include "harness/conclusions/summary.hpp"
#include "harness/results/envelope.hpp"
#include "harness/results/fields.hpp"
#include "harness/results/place.hpp"
#include "harness/text/number.hpp"

namespace amasia {
namespace {

/// Sums and logarithms of another compiler may differ in the last bits.
bool same_number(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

/// What a number is held against, and whose it is: for the message only.
struct Source {
  std::string_view where{};  // "the samples"
  std::string whose{};       // "hotspot rows=512 cold stream, hotspot/tma best"
};

[[noreturn]] void refuse(const Place& at, const std::string& expected, const std::string& found,
                         const Source& source) {
  throw ResultError(fmt::format(
      "{}: expected {}, as {} have it, found {}{}", at.to_string(), expected, source.where, found,
      source.whose.empty() ? "" : " (" + source.whose.substr(0, 300) + ")"));
}

template <class T>
std::string text_of(const T& value) {
  if constexpr (IsOptional<T>::value) {
    return value ? text_of(*value) : "nothing";
  } else if constexpr (HasFields<T>::value) {
    return "an interval";
  } else if constexpr (HasWords<T>::value) {
    return std::string(word_of(value));
  } else {
    return fmt::format("{}", value);
  }
}

/// Throws ResultError, naming the member, where what stands in a file is not what follows.
template <class T>
void check(const T& found, const T& expected, const Place& at, const Source& source) {
  if constexpr (IsOptional<T>::value) {
    if (found.has_value() != expected.has_value()) {
      refuse(at, text_of(expected), text_of(found), source);
    }
    if (found) check(*found, *expected, at, source);
  } else if constexpr (HasFields<T>::value) {
    for_each_field<T>([&](const auto& field) {
      check(found.*field.member, expected.*field.member, Place(at, field.name), source);
    });
  } else {
    bool same = found == expected;
    if constexpr (std::is_same_v<T, double>) same = same_number(found, expected);
    if (!same) refuse(at, text_of(expected), text_of(found), source);
  }
}

void check_ceilings(const std::vector<Ceiling>& ceilings, const Place& at) {
  for (std::size_t c = 0; c < ceilings.size(); ++c) {
    const Place ceiling(at, c), value(ceiling, "value");
    const Source source{"the samples", ceilings[c].name};
    const std::string found = fmt::format("{}", ceilings[c].value);
    if (ceilings[c].samples.empty()) refuse(value, "no ceiling", found, source);
    check(ceilings[c].value, median_interval(ceilings[c].samples, 0.95).median, value, source);
  }
}

/// Ceilings as low, or as high, as their samples come.
std::vector<Ceiling> extreme_ceilings(std::vector<Ceiling> ceilings, bool high) {
  for (Ceiling& c : ceilings) {
    c.value = high ? *std::max_element(c.samples.begin(), c.samples.end())
                   : *std::min_element(c.samples.begin(), c.samples.end());
  }
  return ceilings;
}

/// The floors of a merged file are those of its parts, each from the ceilings of its part, and the
/// file has the samples of all parts together: each number must lie between what the lowest and the
/// highest of them allow.
class Floors {
 public:
  explicit Floors(const std::vector<Ceiling>& ceilings)
      : lowest_(extreme_ceilings(ceilings, false)), highest_(extreme_ceilings(ceilings, true)) {}

  void check(const GroupResult& group, const Place& at, const Source& of_group) const {
    if (!group.floor) return;
    const Source source{"the ceilings", of_group.whose};
    // A rate is the better the higher, a latency the better the lower.
    const auto a = compute_floor(group.work, highest_), b = compute_floor(group.work, lowest_);
    if (!a || !b) {
      refuse(at, "nothing", fmt::format("a floor of {} ms", group.floor->floor_ms()), source);
    }
    for_each_field<Floor>([&](const auto& field) {
      if constexpr (!std::decay_t<decltype(field)>::derived) {
        const double one = (*a).*field.member, other = (*b).*field.member;
        const auto [least, most] = std::minmax(one, other);
        const double found = (*group.floor).*field.member;
        if (!same_number(found, std::clamp(found, least, most))) {
          refuse(Place(at, field.name),
                 least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most),
                 fmt::format("{}", found), source);
        }
      }
    });
  }

 private:
  std::vector<Ceiling> lowest_, highest_;
};

/// The round after the last of these samples, which are to be in order, one in a round.
int rounds_in(const std::vector<Sample>& samples, const Place& columns) {
  int next = 0;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    if (samples[s].round < next) {
      const Place column(columns, "round");
      throw ResultError(fmt::format("{}: expected at least {}, because rounds ascend, found {}",
                                    Place(column, s).to_string(), next, samples[s].round));
    }
    next = samples[s].round + 1;
  }
  return next;
}

/// Each round once, in order, and as many as the group says: pairing relies on the one, the choice
/// between two files of one group on the other.
void check_rounds(const GroupResult& group, const Place& at, const Source& source) {
  const Place rows(at, "rows");
  int rounds = 0;
  for (std::size_t r = 0; r < group.rows.size(); ++r) {
    const Place row(rows, r);
    const int own = rounds_in(group.rows[r].samples, Place(row, "samples"));
    const Place second(row, "repeat_samples");
    if (rounds_in(group.rows[r].repeat_samples, second) > own) {
      throw ResultError(fmt::format("{}: expected no round beyond those of samples, {} ({})",
                                    second.to_string(), own, source.whose));
    }
    rounds = std::max(rounds, own);
  }
  if (rounds > 0 && rounds != group.rounds) {
    refuse(Place(at, "rounds"), fmt::format("{}", rounds), fmt::format("{}", group.rounds), source);
  }
}

void check_row(const Row& found, const Row& expected, const Place& at, const Source& source) {
  const bool wrong = found.verdict && !found.verdict->passed;
  if (found.status == RowStatus::ok && wrong) {
    refuse(Place(at, "status"), std::string(word_of(RowStatus::failed)),
           std::string(word_of(found.status)), {"its verdict and samples", source.whose});
  }
  if (found.status != RowStatus::ok && !(found.samples.empty() && found.repeat_samples.empty())) {
    throw ResultError(fmt::format("{}: expected no samples of a row that is {}, found {} ({})",
                                  Place(at, "samples").to_string(), word_of(found.status),
                                  found.samples.size() + found.repeat_samples.size(),
                                  source.whose));
  }
  check(found.time_ms, expected.time_ms, Place(at, "time_ms"), source);
  check(found.floor_fraction, expected.floor_fraction, Place(at, "floor_fraction"), source);
  check(found.gflops, expected.gflops, Place(at, "gflops"), source);
  check(found.gbytes_per_s, expected.gbytes_per_s, Place(at, "gbytes_per_s"), source);
}

std::string name_of(const Comparison& c) {
  return fmt::format("{} {}{}{} against {}{}{}", c.variant, word_of(c.role),
                     c.schedule.empty() ? "" : " ", c.schedule, c.against,
                     c.against_schedule.empty() ? "" : " ", c.against_schedule);
}

bool ends_at_one(const RatioInterval& interval) {
  return same_number(interval.low, 1) || same_number(interval.high, 1);
}

void check_comparison(const Comparison& found, Comparison expected, const Place& at,
                      const std::string& group) {
  const Source source{"the samples", group + ", " + name_of(expected)};
  if (name_of(found) != name_of(expected) || found.control != expected.control) {
    const auto text = [](const Comparison& c) {
      return name_of(c) + (c.control ? " (the control)" : "");
    };
    refuse(at, text(expected), text(found), {"the rows", group});
  }
  // Where an end of an interval is 1 but for the last bits, another compiler may see either side.
  const bool either = ends_at_one(found.speedup);
  const bool either_itself = found.itself && expected.itself && ends_at_one(*found.itself);
  if (either) {
    expected.speedup.resolved = found.speedup.resolved;
    expected.verdict = found.verdict;
  }
  if (either_itself) expected.itself->resolved = found.itself->resolved;
  if (either || either_itself) expected.claim = found.claim;
  check(found, expected, at, source);
}

void check_group(const GroupResult& group, const Floors& floors, double asked, const Place& at) {
  const std::string name = group.key.to_string();
  floors.check(group, Place(at, "floor"), {"", name});
  check_rounds(group, at, {"the samples", name});
  GroupResult again = group;
  recompute(again, asked);
  const Place rows(at, "rows"), comparisons(at, "comparisons");
  for (std::size_t r = 0; r < group.rows.size(); ++r) {
    const Row& row = group.rows[r];
    check_row(row, again.rows[r], Place(rows, r),
              {"the samples", fmt::format("{}, {} {}{}{}", name, row.variant, word_of(row.role),
                                          row.schedule.empty() ? "" : " ", row.schedule)});
  }
  const std::size_t both = std::min(group.comparisons.size(), again.comparisons.size());
  for (std::size_t c = 0; c < both; ++c) {
    check_comparison(group.comparisons[c], again.comparisons[c], Place(comparisons, c), name);
  }
  if (group.comparisons.size() != again.comparisons.size()) {
    refuse(comparisons, fmt::format("{} of them", again.comparisons.size()),
           fmt::format("{}", group.comparisons.size()), {"the rows", name});
  }
}

void check_microbenchmark(const MicrobenchmarkResult& result, double asked, const Place& at) {
  const Place rows(at, "rows");
  MicrobenchmarkResult again = result;
  recompute(again, asked);
  for (std::size_t r = 0; r < result.rows.size(); ++r) {
    const Place row(rows, r);
    const MicrobenchmarkRow &found = result.rows[r], &expected = again.rows[r];
    const Source source{"the samples", fmt::format("{}, {} at {}", result.name, found.quantity,
                                                   to_string(found.at))};
    check(found.value, expected.value, Place(row, "value"), source);
    check(found.cycles, expected.cycles, Place(row, "cycles"), source);
    check(found.time_ns, expected.time_ns, Place(row, "time_ns"), source);
    check(found.clock_mhz, expected.clock_mhz, Place(row, "clock_mhz"), source);
  }
}

/// Every group names one of the sessions, where there are any, and nothing has a case twice: a row
/// of two sessions must be two measurements.
template <class Result, class Name>
void check_sessions(const Provenance& provenance, const std::vector<Result>& results,
                    const Place& at, const Name& name) {
  std::set<std::pair<int, std::string>> seen;
  const int sessions = static_cast<int>(provenance.sessions.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Place result(at, i), place(result, "session");
    const std::optional<int>& session = results[i].session;
    const std::string found = session ? fmt::format("{}", *session) : "nothing";
    if (session.has_value() != (sessions > 0) || (session && *session >= sessions)) {
      throw ResultError(fmt::format(
          "{}: expected {}, found {}", place.to_string(),
          sessions > 0 ? fmt::format("one of the {} sessions of the provenance", sessions)
                       : std::string("nothing, because the provenance has no sessions"),
          found));
    }
    if (!seen.emplace(session.value_or(-1), name(results[i])).second) {
      throw ResultError(
          session ? fmt::format("{}: expected another session, because {} has {} already",
                                place.to_string(), found, name(results[i]))
                  : fmt::format("{}: expected a case that is not there yet, found {} a second time",
                                result.to_string(), name(results[i])));
    }
  }
}

/// Numbers may each be in range and still have no quotient or logarithm.
template <class Check>
void within_arithmetic(const Place& at, const Check& check) {
  try {
    check();
  } catch (const std::invalid_argument& error) {
    throw ResultError(at.to_string() + ": expected samples that can be compared: " + error.what());
  }
}

}  // namespace

double asked_confidence(const Provenance& provenance) {
  const auto setting = provenance.settings.find("confidence");
  if (setting == provenance.settings.end()) return 0.95;  // as the program has it
  const std::string& text = setting->second;
  const double confidence = number_from<double>(text).value_or(0);
  if (!(confidence > 0 && confidence < 1)) {
    throw ResultError("provenance.settings.confidence: expected a number between 0 and 1, found " +
                      text.substr(0, 40));
  }
  return confidence;
}

void check_summaries(const ResultFile& file) {
  const Place document, groups(document, "groups"), microbenchmarks(document, "microbenchmarks");
  const double asked = asked_confidence(file.provenance);
  check_sessions(file.provenance, file.groups, groups,
                 [](const GroupResult& g) { return g.key.to_string(); });
  check_sessions(file.provenance, file.microbenchmarks, microbenchmarks,
                 [](const MicrobenchmarkResult& m) { return m.name; });
  within_arithmetic(Place(document, "ceilings"),
                    [&] { check_ceilings(file.ceilings, Place(document, "ceilings")); });
  const Floors floors(file.ceilings);
  for (std::size_t g = 0; g < file.groups.size(); ++g) {
    const Place at(groups, g);
    within_arithmetic(at, [&] { check_group(file.groups[g], floors, asked, at); });
  }
  for (std::size_t m = 0; m < file.microbenchmarks.size(); ++m) {
    const Place at(microbenchmarks, m);
    within_arithmetic(at, [&] { check_microbenchmark(file.microbenchmarks[m], asked, at); });
  }
}

ResultFile result_from_json(nlohmann::ordered_json json) {
  ResultFile file = unchecked_from_json(std::move(json));
  check_summaries(file);
  for (GroupResult& group : file.groups) judge_anew(group, asked_confidence(file.provenance));
  return file;
}

ResultFile result_from_text(const std::string& text, const std::string& path) {
  auto json = unsealed(text, path, result_schema_name, result_schema_version);
  try {
    return result_from_json(std::move(json));
  } catch (const ResultError& error) {
    throw ResultError(path + ": " + error.what());
  }
}

ResultFile read_result_file(const std::string& path) {
  return result_from_text(read_packed_file(path), path);
}

}  // namespace amasia
