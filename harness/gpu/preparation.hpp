// Which config of a variant can run here, and what its kernels cost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

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

// How many blocks a run launches, and what an SM has in flight with so many. A persistent kernel
// with fewer blocks than SMs leaves SMs empty, whatever the occupancy.

/// The blocks of the largest launch of each kernel of a run, by mangled name. Empty where that is
/// not known.
using LaunchedBlocks = std::map<std::string, std::int64_t>;

/// Of a run, which is captured on the stream and not performed. Kernels of libraries are left out.
/// Empty when the run cannot be captured.
LaunchedBlocks launched_blocks(const Launch& launch, Stream stream);

/// Of one kernel: 0 when the run does not launch it at all, nothing when that is not known.
inline std::optional<std::int64_t> blocks_of(const LaunchedBlocks& launched,
                                             const std::string& kernel) {
  if (launched.empty()) return std::nullopt;
  const auto found = launched.find(kernel);
  return found == launched.end() ? 0 : found->second;
}

/// Bytes in flight, the mean over the SMs, rounded down: of the launched blocks, at most of those
/// `resident` at once.
constexpr std::size_t bytes_in_flight_per_sm(std::size_t per_block, std::int64_t resident,
                                             std::optional<std::int64_t> launched, int sm_count) {
  const std::int64_t at_once = std::min(resident, launched.value_or(resident));
  if (at_once <= 0 || sm_count <= 0) return 0;
  return per_block * static_cast<std::size_t>(at_once) / static_cast<std::size_t>(sm_count);
}

/// Registers, shared memory, occupancy of one kernel as loaded on this device. `launched`: what the
/// run launches; without it bytes in flight are those of as many blocks as fit.
KernelEvidence resources_of(const KernelUse& kernel, const Device& device,
                            const LaunchedBlocks& launched = {});

/// The part of L2 whose lines stay, so that one run's are no gain of the next one's.
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
