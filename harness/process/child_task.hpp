// What a child process can be asked to do. Implemented with CUDA (gpu/) and without (no_gpu/).
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

namespace amasia {

/// Tasks: {"task": "device", "index": i}            -> Provenance with device and device_state
///        {"task": "ceilings", "index": i, "samples": n} -> array of Ceiling
///        {"task": "microbenchmark", "index": i, "plan": PlannedMicrobenchmark}
///                                                       -> MicrobenchmarkResult
///        {"task": "group", "index": i, "plan": PlannedGroup}  -> GroupResult
/// Throws what the work throws.
nlohmann::ordered_json perform_task(
    const nlohmann::ordered_json& task,
    const std::function<void(int row, const std::string& line)>& progress);

}  // namespace amasia
