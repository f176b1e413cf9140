// What a child process can be asked to do.
#pragma once

#include <cstdint>
#include <string>

#include "harness/app.hpp"
#include "harness/process/task.hpp"

namespace amasia {

/// Tasks: {"task": "device", "index": i}            -> Provenance with device and device_state
///        {"task": "ceilings", "index": i, "samples": n} -> array of Ceiling
///        {"task": "microbenchmark", "index": i, "plan": PlannedMicrobenchmark}
///                                                       -> MicrobenchmarkResult
///        reference_task()                         -> for reference_verdict(); needs no device
///        {"task": "group", "index": i, "plan": PlannedGroup}  -> GroupResult
/// Throws what the work throws.
nlohmann::ordered_json perform_task(const nlohmann::ordered_json& task,
                                    const ProgressSink& progress);

/// The CPU reference of an app at one size against the second one.
nlohmann::ordered_json reference_task(const std::string& app, const Parameters& size,
                                      std::uint64_t seed);
Verdict reference_verdict(const nlohmann::ordered_json& answer);

}  // namespace amasia
