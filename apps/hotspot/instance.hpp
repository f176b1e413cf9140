// What the host can ask of the app's device instance, without CUDA headers.
#pragma once

#include "apps/hotspot/cpu_reference.hpp"
#include "apps/hotspot/hotspot.hpp"

namespace amasia::hotspot {

/// The instance behind the app's own exports: the harness sees InstanceOf<Problem> only.
class HotspotInstance : public InstanceOf<Problem> {
 public:
  /// What the first run that passed verification computed of the timed input; all that pass compute
  /// the same bits. Kept only where the parameters name an out_file. Throws std::runtime_error when
  /// no run has passed.
  virtual const HostGrid& right_result() const = 0;
};

}  // namespace amasia::hotspot
