// What patterns on a command line mean: which variants of which apps, and which microbenchmarks.
#pragma once

#include <string>
#include <vector>

#include "harness/microbenchmark.hpp"
#include "harness/registry.hpp"

namespace amasia {

/// An app and those of its variants that are meant; none where the program has no device code.
struct SelectedApp {
  const App* app = nullptr;
  std::vector<const Variant*> variants{};
};

struct Selection {
  std::vector<SelectedApp> apps{};
  std::vector<const Microbenchmark*> microbenchmarks{};
};

/// Whether variants or microbenchmarks are part of this program. Without (preset cpu), apps, their
/// sizes and their CPU references still are.
bool has_device_code();

/// The apps and variants that patterns mean, by name: "pathfinder", "*/tma", "hotspot/dsm"; all if
/// there is no pattern. In a program without variants a pattern is held against the names that the
/// source tree has, and selects the apps of those it matches. Throws UsageError with the nearest
/// names for a pattern that matches nothing.
std::vector<SelectedApp> select_apps(const std::vector<std::string>& patterns);

/// The microbenchmarks of the source tree that this program was built without.
std::vector<std::string> microbenchmarks_left_out();

/// What to do where a program was built with a few folders of microbench/ only (CMake's
/// AMASIA_MICROBENCHMARKS), as run.sh builds it.
inline constexpr char how_to_build_all_microbenchmarks[] =
    "configure its build folder again, with -DAMASIA_MICROBENCHMARKS=all (cmake build/sm90 "
    "-DAMASIA_MICROBENCHMARKS=all && cmake --build build/sm90)";

/// The same, and microbenchmarks for the patterns that match no variant ("memory/*"). In a program
/// without device code the patterns are checked, and no microbenchmark is selected: it has none.
Selection select(const std::vector<std::string>& patterns);

/// Variants under their apps, in the order of apps(). Apps without any are left out.
std::vector<SelectedApp> by_app(const std::vector<const Variant*>& chosen);

}  // namespace amasia
