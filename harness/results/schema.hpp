// The JSON Schema of a result file, from the declarations of its fields.
#pragma once

#include <string>

namespace amasia {

/// What schema/result.schema.json holds, a member of a definition a line. Python decodes files by
/// it and takes its columns from it.
std::string result_schema_text();

}  // namespace amasia
