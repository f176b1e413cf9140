// What code this program has for the GPU. A program with nothing newer than PTX of compute_80 runs
// on a Hopper GPU, whose driver translates it, and there the kernels of tma are a trap.
#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "harness/device.hpp"

namespace amasia {

/// Of one kernel as the driver loaded it; versions are major * 10 + minor.
struct LoadedCode {
  int ptx = 0;     // 80: compiled for compute_80, whatever became of that since
  int binary = 0;  // of the machine code: older than the device's where none was made for it
};

/// There is no code for this GPU. what() is the sentence that says so.
class NoCode : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Of a `__global__` function. Throws NoCode.
LoadedCode loaded_code(const void* kernel, const Device& device);

/// The compute capability that code can count on: the device's, or what it was compiled for.
inline int capability_of(const LoadedCode& code, const Device& device) {
  return std::min(code.ptx > 0 ? code.ptx : code.binary, device.compute_capability);
}

/// "PTX of compute_80" where the driver had to translate it, else "machine code for sm_80".
inline std::string to_string(const LoadedCode& code) {
  return code.ptx > 0 && code.ptx < code.binary
             ? fmt::format("PTX of compute_{}", code.ptx)
             : fmt::format("machine code for sm_{}", code.binary);
}

/// What the program has to be built with to have all its code for this GPU.
inline std::string rebuild_for(const Device& device) {
  // Hopper's wgmma exists for 90a only.
  return fmt::format("rebuild with -DCMAKE_CUDA_ARCHITECTURES={}{}-real", device.compute_capability,
                     device.compute_capability == 90 ? "a" : "");
}

/// Why `who`, which needs code for at least sm_<needed>, cannot run; nothing when it can, or when
/// it is the device that is too old.
inline std::optional<std::string> code_objection(const LoadedCode& code, const Device& device,
                                                 std::string_view who, int needed) {
  if (device.compute_capability < needed || capability_of(code, device) >= needed) {
    return std::nullopt;
  }
  return fmt::format("this program's code for this GPU is {}, and {} needs code for sm_{}: {}",
                     to_string(code), who, needed, rebuild_for(device));
}

/// The remark on a row whose variant moves its data by plain copies here, because its mechanism
/// needs capability `native_from`; empty where the mechanism is at work.
inline std::string fallback_of(const LoadedCode& code, const Device& device, int native_from) {
  if (device.compute_capability < native_from) {
    return fmt::format("plain copies: the mechanism needs compute capability {}.{}",
                       native_from / 10, native_from % 10);
  }
  const auto objection = code_objection(code, device, "the mechanism", native_from);
  return objection ? "plain copies: " + *objection : "";
}

/// The sentence for an error with which the driver refuses to load code.
inline std::string no_code(std::string_view error, const Device& device) {
  const std::string capability =
      fmt::format("{}.{}", device.compute_capability / 10, device.compute_capability % 10);
  if (error == "cudaErrorNoKernelImageForDevice" || error == "cudaErrorInvalidDeviceFunction") {
    return fmt::format(
        "this program has no code for this GPU, {} of compute capability {}: {} ({})", device.name,
        capability, rebuild_for(device), error);
  }
  if (error == "cudaErrorUnsupportedPtxVersion" || error == "cudaErrorJitCompilerNotFound" ||
      error == "cudaErrorInvalidPtx" || error == "cudaErrorJitCompilationDisabled") {
    return fmt::format(
        "this program has PTX alone for this GPU, {} of compute capability {}, and the driver does "
        "not translate it: update the driver, or {} ({})",
        device.name, capability, rebuild_for(device), error);
  }
  return fmt::format("this program's code cannot be loaded on this GPU, {}: {}", device.name,
                     error);
}

}  // namespace amasia
