// Studies: named lists of cases. A study names no app; every app brings its own sizes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/plan.hpp"

namespace amasia {

struct Study {
  std::string_view name;
  std::string_view summary;
  Preset preset;
  std::vector<std::string> caches;
  std::vector<std::string> launches;
  Effort effort{};
};

const std::vector<Study>& studies();

/// Throws UsageError with the nearest names, those of the inventory (harness/published/published.hpp) too.
const Study& find_study(const std::string& name);

/// Throws UsageError unless `name` is one of preset_names.
Preset preset_from(const std::string& name);

}  // namespace amasia
