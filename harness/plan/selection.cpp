#include "harness/plan/selection.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "harness/errors.hpp"
#include "harness/results/provenance.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

/// "memory" of "memory/latency", "hotspot" of "hotspot/tma".
std::string folder_of(const std::string& name) { return name.substr(0, name.find('/')); }

bool matches(const std::string& pattern, const std::string& name) {
  return glob_match(pattern, name) || glob_match(pattern, folder_of(name));
}

bool matches_any(const std::string& pattern, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return matches(pattern, name); });
}

/// The variants that the apps of this program have in the source tree. An app that is not of the
/// tree (a test's) is known by its own name.
std::vector<std::string> variants_in_the_tree() {
  std::vector<std::string> names;
  const auto digests = source_digests();
  for (const App* app : apps()) {
    const std::string prefix = std::string(app->name()) + "/";
    const std::size_t before = names.size();
    for (const auto& [name, digest] : digests) {
      if (name.starts_with(prefix)) names.push_back(name);
    }
    if (names.size() == before) names.emplace_back(app->name());
  }
  return names;
}

std::vector<std::string> microbenchmarks_in_the_tree() {
  std::vector<std::string> names;
  for (const auto& [name, digest] : microbenchmark_digests()) names.push_back(name);
  return names;
}

[[noreturn]] void refuse(const std::string& pattern, const std::string& what,
                         const std::vector<std::string>& names) {
  std::vector<std::string> valid;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (seen.insert(folder_of(name)).second) valid.push_back(folder_of(name));
  }
  valid.insert(valid.end(), names.begin(), names.end());
  throw UsageError("'" + pattern + "' matches no " + what + ": " + suggestion(pattern, valid));
}

/// Tells how to get the microbenchmarks that a pattern means and that this program was built
/// without, where it means nothing else.
void refuse_what_was_left_out(std::string pattern) {
  constexpr std::string_view folder = "microbench/";
  if (pattern.starts_with(folder)) pattern.erase(0, folder.size());
  std::vector<std::string> here;
  for (const Variant* v : variants()) here.push_back(v->name());
  for (const Microbenchmark* m : microbenchmarks()) here.push_back(m->name);
  if (matches_any(pattern, here)) return;
  const std::vector<std::string> names = microbenchmarks_left_out();
  const auto meant = std::find_if(names.begin(), names.end(),
                                  [&](const std::string& name) { return matches(pattern, name); });
  if (meant == names.end()) return;
  throw UsageError("'" + pattern + "' means " + *meant +
                   ", which this program was built without: " + how_to_build_all_microbenchmarks);
}

/// The apps that patterns mean by the names of the source tree; none for no pattern.
std::vector<SelectedApp> apps_without_variants(const std::vector<std::string>& patterns) {
  const std::vector<std::string> names = variants_in_the_tree();
  std::vector<SelectedApp> selected;
  for (const App* app : apps()) {
    const bool meant = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return folder_of(name) == app->name() &&
             std::any_of(patterns.begin(), patterns.end(),
                         [&](const std::string& pattern) { return matches(pattern, name); });
    });
    if (meant) selected.push_back({app});
  }
  return selected;
}

}  // namespace

bool has_device_code() { return !variants().empty() || !microbenchmarks().empty(); }

std::vector<std::string> microbenchmarks_left_out() {
  std::vector<std::string> names = microbenchmarks_in_the_tree();
  std::erase_if(names,
                [](const std::string& name) { return find_microbenchmark(name) != nullptr; });
  return names;
}

std::vector<SelectedApp> by_app(const std::vector<const Variant*>& chosen) {
  std::vector<SelectedApp> selected;
  for (const App* app : apps()) {
    SelectedApp mine{app};
    std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(mine.variants),
                 [&](const Variant* v) { return v->app == app->name(); });
    if (!mine.variants.empty()) selected.push_back(std::move(mine));
  }
  return selected;
}

std::vector<SelectedApp> select_apps(const std::vector<std::string>& patterns) {
  // Microbenchmarks of a program say nothing about its apps, which may be there for their
  // references alone.
  if (!variants().empty()) return by_app(select_variants(patterns));
  if (patterns.empty()) return apps_without_variants({"*"});
  const std::vector<std::string> names = variants_in_the_tree();
  for (const std::string& pattern : patterns) {
    if (!matches_any(pattern, names)) refuse(pattern, "variant", names);
  }
  return apps_without_variants(patterns);
}

Selection select(const std::vector<std::string>& patterns) {
  if (patterns.empty()) return {select_apps(patterns), {}};
  if (has_device_code()) {
    for (const std::string& pattern : patterns) refuse_what_was_left_out(pattern);
    PatternSelection chosen = select_all(patterns);
    return {by_app(chosen.variants), std::move(chosen.microbenchmarks)};
  }
  std::vector<std::string> names = variants_in_the_tree();
  const std::vector<std::string> micro = microbenchmarks_in_the_tree();
  names.insert(names.end(), micro.begin(), micro.end());
  for (const std::string& pattern : patterns) {
    if (!matches_any(pattern, names)) refuse(pattern, "variant and no microbenchmark", names);
  }
  return {apps_without_variants(patterns), {}};
}

}  // namespace amasia
