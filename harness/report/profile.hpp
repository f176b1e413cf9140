// A profile as tables for people.
#pragma once

#include <string>

#include "harness/results/profile.hpp"

namespace amasia {

/// A table for each group: what most often tells two rows apart, and what warps wait for most.
std::string to_markdown(const ProfileFile& file);

}  // namespace amasia
