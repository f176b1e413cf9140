// What the host can ask of the app's device instance, without CUDA headers.
#pragma once

#include "apps/lud/lud.hpp"
#include "apps/lud/matrices.hpp"

namespace amasia::lud {

/// The instance behind the app's own exports.
class LudInstance : public InstanceOf<Problem> {
 public:
  /// L and U of the last run in one matrix, as they lie in memory. Synchronous.
  virtual HostMatrix download_result() const = 0;
};

}  // namespace amasia::lud
