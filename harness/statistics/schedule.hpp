// Order of the runs in a comparison group: rounds of every entry once, so that drift in clock or
// temperature meets all alike.
#pragma once

#include <vector>

namespace amasia {

/// Order of the entries in round `round`: Williams' design (E. J. Williams 1949), a Latin square in
/// which over a full cycle every entry takes every position, and follows every other entry, equally
/// often. The cycle is `entries` rounds, twice as many when odd.
std::vector<int> round_order(int entries, int round);
int rounds_per_cycle(int entries);

/// The rows of a round in their order: each of `rows` once, and in one of `rounds_for_repeats`
/// rounds each of `repeated` a second time. These take turns; each cycle of the order begins with
/// another, so that none keeps its places.
inline constexpr int rounds_for_repeats = 4;
std::vector<int> rows_of_round(const std::vector<int>& rows, const std::vector<int>& repeated,
                               int round);

}  // namespace amasia
