// Which sizes of an app a command runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/app.hpp"
#include "harness/device.hpp"

namespace amasia {

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

/// A size the user asked for must fit in device memory (UsageError); one of a preset is skipped
/// with the reason later.
void refuse_too_large(const App& app, const std::vector<Parameters>& sizes,
                      const SizeRequest& request, const Device& device);

/// Whether the free memory of the device holds the app's instance of this size.
bool fits(const App& app, const Parameters& size, const Device& device);

}  // namespace amasia
