// What the host can ask of the app's device instance, without CUDA headers.
#pragma once

#include "apps/hotspot/cpu_reference.hpp"
#include "apps/hotspot/hotspot.hpp"

namespace amasia::hotspot {

/// The instance behind the app's own exports: the harness sees InstanceOf<Problem> only.
class HotspotInstance : public InstanceOf<Problem> {
 public:
  /// The result of the last run, copied to the host. Synchronous.
  virtual HostGrid download_result() const = 0;
};

}  // namespace amasia::hotspot
