// What a command runs: the variants and microbenchmarks that its patterns mean, at which sizes, and
// which part of them on this machine.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/app.hpp"
#include "harness/device.hpp"
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
/// there is no pattern. In a program without variants a pattern is compared with the names that the
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

/// The same, and microbenchmarks for the patterns that match no variant: "memory", "memory/*",
/// "microbench/memory/latency". A program without device code has none.
Selection select(const std::vector<std::string>& patterns);

/// Sizes given one by one, or those of a preset.
struct SizeRequest {
  std::vector<std::string> given{};  // "rows=1000,cols=1000": of one app
  std::optional<Preset> preset{};    // as asked for
  Preset otherwise = Preset::quick;  // the command's own, when nothing is asked for

  Preset effective_preset() const { return preset.value_or(otherwise); }
};

/// Throws UsageError for sizes beside a preset, sizes beside more than one selected app, and sizes
/// the app refuses or that overflow.
std::vector<Parameters> sizes_of(const App& app, const SizeRequest& request,
                                 std::size_t apps_selected);

/// Whether the free memory of the device holds the app's instance of this size.
bool fits(const App& app, const Parameters& size, const Device& device);

/// Part `index` of `count`, counted from 1.
struct Shard {
  int index = 1;
  int count = 1;
};

/// "3/16". Throws UsageError unless 1 <= i <= n and n is at most a million.
Shard parse_shard(const std::string& text);

/// The shard's part of `planned`, all of it without a shard. Dealt like cards, not cut into blocks:
/// neighbours in a plan are the same app at growing sizes.
template <class Planned>
std::vector<Planned> keep_shard(std::vector<Planned> planned, const std::optional<Shard>& shard) {
  if (!shard) return planned;
  std::vector<Planned> mine;
  for (auto i = static_cast<std::size_t>(shard->index - 1); i < planned.size();
       i += static_cast<std::size_t>(shard->count)) {
    mine.push_back(std::move(planned[i]));
  }
  return mine;
}

}  // namespace amasia
