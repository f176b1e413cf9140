// What tells a row from the other rows of its variant in a group.
#pragma once

#include <string>

#include "harness/results/result.hpp"

namespace amasia {

/// "best", "candidate 8-warps", "counterpart 8-warps", "matched wide", "cross wide": the role, and
/// what distinguishes rows of that role.
inline std::string role_in_group(const Row& row) {
  std::string name(word_of(row.role));
  if (row.role == Role::candidate || row.role == Role::counterpart) return name + " " + row.config;
  if (row.role == Role::matched || row.role == Role::cross) return name + " " + row.schedule;
  return name;
}

}  // namespace amasia
