// What the host can ask of the app's device instance, without CUDA headers.
#pragma once

#include "apps/cfd/cfd.hpp"
#include "apps/cfd/cpu_reference.hpp"

namespace amasia::cfd {

/// The instance behind the app's own exports: the harness sees InstanceOf<Problem> only.
class CfdInstance : public InstanceOf<Problem> {
 public:
  /// What the first run that passed verification computed of the timed input. Kept only where the
  /// parameters name an out_file. Throws std::runtime_error when no run has passed.
  virtual const HostVariables& right_result() const = 0;
};

}  // namespace amasia::cfd
