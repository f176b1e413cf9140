#include "harness/results/schema.hpp"

#include "harness/results/content_digest.hpp"
#include "harness/results/fields.hpp"
#include "harness/results/schema_of.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json result_schema() {
  const std::string version = std::to_string(result_schema_version);
  Json definitions = Json::object();
  Json file = detail::struct_schema<ResultFile>(definitions);
  Json required = {"schema", "version"};
  for (const Json& name : file["required"]) required.push_back(name);
  Json properties = {{"schema", {{"const", "amasia-result"}}},
                     {"version", {{"const", result_schema_version}}}};
  properties.update(file["properties"]);
  required.push_back(digest_member);
  properties[digest_member] = {{"type", "string"},
                               {"pattern", "^sha256:[0-9a-f]{64}$"},
                               {"description", "over the content of the file, but for itself"}};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"$id", "amasia-result-" + version},
          {"title", "Amasia result file, version " + version},
          {"description",
           "One run of the suite: provenance, the ceilings measured in it and every comparison "
           "group with every sample. Written by `amasia schema` from harness/results/fields.hpp. "
           "An optional member is absent or null when it is unknown. A number that was not finite "
           "is null."},
          {"type", "object"},
          {"required", std::move(required)},
          {"additionalProperties", false},
          {"properties", std::move(properties)},
          {"$defs", std::move(definitions)}};
}

}  // namespace amasia
