#include "harness/results/provenance.hpp"

#include <unistd.h>

#include <array>
#include <ctime>

#include "harness/registry.hpp"

namespace amasia {
namespace {

struct Commit {
  const char* id;
  bool dirty;
};
constexpr Commit built_from =
#include "commit.inc"
    ;

struct Build {
  const char *compiler, *cuda_compiler, *flags, *architectures;
};
constexpr Build build =
#include "build.inc"
    ;

const std::map<std::string, std::string>& digests_of_tree() {
  static const std::map<std::string, std::string> digests{
#include "source_digests.inc"
  };
  return digests;
}

}  // namespace

std::map<std::string, std::string> source_digests() {
  std::map<std::string, std::string> digests = digests_of_tree();
  // Again each time: what is brought at run time comes and goes.
  for (const auto& [name, digest] : registered_source_digests()) {
    if (name.find('/') != std::string::npos) digests[name] = digest;
  }
  return digests;
}

const std::map<std::string, std::string>& microbenchmark_digests() {
  static const std::map<std::string, std::string> digests{
#include "microbenchmark_digests.inc"
  };
  return digests;
}

std::string source_digest(const std::string& name) {
  for (const auto* digests :
       {&registered_source_digests(), &digests_of_tree(), &microbenchmark_digests()}) {
    const auto found = digests->find(name);
    if (found != digests->end()) return found->second;
  }
  const auto of_app = registered_source_digests().find(name.substr(0, name.find('/')));
  return of_app == registered_source_digests().end() ? "" : of_app->second;
}

const std::string& harness_digest() {
  static const std::string digest =
#include "harness_digest.inc"
      ;
  return digest;
}

std::string_view suite_version() { return AMASIA_VERSION; }

std::string utc_now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

bool is_date(const std::string& text) {
  constexpr std::size_t length = 20;  // strptime() takes "2026-1-1", too
  std::tm date{};
  const char* const end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &date);
  if (end == nullptr || *end != '\0' || text.size() != length) return false;
  std::tm of_calendar = date;
  of_calendar.tm_sec = 0;  // 60: a leap second
  timegm(&of_calendar);
  return of_calendar.tm_mday == date.tm_mday;
}

std::string without_folders(std::string_view argument) {
  std::string kept;
  for (std::size_t begin = 0; begin <= argument.size();) {
    const std::size_t end = std::min(argument.find_first_of("=,", begin), argument.size());
    std::string_view part = argument.substr(begin, end - begin);
    if (part.starts_with('/')) part.remove_prefix(part.rfind('/') + 1);
    kept += part;
    if (end < argument.size()) kept += argument[end];
    begin = end + 1;
  }
  return kept;
}

Provenance collect_provenance(const std::vector<std::string>& argv, const std::string& study,
                              const std::map<std::string, std::string>& settings, bool record_host,
                              Provenance p) {
  for (const std::string& argument : argv) p.argv.push_back(without_folders(argument));
  p.study = study;
  p.settings = settings;
  p.date_utc = utc_now();
  p.commit = built_from.id;
  p.dirty = built_from.dirty;
  p.compiler = build.compiler;
  p.cuda_compiler = build.cuda_compiler;
  p.flags = build.flags;
  p.architectures = build.architectures;
  p.sources = source_digests();
  p.sources.insert(microbenchmark_digests().begin(), microbenchmark_digests().end());
  p.harness_digest = harness_digest();
  if (record_host) {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) == 0) p.host_name = name.data();
  }
  return p;
}

}  // namespace amasia
