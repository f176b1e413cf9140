#include "harness/conclusions/agreement.hpp"

#include <map>

namespace amasia {
namespace {

std::string value_in(const std::map<std::string, std::string>& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? std::string() : found->second;
}

std::string phrase(const std::string& what, const std::string& a, const std::string& b) {
  const auto shown = [](const std::string& value) { return value.empty() ? "(none)" : value; };
  return what + ": " + shown(a) + " against " + shown(b);
}

/// GPU model, driver and build; what compiles the host's code, and the options that every row's
/// digest has as far as they reach its kernel, only with `host_code`.
std::optional<std::string> difference_of_machine(const Provenance& a, const Provenance& b,
                                                 bool host_code) {
  struct Fact {
    const char* what;
    std::string left, right;
  };
  const Fact facts[] = {
      {"GPU", a.device.name, b.device.name},
      {"CUDA driver", std::to_string(a.device.driver_version),
       std::to_string(b.device.driver_version)},
      {"CUDA runtime", std::to_string(a.device.runtime_version),
       std::to_string(b.device.runtime_version)},
      {"C++ compiler", host_code ? a.compiler : "", host_code ? b.compiler : ""},
      {"CUDA compiler", a.cuda_compiler, b.cuda_compiler},
      {"compiler flags", host_code ? a.flags : "", host_code ? b.flags : ""},
      {"architectures", a.architectures, b.architectures},
  };
  for (const Fact& fact : facts) {
    if (fact.left != fact.right) return phrase(fact.what, fact.left, fact.right);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> session_disagreement(const Provenance& a, const Provenance& b) {
  const std::string left = value_in(a.settings, "confidence"),
                    right = value_in(b.settings, "confidence");
  if (left != right) return phrase("setting confidence", left, right);
  return difference_of_machine(a, b, /*host_code=*/false);
}

std::optional<std::string> disagreement(const Provenance& a, const Provenance& b,
                                        const std::set<std::string>& variants, bool same_gpu,
                                        const std::set<std::string>& ignored) {
  std::set<std::string> settings;
  for (const auto& entry : a.settings) settings.insert(entry.first);
  for (const auto& entry : b.settings) settings.insert(entry.first);
  for (const std::string& name : settings) {
    const std::string left = value_in(a.settings, name), right = value_in(b.settings, name);
    if (left != right && !ignored.contains(name)) return phrase("setting " + name, left, right);
  }
  if (a.study != b.study) return phrase("study", a.study, b.study);
  if (same_gpu && a.device.uuid_hash != b.device.uuid_hash) {
    return phrase("GPU (hash of its UUID)", a.device.uuid_hash, b.device.uuid_hash);
  }
  if (auto why = difference_of_machine(a, b, /*host_code=*/true)) return why;
  if (a.harness_digest != b.harness_digest) {
    return phrase("sources of the harness", a.harness_digest, b.harness_digest);
  }
  for (const std::string& variant : variants) {
    const std::string left = value_in(a.sources, variant), right = value_in(b.sources, variant);
    if (left != right) return phrase("sources of " + variant, left, right);
  }
  return std::nullopt;
}

std::set<std::string> measured_code(const std::vector<GroupResult>& groups,
                                    const std::vector<MicrobenchmarkResult>& microbenchmarks) {
  std::set<std::string> names;
  for (const GroupResult& group : groups) {
    for (const Row& row : group.rows) names.insert(row.variant);
  }
  for (const MicrobenchmarkResult& m : microbenchmarks) names.insert(m.name);
  return names;
}

}  // namespace amasia
