#include "harness/results/schema.hpp"

#include <fmt/format.h>

#include "harness/results/fields.hpp"
#include "harness/results/profile.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

/// JSON on one line, with `lines` a member a line; so are always those of `properties` and `$defs`.
void append(std::string& text, const Json& value, std::size_t depth, bool lines) {
  if (!value.is_object()) {
    text += value.dump();
    return;
  }
  const std::string indent = lines ? '\n' + std::string(depth + 1, ' ') : "";
  const char* separator = "{";
  for (const auto& [name, member] : value.items()) {
    text += separator + indent + Json(name).dump() + ": ";
    append(text, member, depth + (lines ? 1 : 0), name == "properties" || name == "$defs");
    separator = lines ? "," : ", ";
  }
  if (lines) text += '\n' + std::string(depth, ' ');
  text += '}';
}

}  // namespace

Json result_schema() {
  Json definitions = Json::object();
  Json schema = {
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

std::string result_schema_text() {
  std::string text;
  append(text, result_schema(), 0, true);
  return text + '\n';
}

}  // namespace amasia
