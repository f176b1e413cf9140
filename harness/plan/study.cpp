#include "harness/plan/study.hpp"

#include <fmt/format.h>

#include "harness/text/pattern.hpp"
#include "harness/published/published.hpp"

namespace amasia {
namespace {

Effort effort(int max_rounds, double seconds, bool energy) {
  Effort e;
  e.max_rounds = max_rounds;
  e.seconds = seconds;
  e.energy = energy;
  return e;
}

}  // namespace

const std::vector<Study>& studies() {
  static const std::vector<Study> all{
      {"smoke",
       "every variant at tiny and odd sizes: does it run and is it right",
       Preset::smoke,
       {"cold"},
       {"stream"},
       effort(15, 1, false)},
      {"quick",
       "every variant at one realistic size, cold, in both launch modes: under two minutes",
       Preset::quick,
       {"cold"},
       {"stream", "graph"},
       effort(51, 4, false)},
      {"paper",
       "the sizes of Svedin et al. 2021, Table 2, and those of the targets; cold and hot, energy",
       Preset::paper,
       {"cold", "hot"},
       {"stream", "graph"},
       effort(101, 8, true)},
      {"sweep",
       "from launch-bound to memory-filling sizes, cold: where each strategy begins to pay",
       Preset::sweep,
       {"cold"},
       {"graph"},
       effort(41, 4, false)},
  };
  return all;
}

const Study& find_study(const std::string& name) {
  std::vector<std::string> names;
  for (const Study& s : studies()) {
    if (s.name == name) return s;
    names.emplace_back(s.name);
  }
  for (std::string& id : inventory_names()) names.push_back(std::move(id));
  throw UsageError(fmt::format("no study '{}': {}", name, suggestion(name, names)));
}

Preset preset_from(const std::string& name) {
  std::vector<std::string> names;
  int index = 0;
  for (const auto& known : preset_names) {
    if (known == name) return static_cast<Preset>(index);
    names.emplace_back(known);
    ++index;
  }
  throw UsageError(fmt::format("no preset '{}': {}", name, suggestion(name, names)));
}

}  // namespace amasia
