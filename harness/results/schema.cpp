#include "harness/results/schema.hpp"

#include "harness/results/fields.hpp"
#include "harness/results/schema_of.hpp"

namespace amasia {

nlohmann::ordered_json result_schema() {
  return file_schema<ResultFile>(
      "amasia-result", result_schema_version, "Amasia result file",
      "One run of the suite: provenance, the ceilings measured in it and every comparison group "
      "with every sample. Written by `amasia schema` from harness/results/fields.hpp. An optional "
      "member is absent or null when it is unknown. A number that was not finite is null.");
}

}  // namespace amasia
