// The JSON Schema of a result file, from the declarations of its fields.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace amasia {

/// What schema/result.schema.json holds. Python decodes files by it and takes its columns from it.
nlohmann::ordered_json result_schema();
/// As the file has it: a member of a definition a line.
std::string result_schema_text();

}  // namespace amasia
