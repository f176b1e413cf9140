// Which config of a variant can run here, and what its kernels cost.
#pragma once

#include <cstddef>
#include <string>

#include "harness/gpu/launched_blocks.hpp"
#include "harness/results/result.hpp"
#include "harness/variant.hpp"
#include "variants/host_device.hpp"

namespace amasia {

/// The config of that name, or for an empty name the first of the candidates for `best` that device
/// and problem support. nullptr with `reason`, a sentence, when there is none.
const Config* choose_config(const Variant& variant, const std::string& name,
                            const Instance& instance, const Device& device, std::string& reason);

/// The config of a schedule: the one named if it can run here, else the first that can, with the
/// reason; nullptr with the reason when there is none.
const Config* choose_of_schedule(const Variant& variant, const std::string& schedule,
                                 const std::string& name, const Instance& instance,
                                 const Device& device, std::string& reason);

/// What `best` runs: the tuner's winner `name`, or else the built-in choice, with the reason.
const Config* choose_best(const Variant& variant, const std::string& name, const Instance& instance,
                          const Device& device, std::string& reason);

/// "plain copies: ..." where the variant's mechanism is missing from the device or from this
/// program's code for it, else empty.
std::string fallback_of(const Variant& variant, const Config& config, const Device& device);

/// Registers, shared memory, occupancy of one kernel as loaded on this device. `launched`: what the
/// run launches; without it bytes in flight are those of as many blocks as fit.
KernelEvidence resources_of(const KernelUse& kernel, const Device& device,
                            const LaunchedBlocks& launched = {});

// The part of L2 whose lines stay, so that one run's are no gain of the next one's.

class PersistingL2 {
 public:
  /// Takes the limit that is set now for the one that nobody has set.
  explicit PersistingL2(int device);
  /// What was left set since the last call, in words, "" for nothing. The limit is the first one
  /// again, the stream has no access policy, and no line stays any longer.
  std::string put_back(Stream stream) const;

 private:
  static std::size_t limit();

  bool exists_ = false;  // since compute capability 8.0
  std::size_t first_limit_ = 0;
};

}  // namespace amasia
