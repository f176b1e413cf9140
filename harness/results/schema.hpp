// The JSON Schema of a result file, from the declarations of its fields.
#pragma once

#include <nlohmann/json.hpp>

namespace amasia {

/// What schema/result.schema.json holds: of the newest version, in which every member that a writer
/// of it writes is required. Python validates files by it and takes its columns from it.
nlohmann::ordered_json result_schema();

}  // namespace amasia
