// The place of a sample in its round, which follows from the rows that ran.
#pragma once

#include "harness/results/result.hpp"

namespace amasia {

/// Whether a row runs a second time in some rounds: one that is compared with another row. The
/// baseline has its control for that, and a search compares every row with every other.
bool runs_twice(const Row& row);

/// Sets positions as the schedule has them for the rows that have samples. Where those of a row are
/// known, they stay.
void set_positions(GroupResult& group);

}  // namespace amasia
