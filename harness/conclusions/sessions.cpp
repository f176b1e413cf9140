#include "harness/conclusions/sessions.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/statistics/schedule.hpp"

namespace amasia {
namespace {

/// Of all variants in the group, each with its code.
std::set<std::string> variants_in(const GroupResult& group) {
  std::set<std::string> variants;
  for (const Row& row : group.rows) variants.insert(row.variant + ' ' + row.source_digest);
  return variants;
}

/// Whether a session of a case has some of the variants of another, and no others.
bool is_part_of(const GroupResult& group, const GroupResult& other) {
  const std::set<std::string> mine = variants_in(group), theirs = variants_in(other);
  return mine.size() < theirs.size() &&
         std::includes(theirs.begin(), theirs.end(), mine.begin(), mine.end());
}
bool is_part_of(const MicrobenchmarkResult&, const MicrobenchmarkResult&) { return false; }

/// Whether a session of the same code has more rounds than another that ended before the least.
bool can_say_more(const GroupResult& group, const GroupResult& other) {
  return other.rounds < least_rounds && group.rounds > other.rounds &&
         variants_in(group) == variants_in(other);
}
bool can_say_more(const MicrobenchmarkResult&, const MicrobenchmarkResult&) { return false; }

/// The earliest valid session of each, or the earliest where none is valid; a later one if it has
/// more variants, or the rounds that the earlier lacks.
template <class Results, class Name>
auto first_of_each(const Results& results, const Name& name) {
  std::vector<const typename Results::value_type*> first;
  std::map<std::string, std::size_t> place;
  const auto rank = [](const auto& result) {
    return std::pair(!result.invalid.empty(), result.session.value_or(0));
  };
  for (const auto& result : results) {
    const auto [at, is_new] = place.emplace(name(result), first.size());
    if (is_new) {
      first.push_back(&result);
      continue;
    }
    const auto*& shown = first[at->second];
    const bool is_valid_alike = result.invalid.empty() == shown->invalid.empty();
    if (is_valid_alike && (is_part_of(result, *shown) || can_say_more(*shown, result))) continue;
    if (rank(result) < rank(*shown) ||
        (is_valid_alike && (is_part_of(*shown, result) || can_say_more(result, *shown)))) {
      shown = &result;
    }
  }
  return first;
}

std::string code_of(const Provenance& provenance, const std::string& name, const std::string& own) {
  const auto found = provenance.sources.find(name);
  return !own.empty() || found == provenance.sources.end() ? own : found->second;
}

}  // namespace

std::string code_of(const Provenance& provenance, const Row& row) {
  return code_of(provenance, row.variant, row.source_digest);
}
std::string code_of(const Provenance& provenance, const MicrobenchmarkResult& result) {
  return code_of(provenance, result.name, result.source_digest);
}

SessionRecord session_of(const Provenance& provenance, const std::optional<int>& session) {
  if (session && *session < static_cast<int>(provenance.sessions.size())) {
    SessionRecord record = provenance.sessions[static_cast<std::size_t>(*session)];
    if (record.compiler.empty()) record.compiler = provenance.compiler;
    if (record.flags.empty()) record.flags = provenance.flags;
    return record;
  }
  return {provenance.date_utc,
          provenance.commit,
          provenance.dirty,
          provenance.compiler,
          provenance.flags,
          provenance.device.uuid_hash,
          0,
          provenance.device_state};
}

std::vector<const GroupResult*> shown_groups(const ResultFile& file) {
  return first_of_each(file.groups, [](const GroupResult& g) { return g.key.to_string(); });
}

std::vector<const MicrobenchmarkResult*> shown_microbenchmarks(const ResultFile& file) {
  return first_of_each(file.microbenchmarks, [](const MicrobenchmarkResult& m) { return m.name; });
}

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

std::set<std::string> measured_code(const ResultFile& file) {
  std::set<std::string> names;
  for (const GroupResult& group : file.groups) {
    for (const Row& row : group.rows) names.insert(row.variant);
  }
  for (const MicrobenchmarkResult& m : file.microbenchmarks) names.insert(m.name);
  return names;
}

}  // namespace amasia
