#include "harness/results/upgrade.hpp"

#include "harness/results/read.hpp"
#include "harness/text/json_file.hpp"

namespace amasia {

void upgrade(ResultFile& file, const std::map<std::string, std::string>& known) {
  if (file.provenance.digests == DigestKind::by_content) return;
  const auto digest_of = [&](const std::string& name) {
    const auto found = known.find(name);
    return found == known.end() ? std::string() : found->second;
  };
  for (auto& [name, digest] : file.provenance.sources) digest = digest_of(name);
  file.provenance.harness_digest = digest_of("harness");
  for (GroupResult& group : file.groups) {
    for (Row& row : group.rows) row.source_digest = digest_of(row.variant);
  }
  for (MicrobenchmarkResult& m : file.microbenchmarks) m.source_digest = digest_of(m.name);
  file.provenance.digests = DigestKind::by_content;
}

std::map<std::string, std::string> read_digests(const std::string& path) {
  const nlohmann::ordered_json json = read_json_file(path);
  std::map<std::string, std::string> digests;
  try {
    read(At(json, result_schema_version), any_value, digests);
  } catch (const ResultError& error) {
    throw ResultError(path + ": " + error.what());
  }
  return digests;
}

}  // namespace amasia
