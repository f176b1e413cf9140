// --dry-run: what would run, without running it.
#pragma once

#include <optional>
#include <string>

#include "harness/plan/campaign.hpp"
#include "harness/session/session.hpp"

namespace amasia {

/// A campaign, to be read before it is started.
struct Preview {
  /// The GPU it would run on, or why there is none.
  struct Machine {
    std::optional<Device> device{};
    std::string obstacle{};
  };

  std::string title;  // "run", "quick", "tune"
  Campaign campaign{};
  Machine machine{};
  bool winners_known = false;  // whether the configs of the role best are decided
};

/// The device that `options` name. None is no error here.
Preview::Machine look_at(const SessionOptions& options);

/// Groups with their rows and configs, device memory by size, expected time; lines of at most 100
/// columns. What depends on a device that is not there is shown as unknown.
std::string describe(const Preview& preview);

/// The same on stdout, with the closing sentence.
void print_preview(const Preview& preview);

}  // namespace amasia
