#include "harness/results/schema.hpp"

#include <fmt/format.h>

#include "harness/results/fields.hpp"
#include "harness/results/profile_fields.hpp"
#include "harness/results/schema_of.hpp"

namespace amasia {

nlohmann::ordered_json result_schema() {
  nlohmann::ordered_json definitions = nlohmann::ordered_json::object();
  nlohmann::ordered_json schema = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"$id", fmt::format("{}-{}", result_schema_name, result_schema_version)},
      {"title", fmt::format("Amasia result file, version {}", result_schema_version)},
      {"description",
       "One run of the suite: provenance, the ceilings measured in it and every comparison group "
       "with every sample. Written by `amasia schema` from harness/results/fields.hpp. A member "
       "that is not required is absent where it is unknown, empty, 0 or false. A profile is the "
       "definition profile_file."}};
  schema.update(file_schema<ResultFile>(result_schema_name, result_schema_version, definitions));
  definitions[Fields<ProfileFile>::name] =
      file_schema<ProfileFile>(profile_schema_name, profile_schema_version, definitions);
  schema["$defs"] = std::move(definitions);
  return schema;
}

}  // namespace amasia
