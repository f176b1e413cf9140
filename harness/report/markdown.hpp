// Result files for people.
#pragma once

#include <string>

#include "harness/results/profile.hpp"
#include "harness/results/result.hpp"

namespace amasia {

/// Provenance, ceilings, and per group the A/A noise, the floor, the table, failures and warnings.
/// A speed-up that is not resolved, or smaller than the A/A interval, is shown as such.
std::string to_markdown(const ResultFile&);

// A profile as tables for people.

/// A table for each group: what most often tells two rows apart, and what warps wait for most.
std::string to_markdown(const ProfileFile& file);

}  // namespace amasia
