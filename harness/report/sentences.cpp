#include "harness/report/report.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/conclusions/comparison.hpp"
#include "harness/conclusions/sessions.hpp"
#include "harness/statistics/schedule.hpp"

namespace amasia {

namespace {

using Comparisons = std::vector<const Comparison*>;

/// Digits after the point with which an end that is not 1 is not shown as 1, and the two ends not
/// as one number.
int digits_for(double low, double high) {
  constexpr int most = 6;
  for (int digits = 2; digits < most; ++digits) {
    const auto shown = [&](double value) { return fmt::format("{:.{}f}", value, digits); };
    const auto told = [&](double end) { return end == 1 || shown(end) != shown(1); };
    if (told(low) && told(high) && (low == high || shown(low) != shown(high))) return digits;
  }
  return most;
}

/// "1.17× [1.15, 1.19]"
std::string ratio_text(const RatioInterval& r) {
  const int digits = digits_for(r.low, r.high);
  return fmt::format("{:.{}f}× [{:.{}f}, {:.{}f}]", r.ratio, digits, r.low, digits, r.high, digits);
}

bool is_difference(SpeedClaim claim) {
  return claim == SpeedClaim::faster || claim == SpeedClaim::slower;
}

/// "tma", "tma, dsm", "tma, dsm, overlap, 2 more".
std::string names_of(const Comparisons& list) {
  constexpr std::size_t most = 3;
  std::vector<std::string> names;
  for (const Comparison* c : list) {
    if (names.size() < most) names.push_back(strategy_of(c->variant));
  }
  if (list.size() > most) names.push_back(fmt::format("{} more", list.size() - most));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "0.8 %", never less than there is.
std::string percent_up(double share) {
  return fmt::format("{:.1f} %", std::ceil(1000 * share) / 10);
}

/// At their best; at iso where nothing else is compared.
Comparisons compared_in(const GroupResult& group) {
  for (const Role role : {Role::best, Role::iso}) {
    Comparisons list;
    for (const Comparison& c : group.comparisons) {
      if (c.role == role && !c.control && c.claim != SpeedClaim::invalid) list.push_back(&c);
    }
    if (!list.empty()) return list;
  }
  return {};
}

/// Takes out of `list`, and returns, what `which` says.
template <class Which>
Comparisons taken_out(Comparisons& list, const Which& which) {
  Comparisons out;
  std::ranges::copy_if(list, std::back_inserter(out), which);
  std::erase_if(list, which);
  return out;
}

/// Where each is a tie, by how much they differ from baseline at most.
std::optional<double> tie_of(const Comparisons& list) {
  double most = 0;
  for (const Comparison* c : list) {
    const auto difference = most_difference(*c);
    if (!difference) return std::nullopt;
    most = std::max(most, *difference);
  }
  return most;
}

/// The largest first, of the found faster. What baseline gains by the strategy's schedule, too,
/// movement is not shown to gain: it is in `by_schedule`.
struct Found {
  Comparisons faster{}, by_schedule{}, undecided{};
};

Found found_in(const GroupResult& group) {
  Comparisons list = compared_in(group);
  std::ranges::stable_sort(list, std::greater{}, [](const auto* c) { return c->speedup.ratio; });
  Found found;
  found.undecided = taken_out(list, [](const Comparison* c) { return !is_difference(c->claim); });
  found.faster =
      taken_out(list, [](const Comparison* c) { return c->claim == SpeedClaim::faster; });
  const std::vector<Gain> gains = gains_of(group);
  found.by_schedule = taken_out(found.faster, [&](const Comparison* c) {
    return std::ranges::any_of(gains, [&](const Gain& gain) {
      return gain.total == c && gain.by_schedule != nullptr &&
             gain.by_schedule->claim == SpeedClaim::faster &&
             gain.by_movement->claim != SpeedClaim::faster;
    });
  });
  return found;
}

/// Of user kernels, which have `inputs`, the name of the first.
std::string baseline_of(const GroupResult& group, const Comparison& c) {
  const auto pair = rows_of(group.rows, c);
  if (pair && !group.inputs.empty()) return pair->reference->config;
  return c.role == Role::best ? "the tuned baseline" : "the baseline";
}

std::optional<Answer> answer_of(const GroupResult& group, const std::string& runs) {
  const Comparisons compared = compared_in(group);
  if (compared.empty()) return std::nullopt;
  const std::string base = baseline_of(group, *compared.front());
  auto [faster, by_schedule, undecided] = found_in(group);
  const auto answer = [&](const std::string& text, double ratio = 0) {
    return Answer{fmt::format("{}: {} ({})", group.key.to_string(), text, runs), ratio > 0, ratio};
  };
  const auto wins = [&](const Comparison& best, const std::string& how) {
    return answer(fmt::format("{} {} faster than {}{}", strategy_of(best.variant),
                              ratio_text(best.speedup), base, how),
                  best.speedup.ratio);
  };
  if (!faster.empty()) {
    const Comparison& best = *faster.front();
    faster.erase(faster.begin());
    const Comparisons ties =
        taken_out(faster, [&](const Comparison* c) { return c->speedup.high >= best.speedup.low; });
    return wins(best, ties.empty() ? "" : "; ties with " + names_of(ties));
  }
  if (!by_schedule.empty()) return wins(*by_schedule.front(), " by its schedule alone");
  if (undecided.empty()) return answer(base + " wins: every other one is slower");
  if (const auto most = tie_of(undecided)) {
    return answer(fmt::format("a tie: {} and {} differ by at most {}", names_of(undecided), base,
                              percent_up(*most)));
  }
  return answer(fmt::format("not resolved between {} and {}", names_of(undecided), base));
}

/// What may resolve a claim that is not; empty where nothing does.
std::string remedy_of(SpeedClaim claim, int rounds) {
  const int more = 2 * std::max(rounds, least_rounds) + 1;
  switch (claim) {
    case SpeedClaim::not_resolved:
      return fmt::format("; more rounds (--min-rounds {0} --max-rounds {0}) may resolve it", more);
    case SpeedClaim::within_noise:
      return "; a machine on which baseline differs less from itself may resolve it";
    default:
      return "";
  }
}

}  // namespace

std::vector<Answer> answers(const ResultFile& file) {
  const std::size_t sessions = file.provenance.sessions.size();
  const std::string runs =
      sessions > 1 ? fmt::format("the first of {} runs", sessions) : std::string("one run");
  std::vector<Answer> list;
  for (const GroupResult* group : shown_groups(file)) {
    if (auto answer = answer_of(*group, runs)) list.push_back(std::move(*answer));
  }
  std::ranges::stable_sort(list, std::greater{}, &Answer::ratio);
  return list;
}

std::vector<std::string> not_resolved(const GroupResult& group) {
  const auto [faster, by_schedule, undecided] = found_in(group);
  const double fastest = faster.empty() ? 1 : faster.front()->speedup.ratio;
  std::vector<std::string> lines;
  for (const Comparison* c : undecided) {
    if (c->speedup.ratio <= fastest || most_difference(*c)) continue;
    lines.push_back(fmt::format("{}: {} ran {}, {}{}", group.key.to_string(),
                                strategy_of(c->variant), ratio_text(c->speedup), word_of(c->claim),
                                remedy_of(c->claim, group.rounds)));
  }
  return lines;
}

std::string sentence_of(const Comparison& comparison, const std::string& name,
                        const std::string& against) {
  const SpeedClaim claim = comparison.claim;
  const RatioInterval& ratio = comparison.speedup;
  if (!is_difference(claim)) {
    const auto tie = most_difference(comparison);
    return fmt::format(
        "{} against {}: {}, {}x [{}, {}]", name, against,
        tie ? "no difference larger than " + percent_up(*tie) : std::string(word_of(claim)),
        format_number(ratio.ratio), format_number(ratio.low), format_number(ratio.high));
  }
  const Estimate times = claim == SpeedClaim::faster
                             ? estimate_of(ratio)
                             : Estimate{1 / ratio.ratio, 1 / ratio.high, 1 / ratio.low};
  return fmt::format("{} ran {}x [{}, {}] {} than {}", name, format_number(times.value),
                     format_number(times.low), format_number(times.high), word_of(claim), against);
}

}  // namespace amasia
