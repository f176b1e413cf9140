// How the launches of a run follow each other.
#pragma once

#include <optional>
#include <string>

#include "harness/device.hpp"

namespace amasia {

/// `dependent`: all but the first by programmatic dependent launch, so that their blocks come while
/// those of the launch before them end.
enum class Start { in_turn, dependent };

/// Why a device cannot start launches so; nothing if it can.
inline std::optional<std::string> start_objection(Start start, const Device& device) {
  if (start == Start::in_turn || device.compute_capability >= 90) return std::nullopt;
  return "programmatic dependent launch needs compute capability 9.0";
}

}  // namespace amasia
