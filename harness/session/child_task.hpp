// What a child process can be asked to do.
#pragma once

#include <cstdint>
#include <string>

#include "harness/app.hpp"
#include "harness/plan/plan.hpp"
#include "harness/process/isolation.hpp"

namespace amasia {

/// Tasks: {"task": "device", "index": i}            -> Provenance with device and device_state
///        {"task": "ceilings", "index": i, "samples": n} -> array of Ceiling
///        {"task": "microbenchmark", "index": i, "plan": PlannedMicrobenchmark}
///                                                       -> MicrobenchmarkResult
///        reference_task()                         -> a verdict; needs no device
///        group_task()                             -> GroupResult
///        library_task()                           -> {"objection": text}; needs no device
/// Throws what the work throws.
nlohmann::ordered_json perform_task(const nlohmann::ordered_json& task,
                                    const ProgressSink& progress);

/// The task of a group. Of an app loaded at run time it says what from.
nlohmann::ordered_json group_task(const PlannedGroup& plan, int device_index);

/// Loads a shared library of a description, and says what stands against that: {"objection":
/// "..."}.
nlohmann::ordered_json library_task(const std::string& description, std::size_t implementation);

/// The CPU reference of an app at one size against the second one.
nlohmann::ordered_json reference_task(const std::string& app, const Parameters& size,
                                      std::uint64_t seed);

}  // namespace amasia
