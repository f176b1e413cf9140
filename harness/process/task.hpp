// A task is one JSON object that the parent sends to a child process, and one that comes back.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

namespace amasia {

/// Called before each step that could take the process down, with the row at work (-1: none), and
/// with a line for the person who waits.
using ProgressSink = std::function<void(int row, const std::string& line)>;

/// Does what a task asks for. Throws what the work throws.
using TaskPerformer = std::function<nlohmann::ordered_json(const nlohmann::ordered_json& task,
                                                           const ProgressSink& progress)>;

}  // namespace amasia
