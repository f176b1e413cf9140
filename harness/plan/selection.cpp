#include "harness/plan/selection.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "harness/errors.hpp"
#include "harness/results/provenance.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

/// "memory" of "memory/latency", "hotspot" of "hotspot/tma".
std::string folder_of(const std::string& name) { return name.substr(0, name.find('/')); }

std::vector<std::string> matching(std::string_view pattern, const std::vector<std::string>& names) {
  std::vector<std::string> found;
  std::ranges::copy_if(names, std::back_inserter(found), [&](const auto& name) {
    return glob_match(pattern, name) || glob_match(pattern, folder_of(name));
  });
  return found;
}

/// Of the variants of this program; without any those that its apps have in the source tree. An app
/// that is not of the tree (a test's) is known by its own name.
std::vector<std::string> names_of_variants() {
  std::vector<std::string> names;
  for (const Variant* v : variants()) names.push_back(v->name());
  if (!names.empty()) return names;
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

std::vector<std::string> names_of_microbenchmarks() {
  if (!has_device_code()) return microbenchmarks_in_the_tree();
  std::vector<std::string> names;
  for (const Microbenchmark* m : microbenchmarks()) names.push_back(m->name);
  return names;
}

[[noreturn]] void refuse(const std::string& pattern, const std::string& what,
                         const std::vector<std::string>& of_variants,
                         const std::vector<std::string>& of_microbenchmarks) {
  std::vector<std::string> valid;
  const auto offer = [&](const std::string& name) {
    if (std::ranges::find(valid, name) == valid.end()) valid.push_back(name);
  };
  for (const auto* names : {&of_variants, &of_microbenchmarks}) {
    for (const std::string& name : *names) offer(folder_of(name));
  }
  for (const Variant* v : variants()) offer("*/" + v->strategy);
  for (const auto* names : {&of_variants, &of_microbenchmarks}) {
    for (const std::string& name : *names) offer(name);
  }
  throw UsageError("'" + pattern + "' matches no " + what + ": " + suggestion(pattern, valid));
}

/// Without `with_microbenchmarks` a pattern that means one of them is refused.
Selection selected(const std::vector<std::string>& patterns, bool with_microbenchmarks) {
  const std::vector<std::string> of_variants = names_of_variants(),
                                 of_microbenchmarks = with_microbenchmarks
                                                          ? names_of_microbenchmarks()
                                                          : std::vector<std::string>{};
  std::set<std::string> wanted, wanted_apps;
  if (patterns.empty()) wanted.insert(of_variants.begin(), of_variants.end());
  for (const std::string& pattern : patterns) {
    std::vector<std::string> found = matching(pattern, of_variants);
    if (found.empty()) {
      constexpr std::string_view folder = "microbench/";
      const std::string name = pattern.substr(pattern.starts_with(folder) ? folder.size() : 0);
      found = matching(name, of_microbenchmarks);
      const auto left_out = matching(name, microbenchmarks_left_out());
      if (found.empty() && has_device_code() && with_microbenchmarks && !left_out.empty()) {
        throw UsageError(
            "'" + name + "' means " + left_out.front() +
            ", which this program was built without: " + how_to_build_all_microbenchmarks);
      }
    }
    if (found.empty()) {
      refuse(pattern, with_microbenchmarks ? "variant and no microbenchmark" : "variant",
             of_variants, of_microbenchmarks);
    }
    wanted.insert(found.begin(), found.end());
  }
  for (const std::string& name : of_variants) {
    if (wanted.contains(name)) wanted_apps.insert(folder_of(name));
  }
  Selection chosen;
  for (const App* app : apps()) {
    if (!wanted_apps.contains(std::string(app->name()))) continue;
    SelectedApp& mine = chosen.apps.emplace_back(SelectedApp{app});
    for (const Variant* v : variants_of(app->name())) {
      if (wanted.contains(v->name())) mine.variants.push_back(v);
    }
  }
  for (const Microbenchmark* m : microbenchmarks()) {
    if (wanted.contains(m->name)) chosen.microbenchmarks.push_back(m);
  }
  return chosen;
}

constexpr int most_shards = 1000000;  // beyond any job array

}  // namespace

bool has_device_code() { return !variants().empty() || !microbenchmarks().empty(); }

std::vector<std::string> microbenchmarks_left_out() {
  std::vector<std::string> names = microbenchmarks_in_the_tree();
  std::erase_if(names,
                [](const std::string& name) { return find_microbenchmark(name) != nullptr; });
  return names;
}

std::vector<SelectedApp> select_apps(const std::vector<std::string>& patterns) {
  return selected(patterns, false).apps;
}

Selection select(const std::vector<std::string>& patterns) { return selected(patterns, true); }

std::vector<Parameters> sizes_of(const App& app, const SizeRequest& request,
                                 std::size_t apps_selected) {
  if (request.given.empty()) return app.sizes(request.effective_preset());
  if (request.preset) throw UsageError("--size and --preset exclude each other");
  if (apps_selected > 1) {
    throw UsageError(
        "--size belongs to one app: name its variants, e.g. amasia run pathfinder "
        "--size rows=1000,cols=1000");
  }
  std::vector<Parameters> sizes;
  const std::string example = Parameters(app.parameters(), {}).to_string();
  for (const std::string& text : request.given) {
    sizes.emplace_back(app.parameters(), parse_size(text, "size", example));
    app.device_bytes(sizes.back());  // throws when the size overflows
  }
  return sizes;
}

bool fits(const App& app, const Parameters& size, const Device& device) {
  return app.device_bytes(size) <= static_cast<std::int64_t>(device.free_bytes);
}

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  Shard shard{0, 0};
  if (slash != std::string::npos) {
    const std::string_view numbers = text;
    shard.index = number_from<int>(numbers.substr(0, slash)).value_or(0);
    shard.count = number_from<int>(numbers.substr(slash + 1)).value_or(0);
  }
  if (shard.index < 1 || shard.index > shard.count || shard.count > most_shards) {
    throw UsageError(fmt::format("--shard {}: expected i/n with 1 <= i <= n <= {}, e.g. 3/16", text,
                                 most_shards));
  }
  return shard;
}

}  // namespace amasia
